// RUN: %modelc-opt %s "--kernels-build=family=exchange shape=columns:8192,ranks:4,staging:64 tile=n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=exchange shape=columns:1000,ranks:4,kind:gather tile=n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=GATHER
// RUN: %modelc-opt %s "--kernels-build=family=exchange shape=columns:8192,ranks:16,staging:64 tile=n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=MANY
// Store to all, the next one first, raise flags, wait for flags, read what all sent at once, add in
// order of ranks; more than eight devices in groups.

// CHECK: %staging: !schedule.buffer<2x4x64x8192xbf16>, %flags: !schedule.buffer<?x4xi32>, %epochs: !schedule.buffer<?xi32>, %out: {{.*}}, %rank: index, %m: index
// CHECK: schedule.store %mine, %staging[%half, %rank, %row_tile, %column] valid(%m) {
// CHECK: %[[NEXT:.*]] = arith.addi %rank, %c1
// CHECK: %[[TO:.*]] = arith.remsi %[[NEXT]], %c4
// CHECK: schedule.store %mine, %staging[%half, %rank, %row_tile, %column] valid(%m) peer(%[[TO]])
// CHECK-COUNT-2: schedule.store %mine, %staging[%half, %rank, %row_tile, %column] valid(%m) peer(%receiver
// CHECK-COUNT-4: schedule.arrive %flags[%number, %rank, %call] peer(%receiver{{[_0-9]*}}) {scope = #schedule<scope system>}
// CHECK-COUNT-4: schedule.wait on %flags[%number, %c{{[0-3]}}, %call]
// CHECK-COUNT-4: schedule.load %staging[%half, %c{{[0-3]}}, %row_tile, %column]
// CHECK: %sum = schedule.map(%zero, %theirs, %theirs_{{[0-9]+}}, %theirs_{{[0-9]+}}, %theirs_{{[0-9]+}})
// CHECK: schedule.store %result{{[_0-9]*}}, %out[%row_tile, %column] valid(%m)
// CHECK: schedule.store %{{.*}}, %epochs[%number] : i32

// GATHER: %out: !schedule.buffer<?x4000xbf16>
// GATHER: %[[BASE:.*]] = arith.muli %rank, %c1000
// GATHER: %[[COLUMN:.*]] = arith.addi %[[BASE]], %column
// GATHER: schedule.store %mine, %out[%row_tile, %[[COLUMN]]] valid(%m, %{{.*}}) {
// GATHER-COUNT-4: schedule.wait on %flags[%number, %c{{[0-3]}}, %call]

// MANY: schedule.loop (%group) = (%c0) to (%c2) on sequence carry(%sum = %zero)
// MANY-COUNT-8: schedule.load %staging[%half, %{{[^,]*}}, %row_tile, %column]
// MANY: schedule.yield
