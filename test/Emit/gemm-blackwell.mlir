// Form (C): the accumulator lies in tensor memory, one thread issues everything.
//
// RUN: %emit %s -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: %emulate -DKERNEL='"%t.cu"' -DBOXES -DTHREADS=128 -DSIZE=128 -DSHARED_BYTES=131144 -DSHARED_LIMIT=232448 %S/Inputs/gemm.cpp -o %t.run
// RUN: env EMULATOR_COPIES=lazy %t.run | FileCheck %s --check-prefix=VALUES
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.run | FileCheck %s --check-prefix=VALUES
// VALUES: m = 256: right
// VALUES: m = 200: right
// VALUES: m = 1: right
//
// RUN: %race -DKERNEL='"%t.cu"' -DBOXES -DTHREADS=128 -DSIZE=128 -DSHARED_BYTES=131144 -DSHARED_LIMIT=232448 %S/Inputs/gemm.cpp -o %t.race
// RUN: env EMULATOR_COPIES=eager %t.race 200 | FileCheck %s --check-prefix=RACE
// RACE: m = 200: right
// RUN: %if nvcc %{ %cuda -arch=sm_100a -cubin %t.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: %if nvcc %{ %cuda -arch=sm_103a -cubin %t.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// PTX: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//
// CHECK: const uint32_t tensor = allocTensor<128>(shared);
// CHECK: const TensorPlace<128, 128> product{tensor + 0};
// Nobody else waits beside it, who might miss a turn of the barriers.
// CHECK: if (isIssuer()) {
// CHECK: for (int step = 0; step < 4; ++step) {
// CHECK-NEXT: waitFor(full[step]);
// CHECK-NEXT: mma<OneThread, Tcgen05Bf16>(product, aRing[step], wRing[step], step > 0);
// CHECK-NEXT: arriveAfterMma<OneThread>(empty[step]);
// CHECK: if (index < 4) {
// CHECK-NEXT: waitFor(empty[step - 1]);
// CHECK: arriveAfterMma(done[0]);
// CHECK-NEXT: waitFor(done[0]);
// CHECK: loadTensor(productTile, product);
// CHECK: freeTensor<128>(tensor);
#c = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:8, 0:16, 0:32, 0:64], lane = [1:0, 2:0, 4:0, 8:0, 16:0], wave = [32:0, 64:0]) -> (row = 128, column = 128)>
#swizzled = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096, 8192], column = [2, 4, 8, 16, 32, 64]) -> (byte = 16384)>

module attributes {schedule.target = "b200"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>]
    attributes {waves = 4 : i64, stage = #schedule<stage final>, shared_bytes = 131144 : i64, op_name = "linear", note = "128x128x64, 4 slots", tensor_columns = 128 : i64} {
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
  %empty = schedule.alloc at 131104 : !schedule.barrier<1, slots = 4>
  %done = schedule.alloc at 131136 : !schedule.barrier<1>
  %product = schedule.alloc at 0 : !schedule.tile<128x128xf32, tensor>
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c2) on workgroups attributes {order = array<i64: 1, 4>} {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    schedule.loop (%p) = (%c0) to (%c3) on sequence {
      %k = arith.muli %p, %c64 : index
      schedule.arrive %full[%p] {bytes = 32768 : i64} : !schedule.barrier<1, slots = 4>
      %f0 = schedule.copy %a[%row, %k] to %aRing[%p] valid(%m) arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
      %f1 = schedule.copy %w[%column, %k] to %wRing[%p] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<256x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
    }
    schedule.loop (%t) = (%c0) to (%c4) on sequence {
      schedule.wait on %full[%t] : !schedule.barrier<1, slots = 4>
      %started = arith.cmpi sgt, %t, %c0 : index
      %tok = schedule.mma %product, %aRing[%t], %wRing[%t] init(%started : i1) {instruction = "Tcgen05Bf16", grid = array<i64: 1, 1>} : !schedule.tile<128x128xf32, tensor>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4> -> !schedule.token
      schedule.arrive %empty[%t] after(%tok) : !schedule.barrier<1, slots = 4>
      %next = arith.addi %t, %c3 : index
      %more = arith.cmpi slt, %next, %c4 : index
      %once = arith.select %more, %c1, %c0 : index
      schedule.loop (%x) = (%c0) to (%once) on sequence {
        %last = arith.subi %t, %c1 : index
        schedule.wait on %empty[%last] : !schedule.barrier<1, slots = 4> {empty}
        %k = arith.muli %next, %c64 : index
        schedule.arrive %full[%next] {bytes = 32768 : i64} : !schedule.barrier<1, slots = 4>
        %f0 = schedule.copy %a[%row, %k] to %aRing[%next] valid(%m) arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
        %f1 = schedule.copy %w[%column, %k] to %wRing[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<256x256xbf16>, !schedule.tile<128x64xbf16, shared, #swizzled, slots = 4>
      }
    }
    schedule.arrive %done[%c0] : !schedule.barrier<1>
    schedule.wait on %done[%c0] : !schedule.barrier<1>
    %sum = schedule.load %product[] : !schedule.tile<128x128xf32, tensor> -> !schedule.tile<128x128xf32, register, #c>
    %o = schedule.map (%sum) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32, register, #c>) -> (!schedule.tile<128x128xbf16, register, #c>)
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16, register, #c>, !schedule.buffer<?x256xbf16>
  }
}
}
