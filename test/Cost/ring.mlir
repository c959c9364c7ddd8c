// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:128 explain" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:1280 explain" -o /dev/null | FileCheck %s --check-prefix=FULL
// The slots of a ring decide how much of the copies' latency a trip sees. No
// rule says so: the wait counts two (four) later copies, so it waits for those
// of two (three) trips ago.


// A copy takes 1000 clk + 16384 B / 50 B/clk = 1328 clk and is awaited two trips
// later, after a sync of 10 clk: (1328 + 10) / 2 = 669 clk a trip. Event by event
// the second copy of a trip comes behind the first through the L2 port: 1000 + 2 x
// 328 and the sync, (1655 + 10) / 2 = 833 clk. Units need
// less: L2 port 32768 / 50 = 655, shared memory (32768 landing + 32768 read)
// / 100 = 655, matrix unit 2 * 128 * 128 * 64 / 10000 = 210, twice that at the
// expected efficiency of 0.5.
// CHECK-LABEL: kernel three
// CHECK: bound: {{.*}} bound by latency
// CHECK: loop 2: {{.*}} + 100 trips x 832.7 clk)
// CHECK-NEXT: matrix unit: 419.4 clk = 2.1 Mflop {{.*}} [mma.Toy16x16x16Bf16.rate, efficiency.matrix.bf16]
// CHECK-NEXT: shared memory: 655.4 clk = 64 KiB
// CHECK-NEXT: L2 port: 655.4 clk = 32 KiB
// CHECK: dependences: 668.8 clk
// CHECK: workgroups that a unit runs at once: 1 [shared.bytes_per_unit]
schedule.kernel @three(%a: !schedule.buffer<?x6400xbf16>, %w: !schedule.buffer<1280x6400xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c128 = arith.constant 128 : index
  %ahead = arith.constant 2 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 3>
  %B = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 3>
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c10) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    schedule.loop (%p) = (%c0) to (%ahead) on sequence {
      %k = arith.muli %p, %c64 : index
      %t0 = schedule.copy %a[%row, %k] to %A[%p] valid(%m) : !schedule.buffer<?x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 3>
      %t1 = schedule.copy %w[%column, %k] to %B[%p] : !schedule.buffer<1280x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 3>
    }
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      schedule.wait {queue = #schedule<queue copies>, pending = 2 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %ahead : index
      %k = arith.muli %next, %c64 : index
      %t0 = schedule.copy %a[%row, %k] to %A[%next] valid(%m) : !schedule.buffer<?x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 3>
      %t1 = schedule.copy %w[%column, %k] to %B[%next] : !schedule.buffer<1280x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 3>
      %x = schedule.load %A[%t] : !schedule.tile<128x64xbf16, shared, slots = 3> -> !schedule.tile<128x64xbf16, register>
      %y = schedule.load %B[%t] : !schedule.tile<128x64xbf16, shared, slots = 3> -> !schedule.tile<128x64xbf16, register>
      %s = schedule.mma %acc, %x, %y {instruction = "Toy16x16x16Bf16", grid = array<i64: 2, 2>} : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32>
      schedule.yield %s : !schedule.tile<128x128xf32>
    }
  }
}

// With a fourth slot the copies span three trips, and now two units bind. Waiting
// for a copy no longer decides: sync 10 + read 10 + 164 / 4 for the first of
// four pieces + matrix 419 = 480 clk.
// CHECK-LABEL: kernel four
// CHECK: bound: {{.*}} bound by {{shared memory|L2 port}}
// The first bytes of all workgroups come from device memory one after the other: of
// 10 workgroups 180 kB at 0.8 TB/s, 225 clk, of 100, which share panels, 328 kB, 410.
// CHECK: loop 2: {{.*}} (1388 clk to fill + 100 trips x 655.4 clk)
// FULL-LABEL: kernel four
// FULL: loop 2: {{.*}} (1572 clk to fill + 100 trips x 655.4 clk)
// CHECK: dependences: 480.4 clk
schedule.kernel @four(%a: !schedule.buffer<?x6400xbf16>, %w: !schedule.buffer<1280x6400xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c128 = arith.constant 128 : index
  %ahead = arith.constant 3 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 4>
  %B = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 4>
  %rows = arith.ceildivsi %m, %c128 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c10) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    schedule.loop (%p) = (%c0) to (%ahead) on sequence {
      %k = arith.muli %p, %c64 : index
      %t0 = schedule.copy %a[%row, %k] to %A[%p] valid(%m) : !schedule.buffer<?x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
      %t1 = schedule.copy %w[%column, %k] to %B[%p] : !schedule.buffer<1280x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
    }
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      schedule.wait {queue = #schedule<queue copies>, pending = 4 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %ahead : index
      %k = arith.muli %next, %c64 : index
      %t0 = schedule.copy %a[%row, %k] to %A[%next] valid(%m) : !schedule.buffer<?x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
      %t1 = schedule.copy %w[%column, %k] to %B[%next] : !schedule.buffer<1280x6400xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
      %x = schedule.load %A[%t] : !schedule.tile<128x64xbf16, shared, slots = 4> -> !schedule.tile<128x64xbf16, register>
      %y = schedule.load %B[%t] : !schedule.tile<128x64xbf16, shared, slots = 4> -> !schedule.tile<128x64xbf16, register>
      %s = schedule.mma %acc, %x, %y {instruction = "Toy16x16x16Bf16", grid = array<i64: 2, 2>} : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32>
      schedule.yield %s : !schedule.tile<128x128xf32>
    }
  }
}
