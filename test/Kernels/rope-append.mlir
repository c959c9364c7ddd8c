// RUN: %modelc-opt %s "--kernels-build=family=rope-append shape=heads:8,kv_heads:2 tile=tokens:16" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=rope-append shape=heads:8,kv_heads:2 types=cache:f8E4M3FN tile=packs_heads:1" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=DECODE
// Halves of a head turn against each other; keys and values go through the pages.
// With one token for each sequence the group of heads fills the rows of a tile.

// CHECK: schedule.loop (%sequence, %tile, %kv_head) = {{.*}} to (%sequences, %tiles, %c2) on workgroups
// CHECK: attributes {expect = "min(1, tokens / (sequences * longest))"}
// CHECK: %cosines = schedule.load %rope[%position, %c0, %c0] valid(%context) {dims = array<i64: 0, 2>} : {{.*}} -> !schedule.tile<16x64xf32>
// CHECK: schedule.loop (%member) = (%c0) to (%c4)
// CHECK: %left{{[_0-9]*}} = schedule.load %qkv[%row, %{{.*}}, %c0] valid(%end)
// CHECK: %right{{[_0-9]*}} = schedule.load %qkv[%row, %{{.*}}, %c64] valid(%end)
// CHECK: schedule.store %turned_left{{[_0-9]*}}, %q[
// CHECK: schedule.store %turned_right{{[_0-9]*}}, %q[
// CHECK: schedule.store %{{.*}}, %k_cache[%position, %kv_head, %c64] pages(%pages, %sequence : {{.*}}) valid(%context) {dims = array<i64: 0, 2>, page_size = 16 : i64}
// CHECK: schedule.store %v, %v_cache[%position, %kv_head, %c0] pages(%pages, %sequence

// DECODE: %left{{[_0-9]*}} = schedule.load %qkv[%row{{[_0-9]*}}, %first_head, %c0] valid(%{{.*}}) : {{.*}} -> !schedule.tile<4x64xbf16>
// DECODE: arith.minimumf
// DECODE: arith.truncf %{{.*}} : f32 to f8E4M3FN
// DECODE: schedule.store %{{.*}}, %k_cache
