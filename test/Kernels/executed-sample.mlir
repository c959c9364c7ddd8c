// RUN: modelc-opt %s "--kernels-build=target=mi355x family=sample shape=greedy:0,vocabulary:1000,top_k:50,top_p:0.8,temperature:0.7 tile=n:256,waves:4" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DTOP_K=50 -DTOP_P=0.8 -DTEMPERATURE=0.7 %S/Inputs/sample.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=sample shape=greedy:0,vocabulary:1000,top_k:50,top_p:0.8,temperature:0.7 tile=n:256,waves:4" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DTOP_K=50 -DTOP_P=0.8 -DTEMPERATURE=0.7 %S/Inputs/sample.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// Sampling on the emulator finds what sorting finds.

// CHECK: tokens: right
