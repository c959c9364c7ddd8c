// RUN: modelc-opt %s "--kernels-build=target=mi355x family=append shape=heads:3,kv_heads:3,head_dim:64 tile=tokens:16,waves:1" --schedule-finish | %emit -o %t.prefill.h
// RUN: %emulate -DKERNEL='"%t.prefill.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DKV_HEADS=3 -DPACKED=0 '-DCONTEXTS={40,7,90}' '-DNEWS={40,1,20}' -DTOKENS=16 %S/Inputs/append.cpp -o %t.prefill
// RUN: env EMULATOR_COPIES=lazy %t.prefill | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=append shape=heads:3,kv_heads:3,head_dim:64 tile=packs_heads:1,waves:1" --schedule-finish | %emit -o %t.decode.h
// RUN: %emulate -DKERNEL='"%t.decode.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DKV_HEADS=3 -DPACKED=1 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/append.cpp -o %t.decode
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.decode | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=append shape=heads:2,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=packs_heads:1,waves:1" --schedule-finish | %emit -o %t.8.h
// RUN: %emulate -DKERNEL='"%t.8.h"' -DTHREADS=64 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DEIGHT_BITS -DKEY_SCALE=0.005f -DKV_HEADS=2 -DPACKED=1 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/append.cpp -o %t.8
// RUN: env EMULATOR_COPIES=lazy %t.8 | FileCheck %s
// Keys and values go to their pages as they are, or over their scales in 8 bits;
// no other row of the cache changes, of heads that fill no power of two either.

// CHECK: new rows: 0 wrong
// CHECK: other rows: 0 changed
