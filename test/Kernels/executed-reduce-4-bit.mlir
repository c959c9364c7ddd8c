// RUN: modelc-opt %s "--kernels-build=target=b200 family=linear-reduce shape=columns:640,inputs:448,swiglu:1,tensor_scaled:1,quantised_tensor_scaled:1 types=element:f4E2M1FN,scale:f8E4M3FN,quantised:f4E2M1FN,quantised_scale:f8E4M3FN tile=splits:3,reduce_n:512,reduce_waves:1" --schedule-finish | %emit -o %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DTHREADS=32 -DDYNAMIC_BYTES=0 -DBLOCK=16 -DORDERED -DSPLITS=3 -DTILE_N=512 -DTENSOR_SCALE=0.0021f %S/Inputs/linearReduceBlocks.cpp -o %t
// RUN: env EMULATOR_SEED=3 %t | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=linear-reduce shape=columns:640,inputs:512,swiglu:1 types=element:f4E2M1FN,quantised:f4E2M1FN tile=splits:7,reduce_n:1024,reduce_waves:1" --schedule-finish | %emit -o %t.mx.h
// RUN: %emulate -DKERNEL='"%t.mx.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DBLOCK=32 -DSPLITS=7 -DTILE_N=1024 %S/Inputs/linearReduceBlocks.cpp -o %t.mx
// RUN: %t.mx | FileCheck %s
// The kernel that adds parts of sums makes the numbers of four bits and the scales of blocks
// of NVFP4 and MXFP4 of what SwiGLU leaves, without rounding it first.

// CHECK: blocks: 0 of {{6000|12000}} wrong
