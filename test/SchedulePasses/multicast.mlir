// RUN: %modelc-opt %s "--kernels-build=target=h200 family=linear shape=columns:1024,inputs:1024 tile=m:128,n:256,k:64,waves:8,roles:1,sharers:2" --schedule-finish > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %modelc-opt %s "--kernels-build=target=h200 family=linear shape=columns:1024,inputs:1024 tile=m:256,n:128,k:64,waves:8,roles:1,sharers:2,swapped:1" --schedule-finish | FileCheck %s --check-prefix=SWAPPED
// Neighbours along the rows read the same weight: each asks for its half of the rows, and
// both get all of them. All waves of both leave a slot before it is filled, and neither
// ends before the other.

// CHECK: schedule.kernel @linear({{.*}}cluster = 2
// CHECK: %[[FULL:.*]] = schedule.alloc {{.*}} !schedule.barrier<1, slots = 4>
// CHECK: %[[EMPTY:.*]] = schedule.alloc {{.*}} !schedule.barrier<16, slots = 4 to all>
// CHECK: schedule.arrive %[[EMPTY]]
// CHECK: schedule.wait on %[[EMPTY]]
// CHECK: schedule.arrive %[[FULL]]{{.*}}bytes = 49152
// CHECK: schedule.copy {{.*}} arrives(%[[FULL]] {{.*}} {box} : !schedule.buffer<?x1024xbf16>
// CHECK: schedule.copy {{.*}} arrives(%[[FULL]] {{.*}} {box, multicast} : !schedule.buffer<1024x1024xbf16>
// CHECK: schedule.sync cluster
// SWAPPED: {box, multicast} : !schedule.buffer<1024x1024xbf16>

// Products into tensor memory signal by themselves, to one workgroup or a pair.
// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:1024,inputs:1024 tile=m:256,n:128,k:64,waves:4,roles:1,sharers:2" --schedule-finish | FileCheck %s --check-prefix=TENSOR
// TENSOR-NOT: multicast
// TENSOR-NOT: to all
