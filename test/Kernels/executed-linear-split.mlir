// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:960,swiglu:1 tile=m:32,n:32,k:64,splits:3" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DINPUTS=960 -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=1 -DSPLITS=3 -DTILE_M=32 -DTILE_N=32 %S/Inputs/linear.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// 15 steps in 3 parts.

// CHECK: linear: right
