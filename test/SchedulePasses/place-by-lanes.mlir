// Prefill attention over pages on a matrix unit of four waves: what no box can
// fetch is copied by lanes, queries once, keys and values in rings that share one
// rendezvous. Both products run beside the waves and are awaited before their
// first use; the weights go on in the registers where the softmax left them.
// Results alone are exchanged, in front of their store.
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:128,keys:128,waves:8" --schedule-choose-instruction --schedule-place-operands | FileCheck %s --check-prefix=PLACED
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:128,keys:128,waves:8" --schedule-finish -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=relayout
// RUN: %emit %t.mlir | FileCheck %s --check-prefix=TEXT
// Eight-bit caches are converted by the waves, which store them for the unit.
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2,cache:f8E4M3FN tile=queries:64,keys:32" --schedule-choose-instruction --schedule-place-operands | FileCheck %s --check-prefix=NARROW

// PLACED-DAG: %[[K:.*]] = schedule.alloc : !schedule.tile<128x128xbf16, shared>
// PLACED: schedule.copy %arg0[{{.*}}] to %[[Q:[^ ]*]][] valid(
// PLACED: schedule.copy %arg1[{{.*}}] to %[[KEYS:[^ ]*]][%[[T:[^ ]*]]] pages(
// PLACED: schedule.sync
// PLACED-NEXT: %[[S:.*]] = schedule.mma %{{.*}}, %[[Q]], %[[KEYS]][%[[T]]] {asynchronous, grid = array<i64: 2, 1>, instruction = "WgmmaBf16"}
// PLACED: schedule.wait {pending = 0 : i64, queue = #schedule<queue matrix>}
// PLACED-NEXT: schedule.loop {{.*}} carry(%{{.*}} = %[[S]])
// PLACED: %[[O:.*]] = schedule.mma %{{.*}}, %{{.*}}, %{{.*}}[%[[T]]] {asynchronous, b_transposed, grid = array<i64: 2, 1>, instruction = "WgmmaBf16FromRegister"}
// PLACED-NEXT: schedule.wait {pending = 0 : i64, queue = #schedule<queue matrix>}
// PLACED-NEXT: schedule.yield %[[O]]

// CHECK-LABEL: schedule.kernel @attention_prefill
// CHECK-DAG: schedule.alloc at 0 {{.*}}tile<128x128xbf16, shared, #{{[^,>]*}}>
// CHECK-DAG: schedule.alloc at 32768 {{.*}}tile<128x128xbf16, shared, #{{.*}}, slots = 3>
// CHECK-DAG: schedule.alloc at 131072 {{.*}}tile<128x128xbf16, shared, #{{.*}}, slots = 3>
// CHECK: schedule.wait {pending = 2 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK: schedule.mma
// CHECK: schedule.mma
// CHECK: %[[WIDE:.*]] = schedule.relayout
// CHECK-NEXT: schedule.store %[[WIDE]]

// TEXT: waitCopies<2>();
// TEXT-NEXT: publishShared();
// TEXT-NEXT: sync();
// TEXT: mma<WgmmaBf16>(
// TEXT-NOT: mma<
// TEXT: copyTile<8>(kCacheRing[step + 2], {{.*}}.wholePages<16>(
// TEXT: copyTile<8>(vCacheRing[step + 2], {{.*}}.wholePages<16>(
// TEXT-NEXT: waitMatrix<0>(
// TEXT: mma<WgmmaBf16FromRegister, Transposed>(
// TEXT-NEXT: waitMatrix<0>(

// NARROW: schedule.copy %arg1[{{.*}}] to %[[RING:[^ ]*]][%[[T:[^ ]*]]] pages(
// NARROW: %[[READ:.*]] = schedule.load %[[RING]][%[[T]]]
// NARROW-NEXT: %[[WIDE:.*]] = schedule.map(%[[READ]])
// NARROW: schedule.store %[[WIDE]], %[[PLACE:.*]][] : !schedule.tile<32x128xbf16>,
// NARROW-NEXT: schedule.sync
// NARROW-NEXT: schedule.mma %{{.*}}, %{{.*}}, %[[PLACE]] {asynchronous, grid = array<i64: 1, 1>, instruction = "WgmmaBf16"}
// NARROW: instruction = "WgmmaBf16FromRegister"
