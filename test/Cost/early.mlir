// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=tokens:100" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets set=launch.starts_early=false sizes=tokens:100" -o /dev/null | FileCheck %s --check-prefix=LATE
// What a kernel asks for early comes while the one before it leaves memory idle:
// of 100 workgroups x 64 x 1 KiB = 6.6 MB, in the 2.374 us that the other one runs
// on its cache alone, 0.8 x 1 TB/s x 2.374 us = 1.9 MB, which take as long.
// CHECK: exchange: 4 x 3.374 us, bound by latency
// CHECK: linear: 4 x 52.55 us, bound by device memory
// LATE: exchange: 4 x 3.374 us, bound by latency
// LATE: linear: 4 x 54.93 us, bound by device memory

// A workgroup that leaves no room beside it lets none come.
// RUN: sed -e '/exchange(/s/waves = 4/waves = 32/' %s > %t.mlir
// RUN: %modelc-opt %t.mlir --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=tokens:100" -o /dev/null | FileCheck %s --check-prefix=FULL
// FULL: linear: 4 x 54.93 us

// One that multiplies starts the next one when it stores: none of it runs beside.
// RUN: sed -e '/^    .start = /a %z = schedule.map () {^bb0(%r: index, %q: index): %f = arith.constant 0.0 : f32 schedule.yield %f : f32} : () -> (!schedule.tile<16x16xf32>)' -e '/^    .start = /a %lies = schedule.alloc : !schedule.tile<16x16xbf16, shared>' -e '/^    .start = /a %x2 = schedule.load %lies[] : !schedule.tile<16x16xbf16, shared> -> !schedule.tile<16x16xbf16, register>' -e '/^    .start = /a %mm = schedule.mma %z, %x2, %x2 : !schedule.tile<16x16xf32>, !schedule.tile<16x16xbf16, register>, !schedule.tile<16x16xbf16, register> -> !schedule.tile<16x16xf32>' %s > %t.mlir
// RUN: %modelc-opt %t.mlir --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=tokens:100" -o /dev/null | FileCheck %s --check-prefix=FULL

schedule.kernel @exchange(%x: !schedule.buffer<?x64xf32>, %tokens: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  schedule.loop (%i) = (%c0) to (%tokens) on workgroups {
    %start = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    %end = schedule.loop (%t) = (%c0) to (%c10) on sequence carry(%v = %start) : !schedule.tile<1x64xf32> {
      schedule.sync workgroup
      %next = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
      %sum = schedule.map(%v, %next) { ^bb0(%a: f32, %b: f32, %row: index, %column: index):
        %s = arith.addf %a, %b : f32
        schedule.yield %s : f32
      } : (!schedule.tile<1x64xf32>, !schedule.tile<1x64xf32>) -> !schedule.tile<1x64xf32>
      schedule.yield %sum : !schedule.tile<1x64xf32>
    }
    schedule.store %end, %x[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}

schedule.kernel @linear(%w: !schedule.buffer<6400x1024xf32>, %y: !schedule.buffer<6400x64xf32>, %tokens: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  schedule.loop (%i) = (%c0) to (%tokens) on workgroups {
    %row = arith.muli %i, %c64 : index
    schedule.prefetch %w[%row, %c0] {rows = 64 : i64, columns = 256 : i64} : !schedule.buffer<6400x1024xf32>
    schedule.loop (%t) = (%c0) to (%c16) on sequence {
      %column = arith.muli %t, %c64 : index
      %x = schedule.load %w[%row, %column] : !schedule.buffer<6400x1024xf32> -> !schedule.tile<64x64xf32>
      schedule.store %x, %y[%row, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<6400x64xf32>
    }
  }
}

func.func @step(%tokens: index) attributes {schedule.plan, arg_names = ["tokens"]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %x = schedule.alloc(%tokens) as workspace : !schedule.buffer<?x64xf32>
  %y = schedule.alloc as workspace : !schedule.buffer<6400x64xf32>
  schedule.loop (%layer) = (%c0) to (%c4) on sequence {
    %w = schedule.alloc(%layer) as weight "w.{layer}" : !schedule.buffer<6400x1024xf32>
    schedule.launch [@exchange] (x = %x, tokens = %tokens) "exchange" : !schedule.buffer<?x64xf32>, index
    schedule.launch [@linear] (w = %w, y = %y, tokens = %tokens) "linear" : !schedule.buffer<6400x1024xf32>, !schedule.buffer<6400x64xf32>, index
  }
  return
}
