// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-decode shape=heads:8,kv_heads:2,head_dim:64 tile=keys:64,splits:1" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DWHOLE -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0  %S/Inputs/decode.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-decode shape=heads:8,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=keys:64,splits:1" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DWHOLE -DKERNEL='"%t.h200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DEIGHT_BITS -DKEY_SCALE=0.37f %S/Inputs/decode.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// Decode attention that splits no keys leaves the result itself.

// CHECK: whole: right
