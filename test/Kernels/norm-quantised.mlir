// RUN: %modelc-opt %s "--kernels-build=family=norm shape=columns:4096 types=result:f8E4M3FN tile=n:4096" --mlir-use-nameloc-as-prefix | FileCheck %s
// An 8-bit result has a scale for each row: largest magnitude over 448, or 1.

// CHECK: %out: !schedule.buffer<?x4096xf8E4M3FN>, %scale: !schedule.buffer<?xf32>, %m: index
// CHECK: %magnitude = schedule.map(%normed)
// CHECK: %largest = schedule.reduce{{ +}}max %magnitude along 1
// CHECK: %row_scale = schedule.map(%largest)
// CHECK: arith.constant 0.00223214296 : f32
// CHECK: arith.select
// CHECK: schedule.store %row_scale, %scale[%row_tile] valid(%m) {dims = array<i64: 0, 0>}
// CHECK: %quantised = schedule.map(%normed, %inverse)
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
