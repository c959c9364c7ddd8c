// RUN: %modelc-opt %s "--kernels-build=target=h200 family=linear shape=columns:256,inputs:256,swiglu:1 tile=m:64,n:64,k:64" --schedule-choose-instruction --schedule-place-operands | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:256,inputs:256,swiglu:1 tile=m:128,n:64,k:64,roles:1,cluster:2" --schedule-finish | FileCheck %s --check-prefix=ROLES
// What two products of a trip read arrives before the first of them.

// CHECK: schedule.arrive %{{.*}} {bytes = 24576 : i64}
// CHECK: schedule.copy
// CHECK: schedule.copy
// CHECK: schedule.copy
// CHECK-NEXT: schedule.wait on
// CHECK: schedule.mma
// CHECK-NOT: schedule.wait
// CHECK: schedule.mma

// ROLES: schedule.role "matrix" waves(5, 1) elect leader {
// ROLES: schedule.wait on
// ROLES: schedule.mma
// ROLES-NOT: schedule.wait
// ROLES: schedule.mma
