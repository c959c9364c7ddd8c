// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1 types=bias:bf16 tile=m:128,n:128,k:64,waves:4,groups:1,pieces_m:2,pieces_n:2" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=128 -DTILE_N=128 %S/Inputs/linear.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=linear shape=columns:104,inputs:448,residual:1 types=bias:bf16 tile=m:128,n:128,k:32,waves:4,groups:1,pieces_m:2,pieces_n:2" --schedule-finish | %emit -o %t.mi300x.h
// RUN: %emulate -DKERNEL='"%t.mi300x.h"' -DTHREADS=256 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=128 -DTILE_N=128 %S/Inputs/linear.cpp -o %t.mi300x
// RUN: env EMULATOR_COPIES=lazy %t.mi300x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi300x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1,swiglu:1 types=bias:bf16 tile=m:128,n:64,k:64,waves:4,groups:1,pieces_m:2" --schedule-finish | %emit -o %t.swiglu.h
// RUN: %emulate -DKERNEL='"%t.swiglu.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=1 -DSPLITS=1 -DTILE_M=128 -DTILE_N=64 %S/Inputs/linear.cpp -o %t.swiglu
// RUN: env EMULATOR_COPIES=lazy %t.swiglu | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.swiglu | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:264,inputs:448,residual:1 types=bias:bf16 tile=m:256,n:256,k:64,waves:4,groups:1,pieces_m:2,pieces_n:2" --schedule-finish | %emit -o %t.full.h
// RUN: %emulate -DKERNEL='"%t.full.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DSWIGLU=0 -DSPLITS=1 -DTILE_M=256 -DTILE_N=256 -DCOLUMNS=264 -DROWS=301 %S/Inputs/linear.cpp -o %t.full
// RUN: env EMULATOR_COPIES=lazy %t.full | FileCheck %s
// Four products a trip, each over the reads for the next one; the first
// product's operands go from trip to trip. An odd number of trips, pieces that
// lie beyond the last row and column; the largest tile, with its neighbours.

// CHECK: linear: right
