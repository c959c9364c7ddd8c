// RUN: %modelc-opt %s --split-input-file --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:100,experts:8,chosen:2,tokens:4 explain" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --split-input-file --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:100,experts:8,chosen:2,tokens:4,experts_balanced:1 explain" -o /dev/null | FileCheck %s --check-prefix=BALANCED
// How often the body of a loop runs, and how much of a tile is there.

// Causal: workgroup i of 10 walks i + 1 tiles: 5.5 on the mean, 55 in all, of
// 16 x 16 x 4 B = 1024 B. The longest walks 10 / 5.5 = 1.818 times the mean.
// CHECK-LABEL: kernel causal
// CHECK: L2: 55 KiB
// CHECK: loop 1: {{.*}} + 5.5 trips
// CHECK: longest workgroup: {{.*}} = 1.818 times the mean
schedule.kernel @causal(%a: !schedule.buffer<160x160xf32>)
    guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  schedule.loop (%i) = (%c0) to (%c10) on workgroups {
    %row = arith.muli %i, %c16 : index
    %end = arith.addi %i, %c1 : index
    schedule.loop (%t) = (%c0) to (%end) on sequence {
      %column = arith.muli %t, %c16 : index
      %x = schedule.load %a[%row, %column] : !schedule.buffer<160x160xf32> -> !schedule.tile<16x16xf32>
    }
  }
}

// -----

// 100 rows in tiles of 64 are 1.5625 tiles of 64 x 16 x 4 B: 6400 B, in 2
// workgroups. Padding costs bytes nothing.
// CHECK-LABEL: kernel ragged
// CHECK: workgroups: 2
// CHECK: 6.25 KiB read
schedule.kernel @ragged(%a: !schedule.buffer<?x16xf32>, %m: index)
    guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %m, %c64 : index
  schedule.loop (%i) = (%c0) to (%rows) on workgroups {
    %row = arith.muli %i, %c64 : index
    %x = schedule.load %a[%row, %c0] valid(%m) : !schedule.buffer<?x16xf32> -> !schedule.tile<64x16xf32>
  }
}

// -----

// Only the device knows the number of experts hit; the workload expects
// 8 * (1 - (1 - 2/8)^4) = 5.469 of them, 1024 B each.
// CHECK-LABEL: kernel experts
// CHECK: workgroups: 5.47
// CHECK: 5.469 KiB read
schedule.kernel @experts(%a: !schedule.buffer<?x16xf32>, %hit: !schedule.buffer<1xi32>)
    guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = schedule.load %hit[%c0] : !schedule.buffer<1xi32> -> i32
  %count = arith.index_cast %n : i32 to index
  schedule.loop (%i) = (%c0) to (%count) on workgroups attributes {expect = "experts * (1 - (1 - chosen / experts)^tokens)"} {
    %row = arith.muli %i, %c16 : index
    %x = schedule.load %a[%row, %c0] : !schedule.buffer<?x16xf32> -> !schedule.tile<16x16xf32>
  }
}

// -----

// The same by name, as the workload loads experts: each token picks 2 of 8 by lot,
// or tokens are dealt out, min(8, 2 * 4) = 8 experts.
// CHECK-LABEL: kernel loaded
// CHECK: workgroups: 5.47
// BALANCED-LABEL: kernel loaded
// BALANCED: workgroups: 8
schedule.kernel @loaded(%a: !schedule.buffer<?x16xf32>, %hit: !schedule.buffer<1xi32>)
    guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = schedule.load %hit[%c0] : !schedule.buffer<1xi32> -> i32
  %count = arith.index_cast %n : i32 to index
  schedule.loop (%i) = (%c0) to (%count) on workgroups attributes {expect = "experts_hit(experts, chosen, tokens)"} {
    %row = arith.muli %i, %c16 : index
    %x = schedule.load %a[%row, %c0] : !schedule.buffer<?x16xf32> -> !schedule.tile<16x16xf32>
  }
}

// -----

