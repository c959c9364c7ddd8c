// RUN: %modelc-opt %s "--kernels-build=family=linear shape=columns:10240,inputs:8192 tile=m:128,n:128,k:64 range=min:17,max:16384" --mlir-use-nameloc-as-prefix | FileCheck %s
// A tile of d for each workgroup, a walk along K; rows beyond m are masked.

// CHECK: schedule.kernel @linear(%a: !schedule.buffer<?x8192xbf16>, %w: !schedule.buffer<10240x8192xbf16>, %d: !schedule.buffer<?x10240xbf16>, %m: index)
// CHECK-SAME: guard [#schedule.range<"m", 17 to 16384>]
// CHECK: %row_tiles = arith.ceildivsi %m, %c128
// CHECK: schedule.loop (%row_tile, %column_tile) = (%c0, %c0) to (%row_tiles, %c80) on workgroups
// CHECK: schedule.loop (%t) = (%c0) to (%c128) on sequence carry(%sum = %zero)
// CHECK: %[[X:.*]] = schedule.load %a[%row, %depth] valid(%m) :
// CHECK-NEXT: %[[Y:.*]] = schedule.load %w[%column, %depth] :
// CHECK-NEXT: schedule.mma %sum, %[[X]], %[[Y]] :
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: schedule.store %result, %d[%row, %column] valid(%m)
