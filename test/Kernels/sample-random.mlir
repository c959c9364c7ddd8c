// RUN: %modelc-opt %s "--kernels-build=family=sample shape=greedy:0,vocabulary:32000,top_k:40,top_p:0.9,temperature:0.5 tile=n:2048,ways:16" --mlir-use-nameloc-as-prefix | FileCheck %s
// Three searches by 16 thresholds at a time: by count, by mass, by the draw.

// CHECK: %draws: !schedule.buffer<?xf32>
// CHECK: %top_k = schedule.map()
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.constant 4.000000e+01 : f32
// CHECK: schedule.loop (%step) = (%c0) to (%c16) on sequence carry(%key = %start)
// CHECK: %thresholds = schedule.map(
// CHECK: schedule.tile<16x1xi64>
// CHECK: schedule.loop (%chunk) = (%c0) to (%c16) on sequence carry(%sums = %{{.*}}) : !schedule.tile<16x2048xf32>
// CHECK: arith.cmpf oge
// CHECK: %[[KEY:.*]] = schedule.reduce{{ +}}max %reached along 0
// CHECK: arith.constant 2.885390e+00 : f32
// CHECK: %goal = schedule.map(
// CHECK: schedule.loop (%step)
// CHECK: %share = schedule.map(%draw, %
// CHECK: schedule.loop (%step)
// CHECK: arith.cmpf ogt
// CHECK: %drawn = schedule.map(
// CHECK: schedule.store %token, %out[%sequence]
