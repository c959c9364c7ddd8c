// RUN: %modelc-opt %s "--kernels-build=family=exchange shape=columns:8192,ranks:4,staging:64 tile=n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=exchange shape=columns:1000,ranks:4,gather:1 tile=n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=GATHER
// Store to all, raise flags, wait for flags, add in order of ranks.

// CHECK: %staging: !schedule.buffer<2x4x64x8192xbf16>, %flags: !schedule.buffer<?x4xi32>, %epochs: !schedule.buffer<?xi32>, %out: {{.*}}, %rank: index, %m: index
// CHECK: schedule.loop (%peer) = (%c0) to (%c4)
// CHECK: schedule.store %mine, %staging[%half, %rank, %row_tile, %column] valid(%m) peer(%peer)
// CHECK: schedule.arrive %flags[%number, %rank, %call] peer(%peer) {scope = #schedule<scope system>}
// CHECK: schedule.wait on %flags[%number, %peer, %call]
// CHECK: schedule.loop (%peer) = (%c0) to (%c4) on sequence carry(%sum = %zero)
// CHECK: schedule.load %staging[%half, %peer, %row_tile, %column]
// CHECK: schedule.store %result{{[_0-9]*}}, %out[%row_tile, %column] valid(%m)
// CHECK: schedule.store %{{.*}}, %epochs[%number] : i32

// GATHER: %out: !schedule.buffer<?x4000xbf16>
// GATHER: %[[BASE:.*]] = arith.muli %rank, %c1000
// GATHER: %[[COLUMN:.*]] = arith.addi %[[BASE]], %column
// GATHER: schedule.store %mine, %out[%row_tile, %[[COLUMN]]] valid(%m, %{{.*}}) peer(%peer)
// GATHER: schedule.wait on %flags[%number, %peer, %call]
