// RUN: %modelc-opt %s "--kernels-build=family=linear shape=scaled:1,residual:1 types=element:f8E4M3FN,bias:bf16" --mlir-use-nameloc-as-prefix | FileCheck %s
// Of 8-bit operands the sum is scaled by row and column, then bias, then residual.

// CHECK: %a_scale: !schedule.buffer<?xf32>, %w_scale: !schedule.buffer<256xf32>, %bias: !schedule.buffer<256xbf16>, %residual: !schedule.buffer<?x256xbf16>
// CHECK: %a_scales = schedule.load %a_scale[%row] valid(%m) {dims = array<i64: 0, 0>} : !schedule.buffer<?xf32> -> !schedule.tile<64x1xf32>
// CHECK: %w_scales = schedule.load %w_scale[%column] {dims = array<i64: 0, 0>} : !schedule.buffer<256xf32> -> !schedule.tile<1x64xf32>
// CHECK: %result = schedule.map(
// CHECK: %[[S:.*]] = arith.mulf %a_scales{{.*}}, %w_scales
// CHECK: %[[V:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK: %[[B:.*]] = arith.extf %biases
// CHECK: %[[W:.*]] = arith.addf %[[V]], %[[B]]
// CHECK: %[[R:.*]] = arith.extf %residuals
// CHECK: arith.addf %[[W]], %[[R]]
