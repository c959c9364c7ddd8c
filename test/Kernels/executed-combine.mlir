// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-combine shape=heads:6,kv_heads:2,head_dim:64 tile=splits:3" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0  %S/Inputs/combine.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-combine shape=heads:6,kv_heads:2,head_dim:64 tile=splits:3" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840  %S/Inputs/combine.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// Joined parts on the emulator; three heads of a group fill no power of two.

// CHECK: combine: right
