// A product that another one reads leaves its columns as that one wants them in
// the lanes that hold them, and nothing is exchanged between lanes. Both get an
// instruction of one shape.
// RUN: echo 'module attributes {schedule.target = "mi355x"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 types=cache:f8E4M3FN,query:f8E4M3FN,power:f8E4M3FN tile=queries:128,keys:64" --schedule-finish | FileCheck %s --check-prefix=NARROW --implicit-check-not=relayout
// RUN: echo 'module attributes {schedule.target = "mi355x"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:256,keys:64,waves:8" --schedule-finish | FileCheck %s --check-prefix=WIDE --implicit-check-not=relayout
// NARROW: schedule.mma {{.*}} {exchanged = 4 : i64, grid = array<i64: 4, 1>, instruction = "Mfma32x32x64F8"}
// NARROW: schedule.mma {{.*}} {exchanged = 1 : i64, grid = array<i64: 4, 1>, instruction = "Mfma32x32x64F8"}
// WIDE: schedule.mma {{.*}} {exchanged = 2 : i64, grid = array<i64: 8, 1>, instruction = "Mfma16x16x32Bf16"}
// WIDE: schedule.mma {{.*}} {exchanged = 1 : i64, grid = array<i64: 8, 1>, instruction = "Mfma16x16x32Bf16"}

// Where shared memory does not transpose, a lane reads neighbours of a row of
// the values: columns of four fragments.
// RUN: echo 'module attributes {schedule.target = "mi300x"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:128,keys:64" --schedule-finish | FileCheck %s --check-prefix=ACROSS
// ACROSS: schedule.mma
// ACROSS: schedule.mma {{.*}} interleaved = 4 : i64}
