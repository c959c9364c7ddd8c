// RUN: modelc-opt %s "--kernels-build=target=b200 family=linear-reduce shape=columns:104,inputs:448,swiglu:1,tensor_scaled:1 types=element:f4E2M1FN,scale:f8E4M3FN tile=splits:3,reduce_n:128" --schedule-finish | %emit -o %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DTHREADS=128 -DDYNAMIC_BYTES=0 %S/Inputs/linearReduce.cpp -o %t
// RUN: %t | FileCheck %s
// The parts of a product in NVFP4, with the scales of tensors.

// CHECK: linear_reduce: right
