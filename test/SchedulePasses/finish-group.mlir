// RUN: %modelc-opt %s --schedule-finish | FileCheck %s
// Four waves multiply from shared memory into registers; one product flies.
// CHECK: #[[C:.*]] = #schedule.layout<(register = [0:1, 8:0, 0:8, 0:16, 0:32, 0:64, 64:0], lane = [0:2, 0:4, 1:0, 2:0, 4:0], wave = [16:0, 32:0])
// CHECK-LABEL: schedule.kernel @linear
// CHECK: schedule.wait on %[[FULL:.*]][%[[T:.*]]] :
// CHECK: schedule.mma %{{.*}}, %{{.*}}[%[[T]]], %{{.*}}[%[[T]]] {asynchronous, grid = array<i64: 1, 1>, instruction = "WgmmaBf16"} : <128x128xf32, register, #[[C]]>
// CHECK-NEXT: schedule.wait {pending = 1 : i64, queue = #schedule<queue matrix>}
// CHECK-NEXT: schedule.sync
// CHECK: %[[NEXT:.*]] = arith.addi %[[T]], %c3
// CHECK: schedule.arrive %[[FULL]][%[[NEXT]]]
// CHECK: schedule.yield
// CHECK: schedule.wait {pending = 0 : i64, queue = #schedule<queue matrix>}
module attributes {schedule.target = "h200"} {
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
