// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:128 explain" -o /dev/null | FileCheck %s
// RUN: rm -rf %t && mkdir %t && sed 's/^exp2 = /exp2_stalls_matrix = 1\n&/' %src_root/test/targets/toy.toml > %t/toy.toml
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%t sizes=m:128 explain" -o /dev/null | FileCheck %s --check-prefix=STALLS
// Exponentials that the vector units take leave their own unit to the others.

// 128 x 128 exponentials / 10 op/clk = 1638 clk.
// CHECK-LABEL: kernel whole
// CHECK-NOT: matrix unit
// CHECK: exponentials: 1638 clk
// Where products stand still meanwhile, an expectation counts them there too.
// STALLS-LABEL: kernel whole
// STALLS: matrix unit: 1638 clk = 0 flop and 16.4 kop of exponentials a trip
// STALLS-SAME: execution.exp2_stalls_matrix
// STALLS: exponentials: 1638 clk
schedule.kernel @whole(%d: !schedule.buffer<?x128xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i) = (%c0) to (%rows) on workgroups {
    %row = arith.muli %i, %c128 : index
    %x = schedule.load %d[%row, %c0] valid(%m) : !schedule.buffer<?x128xf32> -> !schedule.tile<128x128xf32>
    %y = schedule.loop (%t) = (%c0) to (%c10) on sequence carry(%p = %x) : !schedule.tile<128x128xf32> {
      %q = schedule.map (%p) {
      ^bb0(%v: f32, %r: index, %c: index):
        %e = math.exp2 %v : f32
        schedule.yield %e : f32
      } : (!schedule.tile<128x128xf32>) -> (!schedule.tile<128x128xf32>)
      schedule.yield %q : !schedule.tile<128x128xf32>
    }
    schedule.store %y, %d[%row, %c0] valid(%m) : !schedule.tile<128x128xf32>, !schedule.buffer<?x128xf32>
  }
}

// Two of eight: 6 / 8 x 16384 / 10 op/clk = 1229 clk, and beside them 2 / 8 x
// 16384 x 10 instructions / 50 a clock = 819 clk.
// CHECK-LABEL: kernel split
// CHECK-DAG: exponentials: 1229 clk
// CHECK-DAG: vector units: 819.2 clk
schedule.kernel @split(%d: !schedule.buffer<?x128xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i) = (%c0) to (%rows) on workgroups {
    %row = arith.muli %i, %c128 : index
    %x = schedule.load %d[%row, %c0] valid(%m) : !schedule.buffer<?x128xf32> -> !schedule.tile<128x128xf32>
    %y = schedule.loop (%t) = (%c0) to (%c10) on sequence carry(%p = %x) : !schedule.tile<128x128xf32> {
      %q = schedule.map (%p) {
      ^bb0(%v: f32, %r: index, %c: index):
        %e = math.exp2 %v : f32
        schedule.yield %e : f32
      } {fma_exponentials = 2 : i64} : (!schedule.tile<128x128xf32>) -> (!schedule.tile<128x128xf32>)
      schedule.yield %q : !schedule.tile<128x128xf32>
    }
    schedule.store %y, %d[%row, %c0] valid(%m) : !schedule.tile<128x128xf32>, !schedule.buffer<?x128xf32>
  }
}
