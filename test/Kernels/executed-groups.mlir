// RUN: modelc-opt %s "--kernels-build=target=h200 family=quantise shape=columns:640 types=scale:f32 tile=n:512,waves:2" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DPIECES=2 %S/Inputs/groups.cpp -o %t.h200
// RUN: %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=quantise shape=columns:640,swiglu:1 types=scale:f32 tile=n:1024,waves:1" --schedule-finish | %emit -o %t.mi300x.h
// RUN: %emulate -DKERNEL='"%t.mi300x.h"' -DMODELC_CHIP=942 -DTHREADS=64 -DDYNAMIC_BYTES=0 -DPIECES=1 -DUP %S/Inputs/groups.cpp -o %t.mi300x
// RUN: env EMULATOR_SEED=3 %t.mi300x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=norm shape=columns:640,residual:1,sum:1 types=result:f8E4M3FN,scale:f32 tile=n:1024,waves:2" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=128 -DDYNAMIC_BYTES=0 -DNORM %S/Inputs/groups.cpp -o %t.mi355x
// RUN: %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=linear-reduce shape=columns:640,inputs:512,swiglu:1 types=element:f8E4M3FN,scale:f32,quantised:f8E4M3FN,quantised_scale:f32 tile=splits:2,reduce_n:512,reduce_waves:4" --schedule-finish | %emit -o %t.b200.h
// RUN: %emulate -DKERNEL='"%t.b200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=0 -DPIECES=2 -DPARTS %S/Inputs/groups.cpp -o %t.b200
// RUN: env EMULATOR_SEED=3 %t.b200 | FileCheck %s
// Rows, SwiGLU, of sums of parts too, and norms to 8 bits with a scale in f32 for each 128 numbers.

// CHECK: groups: 0 of 1500 wrong
