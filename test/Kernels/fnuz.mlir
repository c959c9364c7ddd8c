// RUN: %modelc-opt %s "--kernels-build=target=mi300x family=quantise" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=target=mi300x family=linear shape=scaled:1 types=element:f8E4M3FN" | FileCheck %s --check-prefix=LINEAR
// RUN: %modelc-opt %s "--kernels-build=target=h200 family=quantise" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=OTHER
// RUN: not %modelc-opt %s "--kernels-build=target=mi301x family=quantise" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// A kernel has the 8 bits of its machine: of FNUZ each number is half, so that
// a row's largest becomes 224 instead of 448.

// CHECK: %out: !schedule.buffer<?x256xf8E4M3FNUZ>
// CHECK: arith.constant 0.00446428591 : f32
// CHECK: arith.constant 2.240000e+02 : f32
// OTHER: %out: !schedule.buffer<?x256xf8E4M3FN>
// OTHER: arith.constant 0.00223214296 : f32
// LINEAR-NOT: f8E4M3FN>
// LINEAR: f8E4M3FNUZ>
// UNKNOWN: error: unknown target "mi301x"
