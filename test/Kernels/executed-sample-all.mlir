// RUN: modelc-opt %s "--kernels-build=target=mi355x family=sample shape=greedy:0,vocabulary:1000 tile=n:1024,waves:4,ways:16" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DTOP_K=0 -DTOP_P=1.0 -DTEMPERATURE=1.0 %S/Inputs/sample.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=sample shape=greedy:0,vocabulary:1000 tile=n:1024,waves:4,ways:16" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DTOP_K=0 -DTOP_P=1.0 -DTEMPERATURE=1.0 %S/Inputs/sample.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// Sampling of the whole distribution, 16 thresholds at a time.

// CHECK: tokens: right
