// RUN: modelc-opt %s "--kernels-build=target=b200 family=quantise shape=columns:640 types=result:f4E2M1FN,scale:f8E4M3FN tile=n:512,waves:2" --schedule-finish | %emit -o %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DTILE_N=512 %S/Inputs/blocksFine.cpp -o %t
// RUN: %t | FileCheck %s
// RUN: %if nvcc %{ %nvcc -ptx -arch=sm_103a -std=c++20 -I%targets -x cu %t.h -o - | FileCheck %s --check-prefix=PTX %}
// RUN: modelc-opt %s "--kernels-build=target=b200 family=quantise shape=columns:640,tensor_scaled:1 types=result:f4E2M1FN,scale:f8E4M3FN tile=n:512,waves:2" --schedule-finish | %emit -o %t.tensor.h
// RUN: %emulate -DKERNEL='"%t.tensor.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DTILE_N=512 -DTENSOR_SCALE=0.0021f %S/Inputs/blocksFine.cpp -o %t.tensor
// RUN: %t.tensor | FileCheck %s
// Numbers of four bits and scales with a fraction are those of NVFP4, bit for bit, and
// scales lie as copies to tensor memory read them.

// CHECK: blocks: 0 of 12000 wrong
// PTX: cvt.rn.satfinite.e2m1x2.f32
