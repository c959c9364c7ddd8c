// RUN: modelc-opt %s "--kernels-build=target=mi355x family=quantise shape=columns:640 types=result:f4E2M1FN tile=n:512,waves:1" --schedule-finish | %emit -o %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DTILE_N=512 -DSWIGLU=0 %S/Inputs/blocks.cpp -o %t
// RUN: %t | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=quantise shape=columns:640,swiglu:1 types=result:f4E2M1FN tile=n:1024,waves:4" --schedule-finish | %emit -o %t.swiglu.h
// RUN: %emulate -DKERNEL='"%t.swiglu.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DTILE_N=1024 -DSWIGLU=1 %S/Inputs/blocks.cpp -o %t.swiglu
// RUN: env EMULATOR_SEED=3 %t.swiglu | FileCheck %s
// Numbers of four bits and their scales are those of OCP MX, bit for bit.

// CHECK: blocks: 0 of 6000 wrong