// A condition that holds in one of four trips: 25 of 100 trips store 1024 B.
// CHECK-LABEL: kernel condition
// CHECK: L2: 25 KiB
schedule.kernel @condition(%d: !schedule.buffer<16x16xf32>, %m: index)
    guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %rest = arith.remsi %i, %c4 : index
    %holds = arith.cmpi eq, %rest, %c3 : index
    %trips = arith.select %holds, %c1, %c0 : index
    schedule.loop (%x) = (%c0) to (%trips) on sequence {
      %one = schedule.map () {
      ^bb0(%r: index, %q: index):
        %z = arith.constant 1.0 : f32
        schedule.yield %z : f32
      } : () -> (!schedule.tile<16x16xf32>)
      schedule.store %one, %d[%i, %c0] : !schedule.tile<16x16xf32>, !schedule.buffer<16x16xf32>
    }
  }
}

// -----

// Only the device knows where the rows end; the loop is expected to take 4 trips.
// The ring is filled by 2 copies before it and by those of the loop but the last
// 2, which lie past the end: 4 x 16 x 64 x 2 B, and 4 B that say the end.
// CHECK-LABEL: kernel past_end
// CHECK: 8.004 KiB read
// CHECK: loop 2: {{.*}} + 4 trips
schedule.kernel @past_end(%a: !schedule.buffer<?x64xbf16>, %ends: !schedule.buffer<1xi32>)
    guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %A = schedule.alloc : !schedule.tile<16x64xbf16, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %loaded = schedule.load %ends[%c0] : !schedule.buffer<1xi32> -> i32
    %end = arith.index_cast %loaded : i32 to index
    %trips = arith.ceildivsi %end, %c16 : index
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %row = arith.muli %p, %c16 : index
      %t0 = schedule.copy %a[%row, %c0] to %A[%p] valid(%end) : !schedule.buffer<?x64xbf16>, !schedule.tile<16x64xbf16, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%trips) on sequence attributes {expect = "m / 25"} {
      schedule.wait {queue = #schedule<queue copies>, pending = 1 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %row = arith.muli %next, %c16 : index
      %t0 = schedule.copy %a[%row, %c0] to %A[%next] valid(%end) : !schedule.buffer<?x64xbf16>, !schedule.tile<16x64xbf16, shared, slots = 3>
      %x = schedule.load %A[%t] : !schedule.tile<16x64xbf16, shared, slots = 3> -> !schedule.tile<16x64xbf16, register>
    }
  }
}

// -----

// As before, but the load says what to expect, m / 5 = 20 rows: one tile, and 4
// rows of the next. All are copied before the loop: 20 x 64 x 2 B, and 4 B.
// CHECK-LABEL: kernel expected_end
// CHECK: 2.504 KiB read
// CHECK: loop 2: {{.*}} + 4 trips
schedule.kernel @expected_end(%a: !schedule.buffer<?x64xbf16>, %ends: !schedule.buffer<1xi32>)
    guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %A = schedule.alloc : !schedule.tile<16x64xbf16, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %loaded = schedule.load %ends[%c0] {expect = "m / 5"} : !schedule.buffer<1xi32> -> i32
    %end = arith.index_cast %loaded : i32 to index
    %trips = arith.ceildivsi %end, %c16 : index
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %row = arith.muli %p, %c16 : index
      %t0 = schedule.copy %a[%row, %c0] to %A[%p] valid(%end) : !schedule.buffer<?x64xbf16>, !schedule.tile<16x64xbf16, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%trips) on sequence attributes {expect = "m / 25"} {
      schedule.wait {queue = #schedule<queue copies>, pending = 1 : i64}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %row = arith.muli %next, %c16 : index
      %t0 = schedule.copy %a[%row, %c0] to %A[%next] valid(%end) : !schedule.buffer<?x64xbf16>, !schedule.tile<16x64xbf16, shared, slots = 3>
      %x = schedule.load %A[%t] : !schedule.tile<16x64xbf16, shared, slots = 3> -> !schedule.tile<16x64xbf16, register>
    }
  }
}
