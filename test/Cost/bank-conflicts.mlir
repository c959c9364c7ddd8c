// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets explain" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets set=shared.transposed_read_bits=[16] set=shared.transposed_read_lanes=16 explain" -o /dev/null | FileCheck %s --check-prefix=TRANSPOSES
// Lanes that meet in a bank make an access of shared memory slower.

// Lane l reads row l % 16, 8 columns = 16 B from column 8 * (l / 16).
// Rows of 128 B: the 16-byte piece of a row is xored with the row.
#swizzle = #schedule.layout<(row = [144, 288, 576, 1024], column = [2, 4, 8, 16, 32, 64]) -> (byte = 2048)>
#rows64 = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:16, 0:32], lane = [1:0, 2:0, 4:0, 8:0, 0:8], wave = []) -> (row = 16, column = 64)>

// 16 x 64 x 2 B = 2048 B / 100 B/clk = 20.48 clk. Rows are 32 banks long, so the
// 8 lanes of a phase, 8 rows at one column, meet in the same banks: 8 times that.
// CHECK-LABEL: kernel plain
// CHECK: shared memory: 163.8 clk = 2 KiB
schedule.kernel @plain() guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = schedule.alloc : !schedule.tile<16x64xbf16, shared>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %x = schedule.load %A[] : !schedule.tile<16x64xbf16, shared> -> !schedule.tile<16x64xbf16, register, #rows64>
  }
}

// CHECK-LABEL: kernel swizzled
// CHECK: shared memory: 20.48 clk = 2 KiB
schedule.kernel @swizzled() guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = schedule.alloc : !schedule.tile<16x64xbf16, shared, #swizzle>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %x = schedule.load %A[] : !schedule.tile<16x64xbf16, shared, #swizzle> -> !schedule.tile<16x64xbf16, register, #rows64>
  }
}

// Lane l owns column l and reads it number by number, 2 B each time: as long as
// words. A machine that transposes reads them in rows.
#columns = #schedule.layout<(register = [1:0, 2:0, 4:0, 8:0, 0:32], lane = [0:1, 0:2, 0:4, 0:8, 0:16], wave = []) -> (row = 16, column = 64)>
// CHECK-LABEL: kernel narrow
// CHECK: shared memory: 40.96 clk = 2 KiB
// TRANSPOSES-LABEL: kernel narrow
// TRANSPOSES: shared memory: 20.48 clk = 2 KiB
schedule.kernel @narrow() guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = schedule.alloc : !schedule.tile<16x64xbf16, shared>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %x = schedule.load %A[] : !schedule.tile<16x64xbf16, shared> -> !schedule.tile<16x64xbf16, register, #columns>
  }
}
