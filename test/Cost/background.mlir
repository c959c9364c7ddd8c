// RUN: %modelc-opt %s --schedule-print-cost="target=%S/Inputs/toy-async.toml targets-dir=%src_root/test/targets sizes=m:100 explain" -o /dev/null | FileCheck %s
// Matrix instructions in the background and copies that signal barriers.

// The accumulator is added to in the pipe, so matrix work follows matrix work:
// 2 * 64 * 64 * 64 / 1000 = 524 clk, twice that at an efficiency of 0.5. The
// bound is device memory: 8192 B of A, 0.98 times a trip (no copies in the last
// two), from each of 100 workgroups at 1 TB/s, and W once for all: 811 clk.
// The expectation follows the copies: A waits for device memory at 80 %, 1014 clk,
// W behind it, both for 1000 clk of latency, and boxes land beside what the
// product reads: 2102 clk over two trips. Before the memory is busy all the
// time requests queue: copies take 1164 clk and run two trips ahead.
// CHECK-LABEL: kernel group
// CHECK: bound: 83.{{.*}} bound by device memory
// CHECK: loop 1: {{.*}} + 100 trips x 1092 clk)
// CHECK-NEXT: matrix unit: 1049 clk = 524 kflop
// CHECK: dependences: 1049 clk
// CHECK: copies queue: 1092 clk
// CHECK: in turns on the units: 1051 clk
schedule.kernel @group(%a: !schedule.buffer<?x6400xbf16>, %w: !schedule.buffer<64x6400xbf16>, %m: index)
    guard [] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %A = schedule.alloc : !schedule.tile<64x64xbf16, shared, slots = 4>
  %B = schedule.alloc : !schedule.tile<64x64xbf16, shared, slots = 4>
  %full = schedule.alloc : !schedule.barrier<1, slots = 4>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %row = arith.muli %i, %c64 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<64x64xf32, register>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<64x64xf32, register> {
      schedule.wait on %full[%t] : !schedule.barrier<1, slots = 4>
      %s = schedule.mma %acc, %A[%t], %B[%t] {instruction = "ToyGroup", asynchronous} : !schedule.tile<64x64xf32, register>, !schedule.tile<64x64xbf16, shared, slots = 4>, !schedule.tile<64x64xbf16, shared, slots = 4> -> !schedule.tile<64x64xf32, register>
      schedule.wait {queue = #schedule<queue matrix>, pending = 1 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = arith.muli %next, %c64 : index
      %left = arith.cmpi slt, %next, %c100 : index
      %more = arith.select %left, %c1, %c0 : index
      schedule.loop (%x) = (%c0) to (%more) on sequence {
        schedule.arrive %full[%next] {bytes = 16384 : i64} : !schedule.barrier<1, slots = 4>
        %e = schedule.copy %a[%row, %k] to %A[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x6400xbf16>, !schedule.tile<64x64xbf16, shared, slots = 4>
        %f = schedule.copy %w[%c0, %k] to %B[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<64x6400xbf16>, !schedule.tile<64x64xbf16, shared, slots = 4>
      }
      schedule.yield %s : !schedule.tile<64x64xf32, register>
    }
    schedule.wait {queue = #schedule<queue matrix>, pending = 0 : i64}
  }
}

// Trip t waits for the product of t - 1 to leave its slot, and the product of
// t + 1 follows: (1049 + 100) / 2 clk; a copy takes 1000 + 8192 / 50 = 1164 clk
// and spans three trips. Matrix work hides both.
// CHECK-LABEL: kernel tensor
// CHECK: loop 1: {{.*}} + 100 trips x 1049 clk)
// CHECK: dependences: 574.3 clk
schedule.kernel @tensor(%a: !schedule.buffer<?x6400xbf16>, %w: !schedule.buffer<64x6400xbf16>, %m: index)
    guard [] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %A = schedule.alloc : !schedule.tile<64x64xbf16, shared, slots = 4>
  %B = schedule.alloc : !schedule.tile<64x64xbf16, shared, slots = 4>
  %D = schedule.alloc at 0 : !schedule.tile<64x64xf32, tensor>
  %full = schedule.alloc : !schedule.barrier<1, slots = 4>
  %empty = schedule.alloc : !schedule.barrier<1, slots = 4>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %row = arith.muli %i, %c64 : index
    schedule.loop (%t) = (%c0) to (%c100) on sequence {
      schedule.wait on %full[%t] : !schedule.barrier<1, slots = 4>
      %first = arith.cmpi sgt, %t, %c0 : index
      %s = schedule.mma %D, %A[%t], %B[%t] init(%first : i1) {instruction = "ToyTensor", asynchronous} : !schedule.tile<64x64xf32, tensor>, !schedule.tile<64x64xbf16, shared, slots = 4>, !schedule.tile<64x64xbf16, shared, slots = 4> -> !schedule.token
      schedule.arrive %empty[%t] after(%s) : !schedule.barrier<1, slots = 4>
      %next = arith.addi %t, %c3 : index
      %last = arith.subi %t, %c1 : index
      %k = arith.muli %next, %c64 : index
      %left = arith.cmpi slt, %next, %c100 : index
      %more = arith.select %left, %c1, %c0 : index
      schedule.loop (%x) = (%c0) to (%more) on sequence {
        schedule.wait on %empty[%last] : !schedule.barrier<1, slots = 4>
        schedule.arrive %full[%next] {bytes = 16384 : i64} : !schedule.barrier<1, slots = 4>
        %e = schedule.copy %a[%row, %k] to %A[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x6400xbf16>, !schedule.tile<64x64xbf16, shared, slots = 4>
        %f = schedule.copy %w[%c0, %k] to %B[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<64x6400xbf16>, !schedule.tile<64x64xbf16, shared, slots = 4>
      }
    }
    %v = schedule.load %D[] : !schedule.tile<64x64xf32, tensor> -> !schedule.tile<64x64xf32, register>
  }
}
