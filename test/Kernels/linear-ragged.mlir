// RUN: %modelc-opt %s "--kernels-build=family=linear shape=columns:1000,inputs:1000 tile=m:64,n:64,k:64" --mlir-use-nameloc-as-prefix | FileCheck %s
// What no tile divides is masked: rows of w and columns of d, and the end of K.

// CHECK: to (%row_tiles, %c16) on workgroups
// CHECK: to (%c16) on sequence
// CHECK: schedule.load %a[%row, %depth] valid(%m, %c1000)
// CHECK: schedule.load %w[%column, %depth] valid(%c1000, %c1000)
// CHECK: schedule.store %result, %d[%row, %column] valid(%m, %c1000)
