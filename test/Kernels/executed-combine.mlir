// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-combine shape=heads:6,kv_heads:2,head_dim:64 tile=splits:64" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DSPLITS=37 -DTHREADS=64 -DDYNAMIC_BYTES=0  %S/Inputs/combine.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-combine shape=heads:6,kv_heads:2,head_dim:64 tile=splits:8,combine_parts:4" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DSPLITS=3 -DTHREADS=32 -DDYNAMIC_BYTES=163840  %S/Inputs/combine.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// Joined parts on the emulator, in several trips and in one that is not full;
// some parts are empty.

// CHECK: combine: right
