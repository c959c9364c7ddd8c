// RUN: modelc-opt %s "--kernels-build=target=mi355x family=rope-append shape=heads:4,kv_heads:2,head_dim:64 tile=packs_heads:1,waves:1,parts:3" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DPARTS=3 -DTHREADS=64 -DDYNAMIC_BYTES=0 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=rope-append shape=heads:4,kv_heads:2,head_dim:64 types=cache:f8E4M3FN tile=packs_heads:1,waves:1,parts:19" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DPARTS=19 -DEIGHT_BITS -DKEY_SCALE=0.005f -DTHREADS=32 -DDYNAMIC_BYTES=163840 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=rope-append shape=heads:4,kv_heads:2,head_dim:64,scaled:1 types=bias:bf16 tile=packs_heads:1,waves:1,parts:3" --schedule-finish | %emit -o %t.scaled.h
// RUN: %emulate -DKERNEL='"%t.scaled.h"' -DPARTS=3 -DFINISHED -DTHREADS=32 -DDYNAMIC_BYTES=163840 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.scaled
// RUN: %t.scaled | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=rope-append shape=heads:4,kv_heads:2,head_dim:64,tensor_scaled:1 types=bias:bf16 tile=packs_heads:1,waves:1,parts:3" --schedule-finish | %emit -o %t.tensor.h
// RUN: %emulate -DKERNEL='"%t.tensor.h"' -DPARTS=3 -DFINISHED_BY_ONE -DTHREADS=64 -DDYNAMIC_BYTES=0 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.tensor
// RUN: %t.tensor | FileCheck %s
// RUN: not modelc-opt %s "--kernels-build=family=rope-append shape=heads:4,kv_heads:2,head_dim:64 tile=parts:3,tokens:16" 2>&1 | FileCheck %s --check-prefix=TOKENS
// TOKENS: expected parts of sums of one token, got 3 of 16
// Queries, keys and values whose sums come in parts, more than are on their way at once.
// CHECK: rope: right

// A part that is added twice in place of another is found.
// RUN: sed -e 's/offset(row, 3, 2, /offset(row, 3, 1, /' %t.mi355x.h > %t.other.h && not diff -q %t.mi355x.h %t.other.h
// RUN: %emulate -DKERNEL='"%t.other.h"' -DPARTS=3 -DTHREADS=64 -DDYNAMIC_BYTES=0 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.other
// RUN: not %t.other | FileCheck %s --check-prefix=OTHER
// OTHER: rope: wrong
