// RUN: modelc-opt %s "--kernels-build=target=mi355x symbol=geglu family=elementwise shape=columns:200,kind:swiglu,gating:gelu_tanh tile=rows:2,n:128,waves:1" \
// RUN:   "--kernels-build=target=mi355x symbol=gate family=elementwise shape=columns:200,kind:gate tile=rows:2,n:128,waves:1 types=gate:bf16" \
// RUN:   "--kernels-build=target=mi355x symbol=row_gate family=elementwise shape=columns:200,kind:gate,gate_of_row:1 tile=rows:2,n:128,waves:1 types=gate:f32" \
// RUN:   "--kernels-build=target=mi355x symbol=left family=elementwise shape=columns:200,kind:copy,all_columns:240 tile=rows:2,n:128,waves:1" \
// RUN:   "--kernels-build=target=mi355x symbol=right family=elementwise shape=columns:40,kind:copy,all_columns:240,first:200 tile=rows:2,n:64,waves:1" \
// RUN:   "--kernels-build=target=mi355x symbol=times family=gather shape=columns:200,table:5,times:7.25 tile=rows:2,n:128,waves:1" \
// RUN:   "--kernels-build=target=mi355x symbol=heads family=norm shape=columns:40,heads:5,one_plus:1,epsilon:0.5 tile=rows:4,n:64,waves:1" \
// RUN:   "--kernels-build=target=mi355x symbol=weightless family=norm shape=columns:40,heads:5,weightless:1,epsilon:0.5 tile=rows:4,n:64,waves:1" \
// RUN:   "--kernels-build=target=mi355x symbol=first family=norm shape=columns:200,first:130,one_plus:1,epsilon:0.5 tile=rows:2,n:256,waves:1" \
// RUN:   --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 %S/Inputs/rowOps.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 symbol=geglu family=elementwise shape=columns:200,kind:swiglu,gating:gelu_tanh tile=rows:2,n:128,waves:1" \
// RUN:   "--kernels-build=target=h200 symbol=gate family=elementwise shape=columns:200,kind:gate tile=rows:2,n:128,waves:1 types=gate:bf16" \
// RUN:   "--kernels-build=target=h200 symbol=row_gate family=elementwise shape=columns:200,kind:gate,gate_of_row:1 tile=rows:2,n:128,waves:1 types=gate:f32" \
// RUN:   "--kernels-build=target=h200 symbol=left family=elementwise shape=columns:200,kind:copy,all_columns:240 tile=rows:2,n:128,waves:1" \
// RUN:   "--kernels-build=target=h200 symbol=right family=elementwise shape=columns:40,kind:copy,all_columns:240,first:200 tile=rows:2,n:64,waves:1" \
// RUN:   "--kernels-build=target=h200 symbol=times family=gather shape=columns:200,table:5,times:7.25 tile=rows:2,n:128,waves:1" \
// RUN:   "--kernels-build=target=h200 symbol=heads family=norm shape=columns:40,heads:5,one_plus:1,epsilon:0.5 tile=rows:4,n:64,waves:1" \
// RUN:   "--kernels-build=target=h200 symbol=weightless family=norm shape=columns:40,heads:5,weightless:1,epsilon:0.5 tile=rows:4,n:64,waves:1" \
// RUN:   "--kernels-build=target=h200 symbol=first family=norm shape=columns:200,first:130,one_plus:1,epsilon:0.5 tile=rows:2,n:256,waves:1" \
// RUN:   --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 %S/Inputs/rowOps.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// Ops on rows that no power of two divides.

// CHECK: geglu: right
// CHECK: gate: right
// CHECK: row gate: right
// CHECK: concat: right
// CHECK: times: right
// CHECK: heads: right
// CHECK: weightless: right
// CHECK: first: right
