// A condition around all that a workgroup does, of a number in memory: it stands in
// each role, and products go into the same places as without it. Run on the emulator
// with two rows of tiles of which one is wanted, and with both.
// RUN: sed -e s/machine/b200/ %s | %modelc-opt --schedule-finish -o %t.b200.mlir
// RUN: %emit %t.b200.mlir -o %t.b200.cu
// RUN: FileCheck %s --check-prefix=TENSOR < %t.b200.cu
// RUN: %emulate -DKERNEL='"%t.b200.cu"' -DBOXES -DUSED=1 -DTHREADS=192 -DSIZE=128 -DSHARED_BYTES=65584 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t.b200.run
// RUN: env EMULATOR_COPIES=lazy %t.b200.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.b200.run | FileCheck %s
// RUN: %if nvcc %{ %cuda -arch=sm_100a -cubin %t.b200.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: sed -e s/machine/h200/ %s | %modelc-opt --schedule-finish -o %t.h200.mlir
// RUN: %emit %t.h200.mlir -o %t.h200.cu
// RUN: FileCheck %s --check-prefix=SHARED < %t.h200.cu
// RUN: %emulate -DKERNEL='"%t.h200.cu"' -DBOXES -DUSED=2 -DTHREADS=160 -DSIZE=128 -DSHARED_BYTES=65568 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t.h200.run
// RUN: env EMULATOR_COPIES=lazy %t.h200.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t.h200.run | FileCheck %s

// CHECK: m = 256: right
// CHECK: m = 200: right
// CHECK: m = 1: right

// PTX: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// TENSOR: allocTensor
// TENSOR: const int index = loadScalar(u);
// TENSOR: role: epilogue
// TENSOR-NEXT: if (tileRow < index)
// TENSOR: role: load
// TENSOR: if (tileRow < index)
// TENSOR: copyBox
// TENSOR: role: matrix
// TENSOR: if (tileRow < index)
// TENSOR: mma<OneThread

// SHARED: role: matrix
// SHARED-NEXT: if (tileRow < index)
// SHARED: role: load
// SHARED: copyBox

module attributes {schedule.target = "machine"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %u: !schedule.buffer<1xi32>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, op_name = "linear", roles, slots = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %word = schedule.load %u[%c0] {expect = "1"} : !schedule.buffer<1xi32> -> i32
    %used = arith.index_cast %word : i32 to index
    %c1 = arith.constant 1 : index
    %is = arith.cmpi slt, %i, %used : index
    %once = arith.select %is, %c1, %c0 : index
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    schedule.loop (%one) = (%c0) to (%once) on sequence attributes {expect = "1"} {
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
}
