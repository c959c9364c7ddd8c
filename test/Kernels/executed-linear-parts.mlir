// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1 types=bias:bf16 tile=m:32,n:96,k:64" --schedule-finish | %emit -o %t.columns.h
// RUN: %emulate -DKERNEL='"%t.columns.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=32 -DTILE_N=96 %S/Inputs/linear.cpp -o %t.columns
// RUN: env EMULATOR_COPIES=lazy %t.columns | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.columns | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1,swiglu:1 types=bias:bf16 tile=m:96,n:32,k:64" --schedule-finish | %emit -o %t.rows.h
// RUN: %emulate -DKERNEL='"%t.rows.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=1 -DSPLITS=1 -DTILE_M=96 -DTILE_N=32 %S/Inputs/linear.cpp -o %t.rows
// RUN: env EMULATOR_COPIES=lazy %t.rows | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:960 tile=m:32,n:96,k:64,splits:3" --schedule-finish | %emit -o %t.splits.h
// RUN: %emulate -DINPUTS=960 -DKERNEL='"%t.splits.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=3 -DTILE_M=32 -DTILE_N=96 %S/Inputs/linear.cpp -o %t.splits
// RUN: env EMULATOR_COPIES=lazy %t.splits | FileCheck %s
// Tiles of 64 and 32 columns, or rows, side by side; the last one is partly, or all, beyond
// the end.

// CHECK: linear: right
