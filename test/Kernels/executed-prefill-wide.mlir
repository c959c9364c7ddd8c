// RUN: modelc-opt %s "--kernels-build=target=b200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:256 tile=queries:128,keys:64,slots:2" --schedule-finish | %emit -o %t.h
// RUN: FileCheck %s --check-prefix=TEXT < %t.h
// RUN: %emulate -DKERNEL='"%t.h"' -DTHREADS=128 -DSHARED_KIB=227 -DDYNAMIC_BYTES=227*1024 -DQUERIES=128 -DHEAD_DIM=256 -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore %S/Inputs/prefill.cpp -o %t
// RUN: env EMULATOR_COPIES=lazy %t 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: env EMULATOR_COPIES=eager EMULATOR_MATRIX=lazy %t 2>&1 | FileCheck %s --implicit-check-not=race
// RUN: modelc-opt %s "--kernels-build=target=h200 family=attention-prefill shape=heads:4,kv_heads:2,head_dim:256 tile=queries:128,keys:64,waves:8,slots:2" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=256 -DSHARED_KIB=227 -DDYNAMIC_BYTES=227*1024 -DQUERIES=128 -DHEAD_DIM=256 %S/Inputs/prefill.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.h200 | FileCheck %s
// Results of 256 columns fill all registers of a lane: they start, change and
// end in tensor memory in chunks; without it they take half of the registers.

// TEXT: storeTensor(result, product2, 0);
// TEXT: storeTensor({{result.*}}, product2, 128);
// TEXT: loadTensor([[A:.*]], product2, 0);
// TEXT: storeTensor([[A]], product2, 0);
// TEXT: loadTensor([[B:.*]], product2, 128);
// TEXT: storeTensor([[B]], product2, 128);
// TEXT: < 256; {{.*}} += 64
// TEXT: loadTensor({{.*}}, product2, {{[a-zA-Z]+}});

// CHECK: prefill: right
