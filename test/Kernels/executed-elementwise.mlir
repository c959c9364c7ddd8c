// RUN: modelc-opt %s "--kernels-build=target=mi355x family=elementwise shape=columns:200 tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.mi355x.h
// RUN: %emulate -DKERNEL='"%t.mi355x.h"' -DTHREADS=64 -DDYNAMIC_BYTES=0 -DADD -DTOLERANCE=0.004 %S/Inputs/rows.cpp -o %t.mi355x
// RUN: env EMULATOR_COPIES=lazy %t.mi355x | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.mi355x | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=elementwise shape=columns:200 tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.h200.h
// RUN: %emulate -DKERNEL='"%t.h200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DADD -DTOLERANCE=0.004 %S/Inputs/rows.cpp -o %t.h200
// RUN: env EMULATOR_COPIES=lazy %t.h200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.h200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=b200 family=elementwise shape=columns:200 tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.b200.h
// RUN: %emulate -DKERNEL='"%t.b200.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DADD -DTOLERANCE=0.004 %S/Inputs/rows.cpp -o %t.b200
// RUN: env EMULATOR_COPIES=lazy %t.b200 | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=3 %t.b200 | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=elementwise shape=columns:200,kind:narrow types=result:f8E4M3FN tile=rows:2,n:128,waves:1" --schedule-finish | %emit -o %t.narrow.h
// RUN: %emulate -DKERNEL='"%t.narrow.h"' -DTHREADS=32 -DDYNAMIC_BYTES=163840 -DNARROW -DTOLERANCE=0.51 %S/Inputs/rows.cpp -o %t.narrow
// RUN: env EMULATOR_COPIES=lazy %t.narrow | FileCheck %s
// Sums, and numbers of 8 bits over a scale, of ragged rows
// and columns.

// CHECK: rows: right
