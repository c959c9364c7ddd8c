// RUN: %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 tile=m:256,n:256,k:64,waves:4,groups:1,pieces_m:2,pieces_n:2" --schedule-finish > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %emit %t.mlir -o - | FileCheck %s --check-prefix=TEXT
// While a product runs, what the next one is the first to read is read; the last
// one reads for the next trip. Copies fill what was read before the rendezvous, of
// which a trip has one; with two slots they all go into its first half.

// Copies of 16 KiB by 4 waves are 4 entries. The prologue: two slots of what the
// first product reads, one of the others.
// CHECK: schedule.kernel @linear{{.*}}shared_bytes = 131072
// CHECK-COUNT-6: schedule.copy
// CHECK: schedule.wait {pending = {{[0-9]+}} : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: %[[A:.*]] = schedule.load %[[A0:.*]][%c0]
// CHECK-NEXT: %[[B:.*]] = schedule.load %[[B0:.*]][%c0]
// CHECK-NEXT: schedule.wait {pending = 0 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK: schedule.loop (%[[T:.*]]) = {{.*}} carry({{.*}}, %[[CA:.*]] = %[[A]], %[[CB:.*]] = %[[B]]) {{.*}} attributes {stagger = 1 : i64}
// CHECK-NEXT: %[[VB1:.*]] = schedule.load %[[B1:.*]][%[[T]]]
// CHECK: %[[T1:.*]] = arith.addi %[[T]], %c1
// CHECK: schedule.copy {{.*}} to %[[B1]][%[[T1]]]
// CHECK: schedule.copy {{.*}} to %[[A1:.*]][%[[T1]]]
// CHECK: schedule.mma %{{.*}}, %[[CA]], %[[CB]]
// CHECK-NEXT: %[[VA1:.*]] = schedule.load %[[A1]][%[[T]]]
// CHECK: %[[T2:.*]] = arith.addi %[[T]], %c2
// CHECK: schedule.copy {{.*}} to %[[A0]][%[[T2]]]
// CHECK: schedule.copy {{.*}} to %[[B0]][%[[T2]]]
// CHECK: schedule.mma %{{.*}}, %[[CA]], %[[VB1]]
// CHECK-NEXT: schedule.mma %{{.*}}, %[[VA1]], %[[CB]]
// CHECK-NEXT: %[[NA:.*]] = schedule.load %[[A0]][%[[T1]]]
// CHECK-NEXT: %[[NB:.*]] = schedule.load %[[B0]][%[[T1]]]
// CHECK-NEXT: schedule.mma %{{.*}}, %[[VA1]], %[[VB1]]
// CHECK-NEXT: schedule.wait {pending = 0 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: schedule.yield {{.*}}, %[[NA]], %[[NB]]
// CHECK-COUNT-4: schedule.store

// 32 products of each wave, what moves since the last ones between them.
// TEXT: unroll<2>(0, 128,
// TEXT: mma<Mfma16x16x32Bf16>(
// TEXT-NEXT: interleave<32, 8, 8>();
// TEXT: interleave<32, 8, 8>();
// TEXT: interleave<32, 0, 0>();
// TEXT: interleave<32, 16, 0>();
// TEXT-NEXT: waitCopies<0>();
// TEXT-NEXT: sync();
