// RUN: %modelc-opt %s "--kernels-build=family=linear shape=columns:1000,inputs:512,residual:1 tile=m:16,n:128,k:64,swapped:1" --mlir-use-nameloc-as-prefix | FileCheck %s
// The weight is the first operand; tiles of d are read and written transposed.

// CHECK: %[[SUM:.*]] = schedule.mma %{{.*}}, %weights, %activations : <128x16xf32>, <128x64xbf16>, <16x64xbf16>
// CHECK: %residuals = schedule.load %residual[%row, %column] valid(%c1000, %m) {dims = array<i64: 1, 0>} : {{.*}} -> !schedule.tile<128x16xbf16>
// CHECK: schedule.store %result, %d[%row, %column] valid(%c1000, %m) {dims = array<i64: 1, 0>}
