// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:64,keys:32" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DQUERIES=64 %S/Inputs/prefill.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:256,keys:64,waves:8" --schedule-finish | %emit -o %t.mi355x.8.h
// RUN: %emulate -DKERNEL='"%t.mi355x.8.h"' -DTHREADS=512 -DDYNAMIC_BYTES=0 -DQUERIES=256 %S/Inputs/prefill.cpp -o %t.mi355x.8
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x.8 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:64,keys:32" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DQUERIES=64 %S/Inputs/prefill.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:128,keys:64,waves:8" --schedule-finish | %emit -o %t.h200.8.h
// RUN: %emulate -DKERNEL='"%t.h200.8.h"' -DTHREADS=256 -DDYNAMIC_BYTES=163840 -DQUERIES=128 -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore %S/Inputs/prefill.cpp -o %t.h200.8
// RUN: env EMULATOR_COPIES=lazy %t.h200.8 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=7 %t.h200.8 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: modelc-opt %s "--kernels-build=target=b200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:128,keys:64,slots:2" --schedule-finish | %emit -o %t.b200.h
// RUN: %emulate -DKERNEL='"%t.b200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=131072 -DQUERIES=128 -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore %S/Inputs/prefill.cpp -o %t.b200
// RUN: env EMULATOR_COPIES=lazy %t.b200 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: env EMULATOR_COPIES=eager EMULATOR_MATRIX=lazy %t.b200 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=7 %t.b200 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64,cache:f8E4M3FN tile=queries:64,keys:64,slots:3" --schedule-finish | %emit -o %t.h200.f8.h
// RUN: %emulate -DKERNEL='"%t.h200.f8.h"' -DTHREADS=128 -DDYNAMIC_BYTES=131072 -DQUERIES=64 -DEIGHT_BITS -DKEY_SCALE=0.37f %S/Inputs/prefill.cpp -o %t.h200.f8
// RUN: env EMULATOR_COPIES=lazy %t.h200.f8 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.h200.f8 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64,cache:f8E4M3FN tile=queries:128,keys:64,slots:2" --schedule-finish | %emit -o %t.b200.f8.h
// RUN: %emulate -DKERNEL='"%t.b200.f8.h"' -DTHREADS=128 -DDYNAMIC_BYTES=131072 -DQUERIES=128 -DEIGHT_BITS -DKEY_SCALE=0.37f %S/Inputs/prefill.cpp -o %t.b200.f8
// RUN: env EMULATOR_COPIES=lazy %t.b200.f8 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.b200.f8 | FileCheck %s
// Prefill attention on the emulator: ragged, with and without a past.

// CHECK: prefill: right
