// RUN: %modelc-opt %s "--kernels-build=family=attention-prefill shape=heads:8,kv_heads:2,window:128 tile=queries:128,keys:64,delayed:1" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=attention-decode shape=heads:8,kv_heads:2,window:128 tile=splits:8" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=DECODE
// Walks begin at the tile of the first key that is seen, which may be masked; a
// query that sees none of it has a maximum that is a number.

// CHECK: %[[BEHIND:.*]] = arith.addi %position, %c1 :
// CHECK: %[[FIRST:.*]] = arith.subi %[[BEHIND]], %c128
// CHECK: %[[KEY:.*]] = arith.maxsi %[[FIRST]], %c0
// CHECK: %first_tile = arith.divsi %[[KEY]], %c64
// CHECK: %[[TILES:.*]] = arith.subi %{{.*}}, %first_tile
// CHECK: %trips = arith.addi %[[TILES]], %c1
// CHECK: arith.constant -3.40282347E+38 : f32
// CHECK: schedule.loop (%t) = (%c0) to (%trips)
// CHECK-SAME: expect = "(context - tokens / sequences / 2 + 64 - (max(0, context - 160) ^ 2 - max(0, context - tokens / sequences - 160) ^ 2) / (tokens / sequences) / 2) / 64 + 1.5"
// CHECK: %[[TILE:.*]] = arith.addi %first_tile, %t
// CHECK: %key = arith.muli %[[TILE]], %c64
// CHECK: %[[LATE:.*]] = arith.cmpi slt, %position, %{{.*}}
// CHECK: %[[EARLY:.*]] = arith.cmpi slt, %key, %position
// CHECK: arith.ori %[[LATE]], %[[EARLY]]
// CHECK: schedule.loop {{.*}} carry(%scores = %products)
// CHECK-SAME: expect = "min(1, (3 + 2 * (max(0, context - 128) - max(0, context - tokens / sequences - 128)) / (tokens / sequences)) / (

// DECODE: %[[FIRST:.*]] = arith.subi %context, %c128
// DECODE: %[[KEY:.*]] = arith.maxsi %[[FIRST]], %c0
// DECODE: %first_tile = arith.divsi %[[KEY]], %c64
// DECODE: %[[END:.*]] = arith.ceildivsi %context, %c64
// DECODE: %tiles = arith.subi %[[END]], %first_tile
// DECODE: schedule.loop (%t) = (%c0) to (%trips)
// DECODE-SAME: expect = "max(1, min(context / 64 + 0.5, 191 / 64)) / splits"
// DECODE: %[[BEFORE:.*]] = arith.cmpi slt
// DECODE: %[[WITHIN:.*]] = arith.cmpi sle
// DECODE: arith.andi %[[BEFORE]], %[[WITHIN]]
