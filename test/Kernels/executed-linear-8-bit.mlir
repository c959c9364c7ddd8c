// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:104,inputs:448,residual:1,scaled:1,swiglu:1 types=element:f8E4M3FN tile=m:64,n:32,k:64" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DTILE_M=64 -DTILE_N=32 %S/Inputs/linear8.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=linear shape=columns:104,inputs:448,residual:1,scaled:1,swiglu:1 types=element:f8E4M3FN tile=m:64,n:32,k:64" --schedule-finish | %emit -o %t.mi300x.h
// RUN: %emulate -DKERNEL='"%t.mi300x.h"' -DTHREADS=256 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DTILE_M=64 -DTILE_N=32 %S/Inputs/linear8.cpp -o %t.mi300x
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi300x | FileCheck %s
// Products of 8 bits with a random scale for each row and column, of which no two
// are alike; the machine's format is that of its matrix unit, whatever is asked.

// CHECK: linear: right
