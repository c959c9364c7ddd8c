// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:112,inputs:448,residual:1,swiglu:1,interleave:16 types=bias:bf16 tile=m:64,n:16,k:64,waves:4" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=1 -DINTERLEAVE=16 -DCOLUMNS=112 -DSPLITS=1 -DTILE_M=64 -DTILE_N=16 %S/Inputs/linear.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// Blocks of gate and up that alternate.

// CHECK: linear: right
