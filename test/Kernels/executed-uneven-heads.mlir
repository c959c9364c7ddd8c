// RUN: modelc-opt %s "--kernels-build=target=mi355x family=attention-prefill shape=heads:4,kv_heads:2,head_dim:192,value_dim:128 tile=queries:64,keys:32" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=256 -DDYNAMIC_BYTES=0 -DQUERIES=64 -DHEAD_DIM=192 -DVALUE_DIM=128 %S/Inputs/prefill.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:192,value_dim:128 tile=queries:128,keys:64,slots:2,delayed:1" --schedule-finish | %emit -o %t.b200.h
// RUN: %emulate -DKERNEL='"%t.b200.h"' -DTHREADS=128 -DSHARED_KIB=227 -DDYNAMIC_BYTES=227*1024 -DQUERIES=128 -DHEAD_DIM=192 -DVALUE_DIM=128 %S/Inputs/prefill.cpp -o %t.b200
// RUN: env EMULATOR_COPIES=lazy %t.b200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_MATRIX=lazy %t.b200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:192,value_dim:128 tile=queries:128,keys:64,waves:8,slots:2,delayed:1" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=256 -DSHARED_KIB=227 -DDYNAMIC_BYTES=227*1024 -DQUERIES=128 -DHEAD_DIM=192 -DVALUE_DIM=128 %S/Inputs/prefill.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi300x family=attention-decode shape=heads:8,kv_heads:2,head_dim:192,value_dim:128 tile=keys:32,splits:3" --schedule-finish | %emit -o %t.decode.h
// RUN: %emulate -DKERNEL='"%t.decode.h"' -DTHREADS=256 -DMODELC_CHIP=942 -DDYNAMIC_BYTES=0 -DHEAD_DIM=192 -DVALUE_DIM=128 %S/Inputs/decode.cpp -o %t.decode
// RUN: env EMULATOR_COPIES=lazy %t.decode | FileCheck %s --check-prefix=DECODE
// Keys of 192 columns, values of 128: latent attention whose heads are spelled
// out (DeepSeek's prefill).

// CHECK: prefill: right
// DECODE: splits = 1: right
// DECODE: splits = 3: right
