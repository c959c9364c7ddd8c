// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:128" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:1280" -o /dev/null | FileCheck %s --check-prefix=FULL
// A plain loop overlaps nothing: its trip is the sum of its latencies.

// A trip: 1000 clk of latency + 16384 B / 50 B/clk / 4 for the first of four
// pieces + 2 * 128 * 128 * 64 flop / 10000 flop/clk = 1000 + 82 + 210 = 1292 clk;
// ten of them and, at the end, 16384 conversions / 100 and 32768 B / 50 =
// 164 + 655 clk: 13.8 us at 1 GHz, and 1 us of launch. All workgroups ask for
// the bytes of their first trip at once: 180 kB at 1 TB/s, 0.18 us.
// Expected: half the matrix rate, 2.1 us more, and the second operand comes
// through the L2 port behind the first: 16384 / 50 = 328 clk a trip, 3.28 us, in
// which the first bytes of the others lie. All store at once too: a copy reaches
// half the bandwidth and a read 0.8 of it, so that 1 / (2 / 0.5 - 1 / 0.8) = 0.364
// is left to writes: 328 kB are 901 clk, 0.25 us more than the L2 port takes.
// Energy: 2 * 128 * 1280 * 640 flop x 1 pJ = 0.21 mJ; A is read once (0.16 MB
// for 10 workgroups), W once, D written: 2.13 MB x 100 pJ = 0.21 mJ; 3.6 MB from
// L2 x 10 pJ = 0.036 mJ; 100 W x 14.95 us = 1.5 mJ.
// CHECK: kernel linear
// CHECK-NEXT: bound: 14.95 us, 1.954 mJ, bound by latency
// CHECK-NEXT: expectation: 20.36 us, 2.494 mJ, bound by latency
// Ten times as many workgroups, one on each unit, store ten times the bytes at
// the same time, 8.11 us longer, and their first bytes, 328 kB at 0.8 TB/s, come
// 0.08 us after those that the first trip asks for.
// FULL: expectation: 28.56 us, {{.*}} bound by latency
// 16384 accumulators and operands over 128 threads: two workgroups' registers.
// CHECK-NEXT: workgroups: 10, 2 on a unit, 0.05 rounds
// CHECK-NEXT: matrix: 209.7 Mflop, memory: 1.719 MiB read, 320 KiB written, L2: 3.438 MiB
schedule.kernel @linear(%a: !schedule.buffer<?x640xbf16>, %w: !schedule.buffer<1280x640xbf16>, %d: !schedule.buffer<?x1280xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c10) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %c = schedule.loop (%t) = (%c0) to (%c10) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x640xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<1280x640xbf16> -> !schedule.tile<128x64xbf16>
      %s = schedule.mma %acc, %x, %y : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<128x64xbf16> -> !schedule.tile<128x128xf32>
      schedule.yield %s : !schedule.tile<128x128xf32>
    }
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32>) -> (!schedule.tile<128x128xbf16>)
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16>, !schedule.buffer<?x1280xbf16>
  }
}
