// RUN: modelc-opt %s "--kernels-build=target=mi355x family=sample shape=vocabulary:1000,padding:24 tile=n:256,waves:4" --schedule-finish | %emit -o %t.greedy.h
// RUN: %emulate -DKERNEL='"%t.greedy.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DPADDING=24 -DGREEDY -DTOP_K=1 -DTOP_P=1.0 -DTEMPERATURE=1.0 %S/Inputs/sample.cpp -o %t.greedy
// RUN: env EMULATOR_COPIES=lazy %t.greedy | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=sample shape=greedy:0,vocabulary:1000,padding:24,top_k:50,top_p:0.8,temperature:0.7 tile=n:256,waves:4" --schedule-finish | %emit -o %t.random.h
// RUN: %emulate -DKERNEL='"%t.random.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DPADDING=24 -DTOP_K=50 -DTOP_P=0.8 -DTEMPERATURE=0.7 %S/Inputs/sample.cpp -o %t.random
// RUN: env EMULATOR_COPIES=lazy %t.random | FileCheck %s
// What lies behind the words of a row is never taken, though it is the largest.

// CHECK: tokens: right
