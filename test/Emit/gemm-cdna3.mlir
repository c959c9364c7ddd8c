// Form (A) with the older instruction and copies of four bytes a lane.
//
// RUN: %emit %s -o %t.hip
// RUN: FileCheck %s < %t.hip
// RUN: %emulate -DKERNEL='"%t.hip"' -DMODELC_CHIP=942 -DTHREADS=256 -DSIZE=64 -DSHARED_BYTES=0 -DSHARED_LIMIT=65536 %S/Inputs/gemm.cpp -o %t.run
// RUN: env EMULATOR_COPIES=lazy %t.run | FileCheck %s --check-prefix=VALUES
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.run | FileCheck %s --check-prefix=VALUES
// VALUES: m = 256: right
// VALUES: m = 200: right
// VALUES: m = 1: right
//
// RUN: %amdgpu --offload-arch=gfx942 -S %t.hip -o - | FileCheck %s --check-prefix=ISA
// ISA: buffer_load_dword {{.*}} lds
// ISA: v_mfma_f32_16x16x16_bf16
// ISA: ScratchSize: 0
//
// CHECK: WORKGROUP(256, 1) linear(const bf16 *a, const bf16 *w, bf16 *d, int m) {
// CHECK-NEXT: using ARing = Shared<bf16, Row<144, 288, 576, 1024, 2048, 4096>, Column<2, 4, 8, 16, 32, 64>>;
// CHECK: SHARED_OBJECT(aRingBytes0, 8192);
// CHECK-NEXT: SHARED_OBJECT(aRingBytes1, 8192);
// CHECK-NEXT: SHARED_OBJECT(aRingBytes2, 8192);
// CHECK-NEXT: const ApartRing<ARing, 3> aRing{{{{aRingBytes0, aRingBytes1, aRingBytes2}}}};
// CHECK: unroll<3>(0, 4, [&](auto step) INLINE {
// CHECK-NEXT: waitCopies<16>();
// CHECK-NEXT: sync();
// CHECK: copyTile<4>(aRing[step + 2], view(a + offset(row, 256, depth), 256).limitRows(m - row).limitColumns(256 - depth, multipleOf<16>));
// CHECK: mma<Mfma16x16x16Bf16>(accumulator, fragments<ATileLayout>(aRing[step]), fragments<WTileLayout>(wRing[step]));
// CHECK: waitCopies<0>();
// CHECK: storeTile<8>(result, view(d + offset(row, 256, column), 256).limitRows(m - row));
#a = #schedule.layout<(register = [0:1, 0:2, 0:16, 0:32, 16:0], lane = [1:0, 2:0, 4:0, 8:0, 0:4, 0:8], wave = [0:0, 32:0]) -> (row = 64, column = 64)>
#b = #schedule.layout<(register = [0:1, 0:2, 0:16, 0:32, 16:0], lane = [1:0, 2:0, 4:0, 8:0, 0:4, 0:8], wave = [32:0, 0:0]) -> (row = 64, column = 64)>
#c = #schedule.layout<(register = [1:0, 2:0, 0:16, 16:0], lane = [0:1, 0:2, 0:4, 0:8, 4:0, 8:0], wave = [0:32, 32:0]) -> (row = 64, column = 64)>
#inA = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096], column = [2, 4, 8, 16, 32, 64]) -> (byte = 8192)>
#inB = #schedule.layout<(row = [144, 288, 576, 1024, 2048, 4096], column = [2, 4, 8, 16, 32, 64]) -> (byte = 8192)>

module attributes {schedule.target = "mi300x"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>]
    attributes {waves = 4 : i64, stage = #schedule<stage final>, shared_bytes = 49152 : i64, op_name = "linear", note = "64x64x64, 3 slots"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c64 : index
  %aRing = schedule.alloc at 0 : !schedule.tile<64x64xbf16, shared, #inA, slots = 3>
  %wRing = schedule.alloc at 24576 : !schedule.tile<64x64xbf16, shared, #inB, slots = 3>
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %c4) on workgroups attributes {order = array<i64: 8, 4>} {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c64 : index
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = arith.muli %p, %c64 : index
      %0 = schedule.copy %a[%row, %k] to %aRing[%p] valid(%m, %c256) : !schedule.buffer<?x256xbf16>, !schedule.tile<64x64xbf16, shared, #inA, slots = 3>
      %1 = schedule.copy %w[%column, %k] to %wRing[%p] valid(%c256, %c256) : !schedule.buffer<256x256xbf16>, !schedule.tile<64x64xbf16, shared, #inB, slots = 3>
    }
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<64x64xf32, register, #c>)
    %sum = schedule.loop (%t) = (%c0) to (%c4) on sequence carry(%acc = %zero) : !schedule.tile<64x64xf32, register, #c> {
      schedule.wait {queue = #schedule<queue copies>, pending = 16 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = arith.muli %next, %c64 : index
      %0 = schedule.copy %a[%row, %k] to %aRing[%next] valid(%m, %c256) : !schedule.buffer<?x256xbf16>, !schedule.tile<64x64xbf16, shared, #inA, slots = 3>
      %1 = schedule.copy %w[%column, %k] to %wRing[%next] valid(%c256, %c256) : !schedule.buffer<256x256xbf16>, !schedule.tile<64x64xbf16, shared, #inB, slots = 3>
      %x = schedule.load %aRing[%t] : !schedule.tile<64x64xbf16, shared, #inA, slots = 3> -> !schedule.tile<64x64xbf16, register, #a>
      %y = schedule.load %wRing[%t] : !schedule.tile<64x64xbf16, shared, #inB, slots = 3> -> !schedule.tile<64x64xbf16, register, #b>
      %r = schedule.mma %acc, %x, %y {instruction = "Mfma16x16x16Bf16", grid = array<i64: 2, 2>} : !schedule.tile<64x64xf32, register, #c>, !schedule.tile<64x64xbf16, register, #a>, !schedule.tile<64x64xbf16, register, #b> -> !schedule.tile<64x64xf32, register, #c>
      schedule.yield %r : !schedule.tile<64x64xf32, register, #c>
    }
    schedule.wait {queue = #schedule<queue copies>, pending = 0 : i64}
    %o = schedule.map (%sum) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<64x64xf32, register, #c>) -> (!schedule.tile<64x64xbf16, register, #c>)
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<64x64xbf16, register, #c>, !schedule.buffer<?x256xbf16>
  }
}
}
