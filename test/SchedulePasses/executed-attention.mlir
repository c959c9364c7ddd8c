// Causal attention over pages, finished for four machines, printed and run on
// the emulator: two products in a loop, rows reduced across lanes, weights moved
// from one fragment into another, values transposed on their way.
// RUN: echo 'module attributes {schedule.target = "mi355x"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:4,kv_heads:2 tile=queries:128,keys:64" --schedule-finish -o %t.mi355x.mlir
// RUN: %emit %t.mi355x.mlir -o %t.mi355x.hip
// RUN: %emulate -DKERNEL='"%t.mi355x.hip"' -DTHREADS=256 -DHEAD_DIM=128 -DQUERIES=128 -DDYNAMIC_BYTES=0 -DSHARED_KIB=160 %S/../Kernels/Inputs/prefill.cpp -o %t.mi355x.run
// RUN: env EMULATOR_COPIES=lazy %t.mi355x.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.mi355x.run | FileCheck %s
// RUN: echo 'module attributes {schedule.target = "mi300x"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:4,kv_heads:2 tile=queries:128,keys:64" --schedule-finish -o %t.mi300x.mlir
// RUN: %emit %t.mi300x.mlir -o %t.mi300x.hip
// RUN: %emulate -DKERNEL='"%t.mi300x.hip"' -DMODELC_CHIP=942 -DTHREADS=256 -DHEAD_DIM=128 -DQUERIES=128 -DDYNAMIC_BYTES=0 -DSHARED_KIB=64 %S/../Kernels/Inputs/prefill.cpp -o %t.mi300x.run
// RUN: env EMULATOR_COPIES=lazy %t.mi300x.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.mi300x.run | FileCheck %s
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:4,kv_heads:2 tile=queries:128,keys:64" --schedule-finish -o %t.h200.mlir
// RUN: %emit %t.h200.mlir -o %t.h200.cu
// RUN: %emulate -DKERNEL='"%t.h200.cu"' -DTHREADS=128 -DHEAD_DIM=128 -DQUERIES=128 -DDYNAMIC_BYTES=131072 -DSHARED_KIB=227 %S/../Kernels/Inputs/prefill.cpp -o %t.h200.run
// RUN: env EMULATOR_COPIES=lazy %t.h200.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.h200.run | FileCheck %s
// RUN: echo 'module attributes {schedule.target = "b200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:4,kv_heads:2 tile=queries:128,keys:64,slots:2" --schedule-finish -o %t.b200.mlir
// RUN: %emit %t.b200.mlir -o %t.b200.cu
// RUN: %emulate -DKERNEL='"%t.b200.cu"' -DTHREADS=128 -DHEAD_DIM=128 -DQUERIES=128 -DDYNAMIC_BYTES=114712 -DSHARED_KIB=227 %S/../Kernels/Inputs/prefill.cpp -o %t.b200.run
// RUN: env EMULATOR_COPIES=lazy %t.b200.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.b200.run | FileCheck %s
// CHECK: prefill: right
