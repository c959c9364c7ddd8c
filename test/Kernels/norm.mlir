// RUN: %modelc-opt %s "--kernels-build=family=norm shape=columns:5120,residual:1,sum:1 tile=n:8192" --mlir-use-nameloc-as-prefix | FileCheck %s
// A row that is no power of two is masked; the rounded sum is stored and normed.

// CHECK: schedule.kernel @norm(%x: !schedule.buffer<?x5120xbf16>, %weight: !schedule.buffer<5120xbf16>, %residual: {{.*}}, %out: {{.*}}, %sum: {{.*}}, %m: index)
// CHECK: schedule.load %x[%row_tile, %c0] valid(%m, %c5120) {dims = array<i64: 0, 1>} : {{.*}} -> !schedule.tile<1x8192xbf16>
// CHECK: %sums = schedule.map(
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: schedule.store %sums, %sum[%row_tile, %c0] valid(%m, %c5120)
// CHECK: %squares = schedule.map(%sums)
// CHECK: %total = schedule.reduce{{ +}}add %squares along 1
// CHECK: math.rsqrt
// CHECK: %normed = schedule.map(%sums, %factor, %weights)
