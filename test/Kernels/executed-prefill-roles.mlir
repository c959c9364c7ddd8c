// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:128,keys:64,waves:8,slots:3,delayed:1,roles:1" --schedule-finish | %emit -o %t.late.h
// RUN: %emulate -DKERNEL='"%t.late.h"' -DTHREADS=384 -DDYNAMIC_BYTES=163840 -DQUERIES=128 -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore %S/Inputs/prefill.cpp -o %t.late
// RUN: env EMULATOR_COPIES=lazy %t.late 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=7 %t.late 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:64 tile=queries:128,keys:128,waves:8,slots:2,roles:1" --schedule-finish | %emit -o %t.plain.h
// RUN: %emulate -DKERNEL='"%t.plain.h"' -DTHREADS=384 -DDYNAMIC_BYTES=163840 -DQUERIES=128 -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore %S/Inputs/prefill.cpp -o %t.plain
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=3 %t.plain 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: env EMULATOR_COPIES=eager %t.plain 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:128,page:32 tile=queries:128,keys:64,waves:8,slots:2,delayed:1,roles:1" --schedule-finish | %emit -o %t.pages.h
// RUN: FileCheck %s --check-prefix=PAGES < %t.pages.h
// PAGES: copyTile<4>(kCacheRing[step + 1], {{.*}}.wholePages<32>(pages + {{.*}}, {{.*}}).limitRows(
// RUN: %emulate -DKERNEL='"%t.pages.h"' -DTHREADS=384 -DDYNAMIC_BYTES=163840 -DQUERIES=128 -DHEAD_DIM=128 -DPAGE_SIZE=32 %S/Inputs/prefill.cpp -o %t.pages
// RUN: env EMULATOR_COPIES=lazy %t.pages | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:192,value_dim:128 tile=queries:128,keys:64,waves:8,slots:3,delayed:1,roles:1" --schedule-finish | %emit -o %t.wide.h
// RUN: %emulate -DKERNEL='"%t.wide.h"' -DTHREADS=384 -DSHARED_KIB=227 -DDYNAMIC_BYTES=227*1024 -DQUERIES=128 -DHEAD_DIM=192 -DVALUE_DIM=128 %S/Inputs/prefill.cpp -o %t.wide
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=2 %t.wide | FileCheck %s
// Four waves copy keys and values for eight that multiply; keys of a trip are
// rows of one page, of several, or of whole ones.

// CHECK: prefill: right
