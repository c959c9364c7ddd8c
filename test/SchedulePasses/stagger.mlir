// RUN: %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 tile=m:256,n:256,k:64,waves:8,pieces_m:2,pieces_n:2" --schedule-finish > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %emit %t.mlir -o - | FileCheck %s --check-prefix=TEXT
// RUN: not %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 tile=m:256,n:256,k:64,waves:4,pieces_m:2,pieces_n:2" --schedule-finish 2>&1 | FileCheck %s --check-prefix=WAVES
// RUN: not %modelc-opt %s "--kernels-build=target=mi300x family=linear shape=columns:8192,inputs:8192 tile=m:256,n:256,k:64,waves:8,pieces_m:2,pieces_n:2" --schedule-finish 2>&1 | FileCheck %s --check-prefix=SLOTS
// A quarter of the tile for each phase: what it is the first to read, one copy into
// a place that an earlier phase has read, a rendezvous, the product, a rendezvous.
// Each place is filled for the trip after the next; the last one in the next trip.

// Copies of 16 KiB by 8 waves are 2 entries. The prologue: all four places, then three.
// CHECK: schedule.kernel @linear{{.*}}shared_bytes = 131072
// CHECK-COUNT-4: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 4 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-COUNT-3: schedule.copy
// CHECK: schedule.sync
// CHECK-NEXT: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.loop (%[[T:.*]]) = {{.*}} attributes {stagger = 2 : i64}
// CHECK: schedule.load %[[A0:.*]][%[[T]]]
// CHECK-NEXT: schedule.load %[[B0:.*]][%[[T]]]
// CHECK: %[[T1:.*]] = arith.addi %[[T]], %c1
// CHECK: schedule.copy {{.*}} to %[[A1:.*]][%[[T1]]]
// CHECK: schedule.mma
// CHECK-NEXT: schedule.sync
// CHECK: schedule.load %[[B1:.*]][%[[T]]]
// CHECK: %[[T2:.*]] = arith.addi %[[T]], %c2
// CHECK: schedule.copy {{.*}} to %[[A0]][%[[T2]]]
// CHECK: schedule.mma
// CHECK: schedule.load %[[A1]][%[[T]]]
// CHECK: schedule.copy {{.*}} to %[[B0]][%[[T2]]]
// CHECK: schedule.mma
// CHECK: schedule.copy {{.*}} to %[[B1]][%[[T2]]]
// CHECK: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
// CHECK: schedule.sync
// CHECK: schedule.mma
// CHECK-COUNT-4: schedule.store

// TEXT: if (waveId() >= 4) { // these waves move while the others multiply
// TEXT-NEXT: syncOnly();
// TEXT: unroll<2>(0, 128,
// TEXT: waitReads<
// TEXT: syncOnly();
// TEXT: priority<1>();
// TEXT-NEXT: mma<Mfma16x16x32Bf16>(
// TEXT-NEXT: priority<0>();
// TEXT: if (waveId() < 4) { // all meet again
// TEXT-NEXT: syncOnly();

// WAVES: 'schedule.kernel' op expected one or two groups of 4 waves, one for each matrix pipe, and copies that are counted, got 2 groups of 4 waves on
// SLOTS: 'schedule.loop' op expected two slots of 65536 bytes to fit, to be staggered
