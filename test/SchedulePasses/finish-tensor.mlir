// RUN: %modelc-opt %s --schedule-finish | FileCheck %s
// One thread multiplies from shared into tensor memory; boxes refill a slot when
// the product that read it is done; the accumulator is drained in two chunks.
// The accumulator is drained as each wave can read it: a lane one row.
// CHECK: #[[DRAIN:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:8, 0:16, 0:32], lane = [1:0, 2:0, 4:0, 8:0, 16:0], wave = [32:0, 64:0])
// CHECK-LABEL: schedule.kernel @linear
// CHECK-SAME: tensor_columns = 128
// CHECK: %[[X:.*]] = schedule.alloc at 0 {conflict_degree = 1 : i64} : !schedule.tile<128x64xbf16, shared, #{{.*}}, slots = 4>
// CHECK: %[[FULL:.*]] = schedule.alloc at 131072 : !schedule.barrier<1, slots = 4>
// CHECK: %[[Y:.*]] = schedule.alloc at 65536
// CHECK: %[[D:.*]] = schedule.alloc at 0 : !schedule.tile<128x128xf32, tensor>
// CHECK: %[[EMPTY:.*]] = schedule.alloc at {{.*}} : !schedule.barrier<1, slots = 4>
// CHECK: %[[DONE:.*]] = schedule.alloc at {{.*}} : !schedule.barrier<1>
// CHECK: schedule.loop (%[[P:.*]]) = (%c0) to (%c3) on sequence {
// CHECK-NEXT: schedule.arrive %[[FULL]][%[[P]]] {bytes = 32768 : i64}
// CHECK: schedule.copy {{.*}} to %[[X]][%[[P]]] valid({{.*}}) arrives(%[[FULL]] {{.*}} {box}
// CHECK: schedule.copy {{.*}} to %[[Y]][%[[P]]] arrives(%[[FULL]] {{.*}} {box}
// CHECK: schedule.loop (%[[T:.*]]) = (%c0) to (%c128) on sequence {
// CHECK: %[[LATER:.*]] = arith.cmpi sgt, %[[T]], %c0
// CHECK: schedule.wait on %[[FULL]][%[[T]]]
// CHECK: %[[TOKEN:.*]] = schedule.mma %[[D]], %[[X]][%[[T]]], %[[Y]][%[[T]]] init(%[[LATER]] : i1) {{.*}} instruction = "Tcgen05Bf16"
// CHECK: schedule.arrive %[[EMPTY]][%[[T]]] after(%[[TOKEN]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[T]], %c3
// CHECK: schedule.loop
// CHECK: %[[LAST:.*]] = arith.addi %[[T]], %c-1
// CHECK: schedule.wait on %[[EMPTY]][%[[LAST]]]
// CHECK: schedule.arrive %[[FULL]][%[[NEXT]]] {bytes = 32768 : i64}
// CHECK: schedule.arrive %[[DONE]][%c0]
// CHECK: schedule.wait on %[[DONE]][%c0]
// CHECK: schedule.loop (%[[CHUNK:.*]]) = (%c0) to (%c128) step (%c64) on sequence {
// CHECK: schedule.load %[[D]][%c0, %[[CHUNK]]] : {{.*}} -> !schedule.tile<128x64xf32, register, #[[DRAIN]]>
module attributes {schedule.target = "b200"} {
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
