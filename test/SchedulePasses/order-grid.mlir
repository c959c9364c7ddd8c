// RUN: %modelc-opt %s --schedule-order-grid | FileCheck %s
// Products of two dimensions are ordered by chiplet and groups of rows; an order
// that is given stays. Prefill names heads that follow one another.
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:64,keys:64,together:4" --schedule-order-grid | FileCheck %s --check-prefix=HEADS
// HEADS: on workgroups attributes {order = array<i64: 1, 4>}

module attributes {schedule.target = "mi355x"} {
// CHECK-LABEL: @product
schedule.kernel @product(%c: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  // 8 chiplets of 32 units: 4 rows of 8 tiles each.
  // CHECK: on workgroups attributes {order = array<i64: 8, 4>}
  schedule.loop (%i, %j) = (%c0, %c0) to (%m, %m) on workgroups {
    %x = schedule.load %c[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<16x16xf32>
    %r = schedule.mma %x, %x, %x : !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32> -> !schedule.tile<16x16xf32>
  }
}

// CHECK-LABEL: @given
schedule.kernel @given(%c: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  // CHECK: on workgroups attributes {order = array<i64: 1, 2>}
  schedule.loop (%i, %j) = (%c0, %c0) to (%m, %m) on workgroups attributes {order = array<i64: 1, 2>} {
    %x = schedule.load %c[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<16x16xf32>
    %r = schedule.mma %x, %x, %x : !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32> -> !schedule.tile<16x16xf32>
  }
}

// CHECK-LABEL: @rows
schedule.kernel @rows(%c: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  // CHECK: on workgroups {
  schedule.loop (%i, %j) = (%c0, %c0) to (%m, %m) on workgroups {
    %x = schedule.load %c[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<16x16xf32>
  }
}
}
