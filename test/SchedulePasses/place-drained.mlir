// Prefill attention over pages where one thread multiplies into tensor memory:
// scores are read every trip, weights go back through tensor memory, the sums stay
// and are changed in place. Each product has a barrier that the waves await, behind
// which they fill the slot that it has read.
// RUN: echo 'module attributes {schedule.target = "b200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:128,keys:64,slots:2" --schedule-choose-instruction --schedule-place-operands | FileCheck %s --check-prefix=PLACED
// RUN: echo 'module attributes {schedule.target = "b200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:128,keys:64,slots:2" --schedule-finish -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=relayout
// RUN: %emit %t.mlir | FileCheck %s --check-prefix=TEXT
// RUN: echo 'module attributes {schedule.target = "b200"} {}' | %modelc-opt "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:64,keys:64" --schedule-choose-instruction | FileCheck %s --check-prefix=SMALL

// PLACED: schedule.store %{{.*}}, %[[O:[^ ]*]][] : {{.*}}<128x128xf32, tensor>
// PLACED: schedule.loop (%[[T:[^ )]*]]) = {{.*}} carry(%{{[^ ]*}} = %{{[^ ,]*}}, %{{[^ ]*}} = %{{[^ ,]*}}) {{.*}}expect
// PLACED: %[[FIRST:.*]] = schedule.mma %[[S:[^ ,]*]], %{{.*}}, %{{.*}}[%[[T]]] init(%false{{.*}}) {asynchronous, grid = array<i64: 1, 1>, instruction = "Tcgen05Bf16"}
// PLACED-NEXT: schedule.arrive %[[DONE:.*]][%[[T]]] after(%[[FIRST]])
// PLACED: schedule.wait on %[[DONE]][%[[T]]]
// PLACED-NEXT: schedule.load %[[S]][]
// PLACED: truncf
// PLACED: schedule.store %{{.*}}, %[[WEIGHTS:.*]][] : !schedule.tile<128x64xbf16>, !schedule.tile<128x64xbf16, tensor>
// PLACED: %[[OLD:.*]] = schedule.load %[[O]][]
// PLACED: %[[NEW:.*]] = schedule.map(%[[OLD]],
// PLACED: schedule.store %[[NEW]], %[[O]][]
// PLACED: schedule.sync
// PLACED: %[[SECOND:.*]] = schedule.mma %[[O]], %[[WEIGHTS]], %{{.*}}[%[[T]]] {asynchronous, b_transposed,
// PLACED-NEXT: schedule.arrive %[[SUMMED:.*]][%[[T]]] after(%[[SECOND]])
// PLACED-NEXT: schedule.wait on %[[SUMMED]][%[[T]]]
// PLACED: schedule.load %[[O]][]

// Two workgroups share a unit: 512 columns, and shared memory.
// CHECK: shared_bytes = 98328 : i64
// CHECK-SAME: tensor_columns = 256 : i64
// CHECK: schedule.mma
// CHECK: schedule.mma

// TEXT: allocTensor<256>(shared);
// TEXT: mma<Tcgen05Bf16>({{.*}}, false);
// TEXT-NEXT: arriveAfterMma([[SCORED:.*]]);
// TEXT-NEXT: waitFor([[SCORED]]);
// TEXT: copyTile<4>(kCacheRing[step + 2],
// TEXT: storeTensor(
// TEXT: storeTensor(
// TEXT-NEXT: sync();
// TEXT-NEXT: mma<Tcgen05Bf16FromTensor, Transposed>(
// TEXT-NEXT: arriveAfterMma([[ADDED:.*]]);
// TEXT-NEXT: waitFor([[ADDED]]);
// TEXT: copyTile<4>(vCacheRing[step + 2],

// Fewer rows than the unit takes: waves multiply.
// SMALL: instruction = "MmaSync16x8x16Bf16"
// SMALL: instruction = "MmaSync16x8x16Bf16"
