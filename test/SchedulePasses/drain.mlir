// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:512,inputs:512,residual:1 types=bias:bf16 tile=m:128,n:256,k:64,waves:4" --schedule-choose-instruction --schedule-place-operands --schedule-drain | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:512,inputs:512,swiglu:1 tile=m:128,n:128,k:64,waves:4" --schedule-choose-instruction --schedule-place-operands --schedule-drain | FileCheck %s --check-prefix=GATED
// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:512,inputs:512 tile=m:128,n:64,k:64,waves:4" --schedule-choose-instruction --schedule-place-operands --schedule-drain | FileCheck %s --check-prefix=NARROW
// Accumulators come to registers in chunks of columns, with what is read beside
// them; a narrow one at once.

// CHECK: schedule.loop (%[[Q:.*]]) = (%{{.*}}) to (%c256{{.*}}) step (%c64{{.*}}) on sequence {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT: schedule.load %{{.*}}[%[[ZERO]], %[[Q]]] : !schedule.tile<128x256xf32, tensor> -> !schedule.tile<128x64xf32>
// CHECK-NEXT: %[[B:.*]] = arith.addi %{{.*}}, %[[Q]]
// CHECK-NEXT: schedule.load %{{.*}}[%[[B]]] {dims = array<i64: 0, 0>} : !schedule.buffer<512xbf16> -> !schedule.tile<1x64xbf16>
// CHECK-NEXT: %[[R:.*]] = arith.addi %{{.*}}, %[[Q]]
// CHECK-NEXT: schedule.load %{{.*}}[%{{.*}}, %[[R]]] valid({{.*}}) {{.*}} -> !schedule.tile<128x64xbf16>
// CHECK: schedule.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] valid({{.*}}) : !schedule.tile<128x64xbf16>
// CHECK-NOT: schedule.store

// GATED: step (%c32{{.*}}) on sequence {
// GATED: schedule.load {{.*}} : !schedule.tile<128x128xf32, tensor> -> !schedule.tile<128x32xf32>
// GATED-NEXT: arith.constant
// GATED-NEXT: schedule.load {{.*}} : !schedule.tile<128x128xf32, tensor> -> !schedule.tile<128x32xf32>
// GATED: schedule.store {{.*}} : !schedule.tile<128x32xbf16>

// NARROW-NOT: step (
// NARROW: schedule.load %{{.*}}[] : !schedule.tile<128x64xf32, tensor> -> !schedule.tile<128x64xf32>
module {}
