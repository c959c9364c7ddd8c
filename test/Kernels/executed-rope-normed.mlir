// RUN: modelc-opt %s "--kernels-build=target=mi355x family=rope-append shape=heads:4,kv_heads:2,head_dim:64,norm_epsilon:0.5 types=norm:bf16 tile=tokens:16,waves:2" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DNORMED=0 -DTHREADS=128 -DDYNAMIC_BYTES=0 '-DCONTEXTS={40,7,90}' '-DNEWS={40,1,20}' -DTOKENS=16 %S/Inputs/rope.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=rope-append shape=heads:4,kv_heads:2,head_dim:96,norm_epsilon:0.5,norm_one_plus:1 types=norm:bf16 tile=packs_heads:1,waves:1,parts:3" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DNORMED=1 -DHEAD_DIM=96 -DPARTS=3 -DTHREADS=32 -DDYNAMIC_BYTES=163840 '-DCONTEXTS={40,7,90}' '-DNEWS={1,1,1}' -DTOKENS=1 %S/Inputs/rope.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// Heads of queries and keys that are normed before they are rotated: of many
// tokens, and of one, whose columns lie in tiles of two widths and whose sums
// come in parts.

// CHECK: rope: right

// Keys that are normed by weights of queries are found.
// RUN: sed -e 's/kNormTile, view(kNorm/kNormTile, view(qNorm/' %t.mi355x.h > %t.other.h && not diff -q %t.mi355x.h %t.other.h
// RUN: %emulate -DKERNEL='"%t.other.h"' -DNORMED=0 -DTHREADS=128 -DDYNAMIC_BYTES=0 '-DCONTEXTS={40,7,90}' '-DNEWS={40,1,20}' -DTOKENS=16 %S/Inputs/rope.cpp -o %t.other
// RUN: not %t.other | FileCheck %s --check-prefix=OTHER
// OTHER: rope: wrong
