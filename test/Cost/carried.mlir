// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:64 explain" -o /dev/null | FileCheck %s
// What a loop loads trips ahead and hands from value to value has come by then: memory
// answers after 1000 clk, 256 B are 5 clk at the L2 port, and an addition of 5 clk ends
// the trip. It is used two trips later, behind the load of that trip: three trips.
// CHECK-LABEL: kernel two
// CHECK: loop 1: {{.*}} + 100 trips
// CHECK: dependences: 336.7 clk
schedule.kernel @two(%x: !schedule.buffer<?x6400xf32>, %y: !schedule.buffer<?x64xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 1 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %first = schedule.load %x[%i, %c0] : !schedule.buffer<?x6400xf32> -> !schedule.tile<1x64xf32>
    %second = schedule.load %x[%i, %c1] : !schedule.buffer<?x6400xf32> -> !schedule.tile<1x64xf32>
    %sum:3 = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%s = %first, %a = %first, %b = %second) : !schedule.tile<1x64xf32>, !schedule.tile<1x64xf32>, !schedule.tile<1x64xf32> {
      %u = arith.addi %t, %c2 : index
      %later = schedule.load %x[%i, %u] : !schedule.buffer<?x6400xf32> -> !schedule.tile<1x64xf32>
      %next = schedule.map (%s, %a) {
      ^bb0(%e: f32, %f: f32, %r: index, %q: index):
        %g = arith.addf %e, %f : f32
        schedule.yield %g : f32
      } : (!schedule.tile<1x64xf32>, !schedule.tile<1x64xf32>) -> (!schedule.tile<1x64xf32>)
      schedule.yield %next, %b, %later : !schedule.tile<1x64xf32>, !schedule.tile<1x64xf32>, !schedule.tile<1x64xf32>
    }
    schedule.store %sum#0, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
