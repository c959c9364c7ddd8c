// RUN: modelc-opt %s "--kernels-build=target=b200 family=attention-combine shape=heads:6,kv_heads:2,head_dim:128,quantised_tensor_scaled:1 types=quantised:f4E2M1FN,quantised_scale:f8E4M3FN tile=splits:64" --schedule-finish | %emit -o %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DSPLITS=37 -DTHREADS=32 -DDYNAMIC_BYTES=0 -DBLOCK=16 -DORDERED -DTENSOR_SCALE=0.0021f -DNEAR=3e-5 %S/Inputs/combineBlocks.cpp -o %t
// RUN: env EMULATOR_SEED=3 %t | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-combine shape=heads:6,kv_heads:2,head_dim:128 types=quantised:f4E2M1FN tile=splits:8,combine_parts:4" --schedule-finish | %emit -o %t.mx.h
// RUN: %emulate -DKERNEL='"%t.mx.h"' -DSPLITS=3 -DTHREADS=64 -DDYNAMIC_BYTES=0 -DBLOCK=32 -DNEAR=3e-5 %S/Inputs/combineBlocks.cpp -o %t.mx
// RUN: %t.mx | FileCheck %s
// The kernel that joins parts of attention makes the numbers of four bits and the scales of
// blocks of NVFP4 and MXFP4, in several trips and in one that is not full.

// CHECK: blocks: 0 of {{72|144}} wrong
