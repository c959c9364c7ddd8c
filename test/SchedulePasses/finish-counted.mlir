// RUN: %modelc-opt %s --schedule-finish | FileCheck %s
// A product of waves: copies run two trips ahead, counted.

// CHECK: #[[SHARED:.*]] = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096, 8192], column = [2, 4, 8, 16, 32, 64]) -> (byte = 16384)>
// Operands are exchanged: a lane owns eight neighbouring columns, of two fragments.
// CHECK: #[[C:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32, 16:0, 32:0], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = [0:64, 64:0])
// CHECK: #[[A:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32, 16:0, 32:0], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = [0:0, 64:0])
// CHECK: #[[B:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32, 4:0, 32:0], lane = [1:0, 2:0, 8:0, 16:0, 0:8, 0:16], wave = [64:0, 0:0])
// CHECK-LABEL: schedule.kernel @linear
// CHECK-SAME: shared_bytes = 98304 : i64, stage = #schedule<stage final>
// CHECK: %[[X:.*]] = schedule.alloc at 0 {conflict_degree = 1 : i64} : !schedule.tile<128x64xbf16, shared, #[[SHARED]], slots = 3>
// CHECK: %[[Y:.*]] = schedule.alloc at 49152
// CHECK: on workgroups attributes {order = array<i64: 8, 4>}
// The prologue: trips 0 and 1.
// CHECK: schedule.loop (%[[P:.*]]) = (%c0) to (%c2) on sequence
// CHECK: schedule.copy %{{.*}} to %[[X]][%[[P]]] valid(
// CHECK: schedule.copy %{{.*}} to %[[Y]][%[[P]]] :
// Two copies of 16 KiB by 4 waves of 64 lanes of 16 bytes: 4 entries each.
// CHECK: schedule.loop (%[[T:.*]]) = (%c0) to (%c128) on sequence carry
// CHECK-NEXT: schedule.wait {pending = 8 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK: %[[AHEAD:.*]] = arith.addi %[[T]], %c2
// CHECK: %[[LIVE:.*]] = arith.cmpi slt, %[[AHEAD]], %c128
// CHECK: %[[LIMIT:.*]] = arith.select %[[LIVE]], %{{.*}}, %c0
// CHECK: schedule.copy %{{.*}} to %[[X]][%[[AHEAD]]] valid(%[[LIMIT]])
// CHECK: schedule.copy %{{.*}} to %[[Y]][%[[AHEAD]]] valid(
// CHECK: schedule.load %[[X]][%[[T]]] {{.*}} -> !schedule.tile<128x64xbf16, register, #[[A]]>
// CHECK: schedule.load %[[Y]][%[[T]]] {{.*}} -> !schedule.tile<128x64xbf16, register, #[[B]]>
// CHECK: schedule.mma {{.*}} {exchanged = 2 : i64, grid = array<i64: 2, 2>, instruction = "Mfma16x16x32Bf16"} : <128x128xf32, register, #[[C]]>
// CHECK: schedule.wait {pending = 0 : i64, queue = #schedule<queue copies>}
// CHECK: schedule.store
module attributes {schedule.target = "mi355x"} {
schedule.kernel @linear(%a: !schedule.buffer<?x8192xbf16>, %w: !schedule.buffer<10240x8192xbf16>, %d: !schedule.buffer<?x10240xbf16>, %m: index)
    guard [#schedule.range<"m", 17 to 16384>] attributes {waves = 4 : i64, op_name = "linear"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 80 : index
  %steps = arith.constant 128 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x8192xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<10240x8192xbf16> -> !schedule.tile<128x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<128x64xbf16> -> !schedule.tile<128x128xf32>
      schedule.yield %r : !schedule.tile<128x128xf32>
    }
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32>) -> !schedule.tile<128x128xbf16>
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16>, !schedule.buffer<?x10240xbf16>
  }
}
}
