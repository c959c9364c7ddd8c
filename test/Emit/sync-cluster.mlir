// RUN: %emit %s --target=h100 -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: %if nvcc %{ %cuda -arch=sm_90a -cubin %t.cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX --allow-empty %}
// PTX-NOT: error
// Workgroups of a cluster meet where the machine has clusters.

// CHECK-LABEL: meet(
// CHECK: syncCluster();
schedule.kernel @meet(%x: !schedule.buffer<?xi32>, %m: index)
    guard [#schedule.range<"m", 1 to 4096>] attributes {waves = 2 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.sync cluster
  }
}
