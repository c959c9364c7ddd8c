// RUN: modelc-opt %s --kernels-lower=target=h200 | FileCheck %s
// RUN: modelc-opt %s --kernels-lower=target=b200 | FileCheck %s

// Long sums of few columns are cut, also of many rows, while the parts stay in
// the last cache; where the grid fills the machine nothing is.
// CHECK-DAG: schedule.kernel @linear_64x16384_bf16_m16({{.*}}note = "{{[^"]*}}, 32 parts of the sum
// CHECK-DAG: schedule.kernel @linear_64x16384_bf16_m2048({{.*}}note = "{{[^"]*}} parts of the sum
// CHECK-DAG: schedule.kernel @linear_16384x64_bf16_m2048({{.*}}note = "{{[0-9x]+}}, {{[48]}} waves{{(, weight first)?}}: best preview

