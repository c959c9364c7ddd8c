// RUN: modelc-opt %s "--kernels-build=target=mi300x family=rope-append shape=heads:4,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=tokens:16,waves:2" --schedule-finish | %emit -o %t.mi300x.h
// RUN: %emulate -DKERNEL='"%t.mi300x.h"' -DTHREADS=128 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DEIGHT_BITS -DKEY_SCALE=0.005f '-DCONTEXTS={40,7,90}' '-DNEWS={40,1,20}' -DTOKENS=16 %S/Inputs/rope.cpp -o %t.mi300x
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi300x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=rope-append shape=heads:4,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=tokens:16,waves:2" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=64 -DDYNAMIC_BYTES=163840 -DEIGHT_BITS -DKEY_SCALE=0.005f '-DCONTEXTS={40,7,90}' '-DNEWS={40,1,20}' -DTOKENS=16 %S/Inputs/rope.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=rope-append shape=heads:4,kv_heads:2,head_dim:64 types=cache:f8E4M3FN,query:f8E4M3FN tile=tokens:16,waves:2" --schedule-finish | %emit -o %t.mi300x.q.h
// RUN: %emulate -DKERNEL='"%t.mi300x.q.h"' -DTHREADS=128 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DEIGHT_BITS -DEIGHT_BIT_PRODUCTS -DKEY_SCALE=0.005f '-DCONTEXTS={40,7,90}' '-DNEWS={40,1,20}' -DTOKENS=16 %S/Inputs/rope.cpp -o %t.mi300x.q
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi300x.q | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=rope-append shape=heads:4,kv_heads:2,head_dim:64 types=cache:f8E4M3FN,query:f8E4M3FN tile=packs_heads:1,waves:1,parts:3" --schedule-finish | %emit -o %t.h200.q.h
// RUN: %emulate -DKERNEL='"%t.h200.q.h"' -DPARTS=3 -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DEIGHT_BITS -DEIGHT_BIT_PRODUCTS -DKEY_SCALE=0.005f '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.h200.q
// RUN: env EMULATOR_COPIES=lazy %t.h200.q | FileCheck %s
// Keys and values, and queries where they have 8 bits too, over their scales, to
// the nearest number of 8 bits, saturated: in E4M3FN, and in FNUZ, half of it with scales twice as large.

// CHECK: cache: right
// CHECK: some saturate
// CHECK: rope: right
