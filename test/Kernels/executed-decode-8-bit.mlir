// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-decode shape=heads:8,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=keys:64,splits:3" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DEIGHT_BITS -DKEY_SCALE=0.37f %S/Inputs/decode.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// Split attention over a cache of 8 bits with scales.

// CHECK: splits = 1: right
// CHECK: splits = 3: right
