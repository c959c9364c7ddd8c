// RUN: %modelc-opt %s "--kernels-build=family=linear shape=columns:256,inputs:512,swiglu:1 tile=m:64,n:64,k:64" --mlir-use-nameloc-as-prefix | FileCheck %s
// Gate and up are two accumulators of one walk; gate lies above up in w.

// CHECK: %w: !schedule.buffer<512x512xbf16>
// CHECK: %up_row = arith.addi %column, %c256
// CHECK: carry(%gate = %{{.*}}, %up = %{{.*}})
// CHECK: schedule.load %w[%column, %depth]
// CHECK: schedule.load %w[%up_row, %depth]
// CHECK: schedule.map(%{{.*}}#0, %{{.*}}#1)
// CHECK: math.exp2
