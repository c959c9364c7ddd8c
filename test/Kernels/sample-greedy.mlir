// RUN: %modelc-opt %s "--kernels-build=family=sample shape=vocabulary:32000 tile=n:2048" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=sample shape=vocabulary:1000 tile=n:2048" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=SHORT
// Each lane keeps the largest logit that it meets and its first index, and loads three
// chunks ahead; the last chunk ends with the row. Of what lanes have, the largest 64-bit
// key: the logit above the complement of its index.

// CHECK: schedule.kernel @sample(%logits: !schedule.buffer<?x32000xf32>, %out: !schedule.buffer<?xi32>, %sequences: index)
// CHECK-COUNT-3: schedule.load %logits
// CHECK: schedule.loop (%chunk) = (%c0) to (%c16) on sequence carry(%highest{{[_0-9]*}} = %none, %index = %first, %scores
// CHECK: %column = arith.minsi %{{.*}}, %c29952
// CHECK: schedule.load %logits[%sequence, %column] {dims
// CHECK: arith.cmpf ogt
// CHECK: %keys = schedule.map(
// CHECK: arith.shli
// CHECK: %[[KEY:.*]] = schedule.reduce{{ +}}max %keys along 1 : <1x2048xi64> -> <1x1xi64>
// CHECK: %token = schedule.map(%[[KEY]])
// CHECK: schedule.store %token, %out[%sequence]

// What lies beyond a row that is shorter than a chunk is no logit.
// SHORT: schedule.load %logits[%sequence, %c0] valid(%{{.*}}, %c1000)
// SHORT: arith.cmpi slt, %{{.*}}, %c1000
// SHORT: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
