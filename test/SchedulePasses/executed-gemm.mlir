// One plain product, finished for four machines, printed and run on the emulator.
// RUN: split-file %s %t
// RUN: sed s/machine/mi355x/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/mi355x.mlir
// RUN: %emit %t/mi355x.mlir -o %t/mi355x.hip
// RUN: %emulate -DKERNEL='"%t/mi355x.hip"' -DTHREADS=256 -DSIZE=128 -DSHARED_BYTES=0 -DSHARED_LIMIT=163840 %S/../Emit/Inputs/gemm.cpp -o %t/mi355x.run
// RUN: env EMULATOR_COPIES=lazy %t/mi355x.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/mi355x.run | FileCheck %s
// RUN: sed s/machine/mi300x/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/mi300x.mlir
// RUN: %emit %t/mi300x.mlir -o %t/mi300x.hip
// RUN: %emulate -DKERNEL='"%t/mi300x.hip"' -DMODELC_CHIP=942 -DTHREADS=256 -DSIZE=128 -DSHARED_BYTES=0 -DSHARED_LIMIT=65536 %S/../Emit/Inputs/gemm.cpp -o %t/mi300x.run
// RUN: env EMULATOR_COPIES=lazy %t/mi300x.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/mi300x.run | FileCheck %s
// RUN: sed s/machine/h200/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/h200.mlir
// RUN: %emit %t/h200.mlir -o %t/h200.cu
// RUN: %emulate -DKERNEL='"%t/h200.cu"' -DBOXES -DTHREADS=128 -DSIZE=128 -DSHARED_BYTES=131104 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/h200.run
// RUN: env EMULATOR_COPIES=lazy %t/h200.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/h200.run | FileCheck %s
// RUN: sed s/machine/b200/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/b200.mlir
// RUN: %emit %t/b200.mlir -o %t/b200.cu
// RUN: %emulate -DKERNEL='"%t/b200.cu"' -DBOXES -DTHREADS=128 -DSIZE=128 -DSHARED_BYTES=131144 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/b200.run
// RUN: env EMULATOR_COPIES=lazy %t/b200.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/b200.run | FileCheck %s
// CHECK: m = 256: right
// CHECK: m = 200: right
// CHECK: m = 1: right

//--- gemm.mlir
module attributes {schedule.target = "machine"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, op_name = "linear"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<256x256xbf16> -> !schedule.tile<128x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<128x64xbf16> -> !schedule.tile<128x128xf32>
      schedule.yield %r : !schedule.tile<128x128xf32>
    }
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32>) -> !schedule.tile<128x128xbf16>
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16>, !schedule.buffer<?x256xbf16>
  }
}
}
