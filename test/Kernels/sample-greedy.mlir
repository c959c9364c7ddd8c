// RUN: %modelc-opt %s "--kernels-build=family=sample shape=vocabulary:32000 tile=n:2048" --mlir-use-nameloc-as-prefix | FileCheck %s
// The largest 64-bit key: the logit above the complement of its index.

// CHECK: schedule.kernel @sample(%logits: !schedule.buffer<?x32000xf32>, %out: !schedule.buffer<?xi32>, %sequences: index)
// CHECK: schedule.loop (%chunk) = (%c0) to (%c16) on sequence carry(%highest{{[_0-9]*}} = %none) : !schedule.tile<1x2048xi64>
// CHECK: arith.shli
// CHECK: arith.maxsi %{{.*}} : i64
// CHECK: %[[KEY:.*]] = schedule.reduce{{ +}}max %{{.*}} along 1 : <1x2048xi64> -> <1x1xi64>
// CHECK: %token = schedule.map(%[[KEY]])
// CHECK: schedule.store %token, %out[%sequence]
