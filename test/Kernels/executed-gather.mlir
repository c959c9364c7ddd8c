// RUN: modelc-opt %s "--kernels-build=target=mi355x family=gather shape=columns:200,last:1 tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DLAST -DTOLERANCE=0 %S/Inputs/rows.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=gather shape=columns:200,last:1 tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DLAST -DTOLERANCE=0 %S/Inputs/rows.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=gather shape=columns:200,last:1 tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.b200.h
// RUN: %emulate -DKERNEL='"%t.b200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DLAST -DTOLERANCE=0 %S/Inputs/rows.cpp -o %t.b200
// RUN: env EMULATOR_COPIES=lazy %t.b200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.b200 | FileCheck %s
// The last token of each sequence.

// CHECK: rows: right
