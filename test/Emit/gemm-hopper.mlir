// Form (B): operands in shared memory, filled by boxes; four waves multiply together.
//
// RUN: %emit %s -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: %emulate -DKERNEL='"%t.cu"' -DBOXES -DTHREADS=256 -DSIZE=128 -DSHARED_BYTES=131136 -DSHARED_LIMIT=232448 %S/Inputs/gemm.cpp -o %t.run
// RUN: env EMULATOR_COPIES=lazy %t.run | FileCheck %s --check-prefix=VALUES
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.run | FileCheck %s --check-prefix=VALUES
// VALUES: m = 256: right
// VALUES: m = 200: right
// VALUES: m = 1: right
//
// RUN: %race -DKERNEL='"%t.cu"' -DBOXES -DTHREADS=256 -DSIZE=128 -DSHARED_BYTES=131136 -DSHARED_LIMIT=232448 %S/Inputs/gemm.cpp -o %t.race
// RUN: env EMULATOR_COPIES=eager %t.race 200 | FileCheck %s --check-prefix=RACE
// RACE: m = 200: right
// RUN: %if nvcc %{ %cuda -arch=sm_90a -cubin %t.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// PTX-NOT: serialized
// PTX: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//
// CHECK: linear(bf16 *d, int m, GRID_CONSTANT TensorMap aMap, GRID_CONSTANT TensorMap wMap) {
// CHECK: const Barriers<4> full{(Barrier *)(shared + 131072)};
// CHECK: startBarriers(full, 1);
// CHECK: barriersAreReady();
// CHECK: for (int step = 0; step < 4; ++step) {
// CHECK-NEXT: waitFor(full[step]);
// CHECK-NEXT: mma<WgmmaBf16>(accumulator, aRing[step], wRing[step]);
// CHECK-NEXT: waitMatrix<1>();
// CHECK-NEXT: sync();
// CHECK: if (index < 4) {
// CHECK: if (isIssuer()) {
// CHECK-NEXT: arriveExpect<OneThread>(full[step + 3], 32768);
// CHECK: copyBox<OneThread>(aRing[step + 3], aMap, depth, row, full[step + 3]);
// CHECK: waitMatrix<0>(accumulator);
#c = #schedule.layout<(register = [0:1, 8:0, 0:8, 0:16, 0:32, 0:64], lane = [0:2, 0:4, 1:0, 2:0, 4:0], wave = [16:0, 32:0, 64:0]) -> (row = 128, column = 128)>
#swizzled = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096, 8192], column = [2, 4, 8, 16, 32, 64]) -> (byte = 16384)>

module attributes {schedule.target = "h100"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>]
    attributes {waves = 8 : i64, stage = #schedule<stage final>, shared_bytes = 131136 : i64, op_name = "linear", note = "128x128x64, 4 slots"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %aRing = schedule.alloc at 0 : !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
  %wRing = schedule.alloc at 65536 : !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
  %full = schedule.alloc at 131072 : !schedule.barrier<1, slots = 4>
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c2) on workgroups attributes {order = array<i64: 1, 4>} {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    schedule.loop (%p) = (%c0) to (%c3) on sequence {
      %k = arith.muli %p, %c64 : index
      schedule.arrive %full[%p] {bytes = 32768 : i64} : !schedule.barrier<1, slots = 4>
      %f0 = schedule.copy %a[%row, %k] to %aRing[%p] valid(%m) arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
      %f1 = schedule.copy %w[%column, %k] to %wRing[%p] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<256x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
    }
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32, register, #c>)
    %sum = schedule.loop (%t) = (%c0) to (%c4) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32, register, #c> {
      schedule.wait on %full[%t] : !schedule.barrier<1, slots = 4>
      %r = schedule.mma %acc, %aRing[%t], %wRing[%t] {instruction = "WgmmaBf16", grid = array<i64: 2, 1>, asynchronous} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4> -> !schedule.tile<128x128xf32, register, #c>
      schedule.wait {queue = #schedule<queue matrix>, pending = 1 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %c3 : index
      %more = arith.cmpi slt, %next, %c4 : index
      %once = arith.select %more, %c1, %c0 : index
      schedule.loop (%x) = (%c0) to (%once) on sequence {
        %k = arith.muli %next, %c64 : index
        schedule.arrive %full[%next] {bytes = 32768 : i64} : !schedule.barrier<1, slots = 4>
        %f0 = schedule.copy %a[%row, %k] to %aRing[%next] valid(%m) arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
        %f1 = schedule.copy %w[%column, %k] to %wRing[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<256x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
      }
      schedule.yield %r : !schedule.tile<128x128xf32, register, #c>
    }
    schedule.wait {queue = #schedule<queue matrix>, pending = 0 : i64}
    %o = schedule.map (%sum) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32, register, #c>) -> (!schedule.tile<128x128xbf16, register, #c>)
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16, register, #c>, !schedule.buffer<?x256xbf16>
  }
}
}
