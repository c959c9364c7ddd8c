// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-decode shape=heads:8,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=keys:64,splits:3" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=128 -DDYNAMIC_BYTES=163840 -DEIGHT_BITS -DKEY_SCALE=0.37f %S/Inputs/decode.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-decode shape=heads:8,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=keys:64,splits:3" --schedule-finish | FileCheck %s --check-prefix=WORDS
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-decode shape=heads:8,kv_heads:2,head_dim:64 tile=keys:64,splits:3" --schedule-finish | FileCheck %s --check-prefix=FRAGMENTS --implicit-check-not=interleaved
// Split attention over a cache of 8 bits with scales. What is converted before it is multiplied
// is read by words, of which the lane owns one row each.
// WORDS: #[[VALUES:.*]] = #schedule.layout<(register = [1:0, 8:0, 16:0, 32:0, 0:1], lane = [2:0, 4:0, 0:2, 0:4, 0:8], wave = [0:16, 0:32]) -> (row = 64, column = 64)>
// WORDS: schedule.mma {{.*}}interleaved = 2 : i64{{.*}}<64x64xbf16, register, #[[VALUES]]>
// FRAGMENTS: schedule.mma

// CHECK: splits = 1: right
// CHECK: splits = 3: right
