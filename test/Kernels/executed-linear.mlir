// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1 types=bias:bf16 tile=m:32,n:32,k:64" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=32 -DTILE_N=32 %S/Inputs/linear.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=linear shape=columns:104,inputs:448,residual:1 types=bias:bf16 tile=m:32,n:32,k:64" --schedule-finish | %emit -o %t.mi300x.h
// RUN: %emulate -DKERNEL='"%t.mi300x.h"' -DTHREADS=256 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=32 -DTILE_N=32 %S/Inputs/linear.cpp -o %t.mi300x
// RUN: env EMULATOR_COPIES=lazy %t.mi300x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi300x | FileCheck %s
// Bias and residual; ragged rows and columns.

// CHECK: linear: right
