// Form (A): operands through a ring in shared memory, filled by counted copies.
//
// RUN: %emit %s -o %t.hip
// RUN: FileCheck %s < %t.hip
// RUN: %emulate -DKERNEL='"%t.hip"' -DTHREADS=256 -DSIZE=128 -DSHARED_BYTES=0 -DSHARED_LIMIT=163840 %S/Inputs/gemm.cpp -o %t.run
// RUN: env EMULATOR_COPIES=lazy %t.run | FileCheck %s --check-prefix=VALUES
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.run | FileCheck %s --check-prefix=VALUES
// VALUES: m = 256: right
// VALUES: m = 200: right
// VALUES: m = 1: right
//
// RUN: %race -DKERNEL='"%t.hip"' -DTHREADS=256 -DSIZE=128 -DSHARED_BYTES=0 -DSHARED_LIMIT=163840 %S/Inputs/gemm.cpp -o %t.race
// RUN: env EMULATOR_COPIES=eager %t.race 200 | FileCheck %s --check-prefix=RACE
// RACE: m = 200: right
//
// In the loop all waits leave the next trip in flight, and nothing is spilled.
// RUN: %amdgpu --offload-arch=gfx950 -S %t.hip -o - | FileCheck %s --check-prefix=ISA
// ISA-LABEL: linear:
// ISA: s_waitcnt vmcnt(8)
// ISA-NOT: vmcnt({{[0-7]}})
// ISA: v_mfma_f32_16x16x32_bf16
// ISA-NOT: vmcnt({{[0-7]}})
// ISA: s_barrier
// ISA-NOT: vmcnt({{[0-7]}})
// ISA: s_barrier
// ISA: ScratchSize: 0
//
// Copies of the next trip go out between the products of this one.
// RUN: %amdgpu --offload-arch=gfx950 -S %t.hip -o - | FileCheck %s --check-prefix=AMONG
// AMONG-LABEL: linear:
// AMONG: s_barrier
// AMONG-NOT: buffer_load
// AMONG: v_mfma
// AMONG-NOT: s_barrier
// AMONG: buffer_load_dwordx4
// AMONG-NOT: s_barrier
// AMONG: v_mfma
// AMONG-NOT: s_barrier
// AMONG: buffer_load_dwordx4
// AMONG-NOT: s_barrier
// AMONG: v_mfma
//
// CHECK: WORKGROUP(256, 1) linear(const bf16 *a, const bf16 *w, bf16 *d, int m) {
// CHECK-NEXT: using ARing = Shared<bf16, Row<144, 288, 576, 1024, 2048, 4096, 8192>, Column<2, 4, 8, 16, 32, 64>>;
// CHECK: SHARED_OBJECT(aRingBytes0, 16384);
// CHECK-NEXT: SHARED_OBJECT(aRingBytes1, 16384);
// CHECK-NEXT: SHARED_OBJECT(aRingBytes2, 16384);
// CHECK-NEXT: const ApartRing<ARing, 3> aRing{{{{aRingBytes0, aRingBytes1, aRingBytes2}}}};
// CHECK: unroll<3>(0, 4, [&](auto step) INLINE {
// CHECK-NEXT: waitCopies<8>();
// CHECK-NEXT: sync();
// CHECK: copyTile<4>(aRing[step + 2], view(a + offset(row, 256, depth), 256).limitRows(m - row).limitColumns(256 - depth, multipleOf<16>));
// CHECK: mma<Mfma16x16x32Bf16>(accumulator, fragments<ATileLayout>(aRing[step]), fragments<WTileLayout>(wRing[step]));
// CHECK-NEXT: interleave<32, 0, 8>();
// CHECK-NEXT: });
// CHECK-NEXT: hold<4>(accumulator);
// CHECK: waitCopies<0>();
// CHECK: storeTile<8>(result, view(d + offset(row, 256, column), 256).limitRows(m - row));
#a = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32, 16:0, 32:0], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = [0:0, 64:0]) -> (row = 128, column = 64)>
#b = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32, 16:0, 32:0], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = [64:0, 0:0]) -> (row = 128, column = 64)>
#c = #schedule.layout<(register = [1:0, 2:0, 0:16, 0:32, 16:0, 32:0], lane = [0:1, 0:2, 0:4, 0:8, 4:0, 8:0], wave = [0:64, 64:0]) -> (row = 128, column = 128)>
#inA = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096, 8192], column = [2, 4, 8, 16, 32, 64]) -> (byte = 16384)>
#inB = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096, 8192], column = [2, 4, 8, 16, 32, 64]) -> (byte = 16384)>

module attributes {schedule.target = "mi355x"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>]
    attributes {waves = 4 : i64, stage = #schedule<stage final>, shared_bytes = 98304 : i64, op_name = "linear", note = "128x128x64, 3 slots"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %aRing = schedule.alloc at 0 : !schedule.tile<128x64xbf16, shared, #inA, slots = 3>
  %wRing = schedule.alloc at 49152 : !schedule.tile<128x64xbf16, shared, #inB, slots = 3>
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c2) on workgroups attributes {order = array<i64: 8, 4>} {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = arith.muli %p, %c64 : index
      %0 = schedule.copy %a[%row, %k] to %aRing[%p] valid(%m, %c256) : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, #inA, slots = 3>
      %1 = schedule.copy %w[%column, %k] to %wRing[%p] valid(%c256, %c256) : !schedule.buffer<256x256xbf16>, !schedule.tile<128x64xbf16, shared, #inB, slots = 3>
    }
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32, register, #c>)
    %sum = schedule.loop (%t) = (%c0) to (%c4) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32, register, #c> {
      schedule.wait {queue = #schedule<queue copies>, pending = 8 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = arith.muli %next, %c64 : index
      %0 = schedule.copy %a[%row, %k] to %aRing[%next] valid(%m, %c256) : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, #inA, slots = 3>
      %1 = schedule.copy %w[%column, %k] to %wRing[%next] valid(%c256, %c256) : !schedule.buffer<256x256xbf16>, !schedule.tile<128x64xbf16, shared, #inB, slots = 3>
      %x = schedule.load %aRing[%t] : !schedule.tile<128x64xbf16, shared, #inA, slots = 3> -> !schedule.tile<128x64xbf16, register, #a>
      %y = schedule.load %wRing[%t] : !schedule.tile<128x64xbf16, shared, #inB, slots = 3> -> !schedule.tile<128x64xbf16, register, #b>
      %r = schedule.mma %acc, %x, %y {instruction = "Mfma16x16x32Bf16", grid = array<i64: 2, 2>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x64xbf16, register, #a>, !schedule.tile<128x64xbf16, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.yield %r : !schedule.tile<128x128xf32, register, #c>
    }
    schedule.wait {queue = #schedule<queue copies>, pending = 0 : i64}
    %o = schedule.map (%sum) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32, register, #c>) -> (!schedule.tile<128x128xbf16, register, #c>)
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16, register, #c>, !schedule.buffer<?x256xbf16>
  }
}
}
