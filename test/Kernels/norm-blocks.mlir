// RUN: %modelc-opt %s "--kernels-build=target=b200 family=norm shape=columns:640,residual:1,sum:1,tensor_scaled:1 types=result:f4E2M1FN,scale:f8E4M3FN tile=n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s
// A row is four tiles, of the first, second, third and fourth block of every word of
// scales. Its squares are summed over the tiles, inside of blocks, then over words.

// CHECK: schedule.kernel @norm(%x: !schedule.buffer<?x10x4x8xvector<2xbf16>>, %weight: !schedule.buffer<10x4x8xvector<2xbf16>>, %residual: {{.*}}, %tensor_scale: !schedule.buffer<1xf32>, %out: !schedule.buffer<?x10x4x8xvector<2xf4E2M1FN>>, %scale: !schedule.buffer<?x10x256xvector<4xf8E4M3FN>>, %sum: {{.*}}, %m: index)
// CHECK: schedule.load %x[%row, %c0, %c3, %c0] valid(%c10) {dims = array<i64: 1, 3>} : {{.*}} -> !schedule.tile<16x8xvector<2xbf16>>
// CHECK: %sums = schedule.map(%values, %residuals)
// CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK: schedule.store %sums, %sum[%row, %c0, %c0, %c0] valid(%c10)
// CHECK: %squares = schedule.map(%sums, %sums_{{[0-9]*}}, %sums_{{[0-9]*}}, %sums_{{[0-9]*}})
// CHECK: %total = schedule.reduce{{ +}}add %squares along 1
// CHECK: schedule.reduce{{ +}}add %total along 0
// CHECK: math.rsqrt
// CHECK-COUNT-4: schedule.reduce{{ +}}max %magnitude{{.*}} along 1
// CHECK: schedule.store %scales, %scale[
