// RUN: %modelc-opt %s "--kernels-build=family=attention-decode types=cache:f8E4M3FN" --mlir-use-nameloc-as-prefix | FileCheck %s
// Keys and values of an 8-bit cache are widened before they are multiplied.

// CHECK: %[[K:.*]] = schedule.load %k_cache{{.*}} -> !schedule.tile<64x128xf8E4M3FN>
// CHECK: %[[W:.*]] = schedule.map(%[[K]])
// CHECK: arith.extf %{{.*}} : f8E4M3FN to bf16
// CHECK: schedule.mma %{{.*}}, %queries, %[[W]] :
