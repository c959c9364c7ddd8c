// RUN: split-file %s %t
// RUN: sed -e s/machine/mi355x/ %t/kernel.mlir | not %modelc-opt --schedule-finish 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: sed -e s/machine/b200/ -e 's/x64xbf16/x128xbf16/g' -e 's/c64 = arith.constant 64/c64 = arith.constant 128/' -e 's/steps = arith.constant 4/steps = arith.constant 2/' %t/kernel.mlir | not %modelc-opt --schedule-finish 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: sed -e s/machine/h200/ %t/kernel.mlir | not %modelc-opt --schedule-finish 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: sed -e s/machine/b200/ %t/kernel.mlir | %modelc-opt --schedule-finish | FileCheck %s
// A tile of 96 columns is one product into tensor memory, whose places are the first
// rows and columns of the next power of two; elsewhere it is refused.
// CHECK: #layout = {{.*}}row = [144, 288, 576, 1024, 2048, 4096, 8192]
// CHECK: schedule.alloc {{.*}}tile<96x64xbf16, shared, #layout, slots = 4>
// CHECK: schedule.alloc {{.*}}tile<128x96xf32, tensor>
// CHECK: bytes = 28672
// CHECK: schedule.mma {{.*}}<128x96xf32, tensor>
// CHECK: schedule.loop {{.*}} to (%c96) step (%c32)
// ROWS: error: 'schedule.alloc' op expected a power of two as the rows of a tile that is not copied in boxes of rows of at most 128 bytes, got {{.*}}96x128
// REGISTERS: error: 'schedule.{{.*}}' op expected powers of two as the extents of a tile in registers, got {{.*}}128x96xf32{{.*}}; use several tiles side by side

//--- kernel.mlir
module attributes {schedule.target = "machine"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, op_name = "linear"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %wide = arith.constant 96 : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %wide : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x96xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x96xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<256x256xbf16> -> !schedule.tile<96x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x96xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<96x64xbf16> -> !schedule.tile<128x96xf32>
      schedule.yield %r : !schedule.tile<128x96xf32>
    }
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x96xf32>) -> !schedule.tile<128x96xbf16>
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x96xbf16>, !schedule.buffer<?x256xbf16>
  }
}
}
