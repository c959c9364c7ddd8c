// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:128 set=cache.unit_rate='50 B/clk' explain" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:128 explain" -o /dev/null | FileCheck %s --check-prefix=SHARE
// Lanes that copy wait until the port of their unit has taken what they ask for,
// where a target knows how much that is.

// Of a trip 16384 B / 50 B/clk = 327.7 clk, asked for between the instructions of
// the product, which takes 419.4 clk: nobody waits. Sync 10, read 10 + 164 / 4 for
// the first piece of four, product 419.4: 480 clk.
// CHECK-LABEL: kernel among
// CHECK: L2 port: 327.7 clk = 16 KiB a trip of each of 1 workgroups on a unit [cache.unit_rate]
// CHECK: L2: {{.*}} [cache.l2_bandwidth]
// CHECK: dependences: 480.4 clk
// SHARE-LABEL: kernel among
// SHARE: L2 port: 327.7 clk = 16 KiB a trip of each of 1 workgroups on a unit [cache.l2_bandwidth]
// SHARE-NOT: L2:
// SHARE: dependences: 480.4 clk
schedule.kernel @among(%a: !schedule.buffer<?x6400xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c128 = arith.constant 128 : index
  %ahead = arith.constant 7 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 8>
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c10) on workgroups {
    %row = arith.muli %i, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      schedule.wait {queue = #schedule<queue copies>, pending = 6 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %ahead : index
      %k = arith.muli %next, %c64 : index
      %t0 = schedule.copy %a[%row, %k] to %A[%next] valid(%m) : !schedule.buffer<?x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 8>
      %x = schedule.load %A[%t] : !schedule.tile<128x64xbf16, shared, slots = 8> -> !schedule.tile<128x64xbf16, register>
      %s = schedule.mma %acc, %x, %x {instruction = "Toy16x16x16Bf16", grid = array<i64: 2, 2>} : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32>
      schedule.yield %s : !schedule.tile<128x128xf32>
    }
  }
}

// In front of a rendezvous they are waited for by themselves: 327.7 + 480.4 clk.
// CHECK-LABEL: kernel in_front
// CHECK: dependences: 808.1 clk {{.*}} cache.unit_rate
// SHARE-LABEL: kernel in_front
// SHARE: dependences: 480.4 clk
schedule.kernel @in_front(%a: !schedule.buffer<?x6400xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c128 = arith.constant 128 : index
  %ahead = arith.constant 7 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 8>
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c10) on workgroups {
    %row = arith.muli %i, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      %next = arith.addi %t, %ahead : index
      %k = arith.muli %next, %c64 : index
      %t0 = schedule.copy %a[%row, %k] to %A[%next] valid(%m) : !schedule.buffer<?x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 8>
      schedule.wait {queue = #schedule<queue copies>, pending = 6 : i64}
      schedule.sync workgroup
      %x = schedule.load %A[%t] : !schedule.tile<128x64xbf16, shared, slots = 8> -> !schedule.tile<128x64xbf16, register>
      %s = schedule.mma %acc, %x, %x {instruction = "Toy16x16x16Bf16", grid = array<i64: 2, 2>} : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32>
      schedule.yield %s : !schedule.tile<128x128xf32>
    }
  }
}
