// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1 types=bias:bf16 tile=m:16,n:64,k:64,swapped:1" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=16 -DTILE_N=64 %S/Inputs/linear.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// The weight first, results stored transposed.

// CHECK: linear: right
