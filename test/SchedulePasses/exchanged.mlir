// RUN: split-file %s %t
// RUN: sed "s/result/i16/g; s/walk/0, 1/" %t/gemm.mlir > %t/half.mlir
// RUN: %modelc-opt %t/half.mlir --schedule-choose-instruction --schedule-infer-layouts | FileCheck %s --check-prefix=HALF
// RUN: sed "s/result/i32/g; s/walk/0, 1/" %t/gemm.mlir > %t/whole.mlir
// RUN: %modelc-opt %t/whole.mlir --schedule-choose-instruction --schedule-infer-layouts | FileCheck %s --check-prefix=WHOLE
// RUN: sed "s/result/i16/g; s/walk/1, 0/" %t/gemm.mlir > %t/columns.mlir
// RUN: %modelc-opt %t/columns.mlir --schedule-choose-instruction --schedule-infer-layouts | FileCheck %s --check-prefix=COLUMNS
// Which operand comes first follows from the accesses of the result. A lane owns
// four rows of a column as the instruction leaves them: right for a result that is
// stored by columns. Exchanged, it owns four columns: 16 bytes of numbers of 32 bits,
// and of 16 if two fragments interleave.
// HALF: exchanged = 2 : i64
// WHOLE: exchanged = 1 : i64
// COLUMNS-NOT: exchanged

//--- gemm.mlir
module attributes {schedule.target = "mi355x"} {
schedule.kernel @linear(%a: !schedule.buffer<?x64xbf16>, %w: !schedule.buffer<128x64xbf16>, %d: !schedule.buffer<128x128xresult>, %m: index)
    guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<128x64xbf16>
    %y = schedule.load %w[%c0, %c0] : !schedule.buffer<128x64xbf16> -> !schedule.tile<128x64xbf16>
    %c = schedule.mma %zero, %x, %y : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<128x64xbf16> -> !schedule.tile<128x128xf32>
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %u = arith.fptosi %v : f32 to result
      schedule.yield %u : result
    } : (!schedule.tile<128x128xf32>) -> !schedule.tile<128x128xresult>
    schedule.store %o, %d[%c0, %c0] {dims = array<i64: walk>} : !schedule.tile<128x128xresult>, !schedule.buffer<128x128xresult>
  }
}
}
