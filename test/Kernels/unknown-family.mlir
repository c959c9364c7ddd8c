// RUN: not %modelc-opt %s "--kernels-build=family=gemm" 2>&1 | FileCheck %s
// A family that there is not.

// CHECK: expected a family of kernels, got 'gemm'
