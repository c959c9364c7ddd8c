// RUN: %modelc-opt %s "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2 tile=queries:128,keys:64" --mlir-use-nameloc-as-prefix | FileCheck %s
// Keys end behind the last query of the tile; the softmax runs in base 2.

// CHECK: schedule.loop (%sequence, %head, %tile) = {{.*}} to (%sequences, %c8, %tiles) on workgroups
// CHECK: %kv_head = arith.divsi %head, %c4
// CHECK: %[[LAST:.*]] = arith.addi %position, %c128
// CHECK: %[[SEEN:.*]] = arith.minsi %[[LAST]], %context
// CHECK: %trips = arith.ceildivsi %[[SEEN]], %c64
// CHECK: schedule.loop (%t) = (%c0) to (%trips) on sequence carry(%o = {{.*}}, %max = {{.*}}, %sum = {{[^)]*}})
// CHECK-SAME: expect = "(context - tokens / sequences / 2 + 64) / 64 + 0.5"
// Only tiles of keys that are as late as a query are masked.
// CHECK: %[[LATE:.*]] = arith.addi %key, %c63
// CHECK: arith.cmpi slt, %position, %[[LATE]]
// CHECK: %keys = schedule.load %k_cache[%key, %kv_head, %c0] pages(%pages, %sequence : {{.*}}) valid(%context) {dims = array<i64: 0, 2>, page_size = 16 : i64} : {{.*}} -> !schedule.tile<64x128xbf16>
// CHECK: %products = schedule.mma
// CHECK: %[[SCORES:.*]] = schedule.loop {{.*}} carry(%scores = %products)
// CHECK-SAME: expect = "min(1, 2 / ((context - tokens / sequences / 2 + 64) / 64 + 0.5))"
// CHECK: arith.cmpi sle
// CHECK: schedule.reduce{{ +}}max %[[SCORES]] along 1
// CHECK: arith.constant 0.127517432 : f32
// CHECK: math.fma
// CHECK: schedule.mma %decayed, %weights, %values {b_transposed}
// CHECK: schedule.store %result{{[_0-9]*}}, %out[
