// RUN: %modelc-opt %s "--schedule-pipeline=targets-dir=%src_root/test/targets" | FileCheck %s
// Copies run slots - 1 trips ahead; a copy whose place depends on the trip
// before cannot.

module attributes {schedule.target = "toy"} {
// CHECK-LABEL: @ahead
schedule.kernel @ahead(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64, slots = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[RING:.*]] = schedule.alloc : !schedule.tile<32x64xf32, shared, slots = 4>
  %ring = schedule.alloc : !schedule.tile<32x64xf32, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // Trips 0 to 2 of a loop from 2 in steps of 2; rows past the end are cut.
    // CHECK: schedule.loop (%[[P:.*]]) = (%{{.*}}) to (%c3)
    // CHECK: %[[STEP:.*]] = arith.muli %[[P]], %c2
    // CHECK: %[[AT:.*]] = arith.addi %[[STEP]], %c2
    // CHECK: %[[LIVE:.*]] = arith.cmpi slt, %[[AT]], %[[M:.*]] :
    // CHECK: arith.select %[[LIVE]], %{{.*}}, %c0
    // CHECK: schedule.copy
    // CHECK: schedule.loop (%[[T:.*]]) = (%c2{{[_0-9]*}}) to (%[[M]]) step (%c2{{[_0-9]*}})
    schedule.loop (%t) = (%c2) to (%m) step (%c2) on sequence {
      // CHECK-NEXT: schedule.wait {queue = #schedule<queue copies>}
      // CHECK-NEXT: schedule.sync
      // CHECK: schedule.copy {{.*}} to %[[RING]][
      %from = arith.subi %t, %c2 : index
      %trip = arith.divsi %from, %c2 : index
      %k = schedule.copy %a[%t, %c0] to %ring[%trip] : !schedule.buffer<?x64xf32>, !schedule.tile<32x64xf32, shared>
      schedule.wait %k
      schedule.sync workgroup
      // CHECK: schedule.load %[[RING]][
      %x = schedule.load %ring[%trip] : !schedule.tile<32x64xf32, shared> -> !schedule.tile<32x64xf32, register>
    }
    // CHECK: schedule.wait {queue = #schedule<queue copies>}
  }
}

// CHECK-LABEL: @chased
schedule.kernel @chased(%a: !schedule.buffer<?x64xf32>, %next: !schedule.buffer<?xindex>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[ONE:.*]] = schedule.alloc : !schedule.tile<32x64xf32, shared>
  %place = schedule.alloc : !schedule.tile<32x64xf32, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: schedule.loop
    %end = schedule.loop (%t) = (%c0) to (%m) on sequence carry(%row = %i) : index {
      // CHECK: schedule.copy {{.*}} to %[[ONE]][
      // CHECK-NEXT: schedule.wait {queue = #schedule<queue copies>}
      // CHECK-NEXT: schedule.sync
      %k = schedule.copy %a[%row, %c0] to %place[%t] : !schedule.buffer<?x64xf32>, !schedule.tile<32x64xf32, shared>
      schedule.wait %k
      schedule.sync workgroup
      %x = schedule.load %place[%t] : !schedule.tile<32x64xf32, shared> -> !schedule.tile<32x64xf32, register>
      %r = schedule.load %next[%row] : !schedule.buffer<?xindex> -> index
      // CHECK: schedule.sync
      // CHECK-NEXT: schedule.yield
      schedule.yield %r : index
    }
  }
}
}
