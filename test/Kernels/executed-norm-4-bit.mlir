// RUN: modelc-opt %s "--kernels-build=target=mi355x family=norm shape=columns:640 types=result:f4E2M1FN tile=n:1024,waves:2" --schedule-finish | %emit -o %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DTHREADS=128 -DDYNAMIC_BYTES=0 -DBLOCK=32 %S/Inputs/normBlocks.cpp -o %t
// RUN: %t | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=norm shape=columns:640 types=result:f4E2M1FN tile=n:1024,waves:1" --schedule-finish | %emit -o %t.b200.h
// RUN: %emulate -DKERNEL='"%t.b200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=0 -DBLOCK=32 -DORDERED %S/Inputs/normBlocks.cpp -o %t.b200
// RUN: env EMULATOR_SEED=3 %t.b200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=norm shape=columns:640,residual:1,sum:1,tensor_scaled:1 types=result:f4E2M1FN,scale:f8E4M3FN tile=n:1024,waves:2" --schedule-finish | %emit -o %t.fine.h
// RUN: %emulate -DKERNEL='"%t.fine.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DBLOCK=16 -DORDERED -DRESIDUAL -DTENSOR_SCALE=0.0021f %S/Inputs/normBlocks.cpp -o %t.fine
// RUN: env EMULATOR_SEED=3 %t.fine | FileCheck %s
// A norm makes the numbers of four bits and the scales of blocks of MXFP4 and NVFP4 that
// a norm in double gives; the sum that it norms is rounded first.

// CHECK: sums: 0 wrong
// CHECK: blocks: 0 of {{6000|12000}} wrong
