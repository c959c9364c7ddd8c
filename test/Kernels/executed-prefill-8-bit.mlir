// RUN: modelc-opt %s "--kernels-build=target=mi300x family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=queries:64,keys:32" --schedule-finish | %emit -o %t.mi300x.h
// RUN: %emulate -DKERNEL='"%t.mi300x.h"' -DTHREADS=256 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DEIGHT_BITS -DKEY_SCALE=0.37f -DQUERIES=64 %S/Inputs/prefill.cpp -o %t.mi300x
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi300x | FileCheck %s
// Attention over a cache of 8 bits with scales.

// CHECK: prefill: right
