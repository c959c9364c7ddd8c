// RUN: %modelc-opt %s "--kernels-build=family=linear shape=columns:256,inputs:512,swiglu:1,interleave:64 tile=m:64,n:64,k:64" --mlir-use-nameloc-as-prefix | FileCheck %s
// Gate and up are two accumulators of one walk; blocks of 64 rows alternate in w.

// CHECK: %w: !schedule.buffer<512x512xbf16>
// CHECK: %[[BLOCK:.*]] = arith.divsi %column, %c64
// CHECK: %[[OFFSET:.*]] = arith.muli %[[BLOCK]], %c64
// CHECK: %gate_row = arith.addi %column, %[[OFFSET]]
// CHECK: %up_row = arith.addi %gate_row, %c64
// CHECK: carry(%gate = %{{.*}}, %up = %{{.*}})
// CHECK: schedule.load %w[%gate_row, %depth]
// CHECK: schedule.load %w[%up_row, %depth]
// CHECK: schedule.map(%{{.*}}#0, %{{.*}}#1)
// CHECK: math.exp2
