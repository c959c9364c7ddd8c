// RUN: modelc-opt %s "--kernels-build=target=mi355x family=rope-append shape=heads:4,kv_heads:2,head_dim:64 tile=packs_heads:1,waves:1" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=rope-append shape=heads:4,kv_heads:2,head_dim:64 tile=packs_heads:1,waves:1" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// Rope and append of a decode step on the emulator.

// CHECK: rope: right
