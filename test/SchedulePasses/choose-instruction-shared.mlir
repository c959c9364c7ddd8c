// RUN: not modelc-opt %s "--kernels-build=target=h200 family=linear shape=columns:256,inputs:512 tile=m:96,n:64,k:64" --schedule-finish 2>&1 | FileCheck %s
// 64 and 32 rows share the columns: four waves multiply 64, but 32 are too few for them.
// CHECK: error: {{.*}}expected an instruction of as many waves as that of the product which shares an operand, got 'WgmmaBf16': take another tile
// CHECK: note: {{.*}}this one got 'MmaSync16x8x16Bf16'
