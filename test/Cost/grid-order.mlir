// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets" -o /dev/null | FileCheck %s
// What one round shares it reads once from memory; the order of the grid says
// what runs in one round.

// 40 x 40 tiles; registers allow one workgroup for each of 100 units: 16 rounds.
// In plain order a round is two and a half rows of 40: 3 panels of A and all 40
// of W. A panel is 64 x 65536 x 2 B = 8 MiB. A round asks 43 panels, beside
// which no panel stays in the 10 MB of L2: 16 x 43 x 8 MiB = 5.375 GiB.
// CHECK-LABEL: kernel plain
// CHECK: workgroups: 1600, 1 on a unit, 16 rounds
// CHECK: memory: 5.375 GiB read, 0 B written, L2: 25 GiB
schedule.kernel @plain(%a: !schedule.buffer<2560x65536xbf16>, %w: !schedule.buffer<2560x65536xbf16>)
    guard [] attributes {waves = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%c40, %c40) on workgroups {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c64 : index
    schedule.loop (%t) = (%c0) to (%c1024) on sequence {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] : !schedule.buffer<2560x65536xbf16> -> !schedule.tile<64x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<2560x65536xbf16> -> !schedule.tile<64x64xbf16>
    }
  }
}

// In groups of 10 rows the first round is 10 x 10 tiles: 20 panels.
// 16 x 20 x 8 MiB = 2.5 GiB.
// CHECK-LABEL: kernel grouped
// CHECK: memory: 2.5 GiB read, 0 B written, L2: 25 GiB
schedule.kernel @grouped(%a: !schedule.buffer<2560x65536xbf16>, %w: !schedule.buffer<2560x65536xbf16>)
    guard [] attributes {waves = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%c40, %c40) on workgroups attributes {order = array<i64: 1, 10>} {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c64 : index
    schedule.loop (%t) = (%c0) to (%c1024) on sequence {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] : !schedule.buffer<2560x65536xbf16> -> !schedule.tile<64x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<2560x65536xbf16> -> !schedule.tile<64x64xbf16>
    }
  }
}

// Four query heads read one head of keys: 8 heads, 2 of keys, 64 x 64 x 2 B each.
// 8 x 8192 B asked, 2 x 8192 B = 16 KiB different.
// CHECK-LABEL: kernel shared_heads
// CHECK: memory: 16 KiB read, 0 B written, L2: 64 KiB
schedule.kernel @shared_heads(%k: !schedule.buffer<128x64xbf16>)
    guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  schedule.loop (%head) = (%c0) to (%c8) on workgroups {
    %group = arith.divsi %head, %c4 : index
    %row = arith.muli %group, %c64 : index
    %x = schedule.load %k[%row, %c0] : !schedule.buffer<128x64xbf16> -> !schedule.tile<64x64xbf16>
  }
}

// Windows of 4 tiles of rows, each a tile behind the one before: 103 tiles of
// 64 x 64 x 2 B = 824 KiB, of which L2 is asked 400.
// CHECK-LABEL: kernel windows
// CHECK: memory: 824 KiB read, 0 B written, L2: 3.125 MiB
schedule.kernel @windows(%k: !schedule.buffer<?x64xbf16>)
    guard [] attributes {waves = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  schedule.loop (%i) = (%c0) to (%c100) on workgroups {
    schedule.loop (%t) = (%c0) to (%c4) on sequence {
      %tile = arith.addi %i, %t : index
      %row = arith.muli %tile, %c64 : index
      %x = schedule.load %k[%row, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    }
  }
}

// Twelve tiles of rows, each of one of four experts that it looks up: the panels
// of W that are read are those of the experts, 4 x 64 x 64 x 2 B = 32 KiB of the
// 96 that are asked, and the words of 12 tiles.
// CHECK-LABEL: kernel experts
// CHECK: memory: 32.05 KiB read, 0 B written, L2: 96.05 KiB
schedule.kernel @experts(%w: !schedule.buffer<1024x64xbf16>, %of: !schedule.buffer<?xi32>)
    guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %c64 = arith.constant 64 : index
  schedule.loop (%tile) = (%c0) to (%c12) on workgroups {
    %word = schedule.load %of[%tile] {distinct = "2 * 2"} : !schedule.buffer<?xi32> -> i32
    %expert = arith.index_cast %word : i32 to index
    %row = arith.muli %expert, %c64 : index
    %y = schedule.load %w[%row, %c0] : !schedule.buffer<1024x64xbf16> -> !schedule.tile<64x64xbf16>
  }
}
