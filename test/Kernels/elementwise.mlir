// RUN: %modelc-opt %s "--kernels-build=family=elementwise shape=columns:1000 tile=rows:4,n:256" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=elementwise shape=columns:1024,kind:swiglu tile=rows:4,n:256" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=SWIGLU
// Sums and SwiGLU in f32, tile by tile.

// CHECK: schedule.kernel @elementwise(%a: {{.*}}, %b: {{.*}}, %out: {{.*}}, %m: index)
// CHECK: to (%row_tiles, %c4) on workgroups
// CHECK: arith.addf
// CHECK: schedule.store %result, %out[%row, %column] valid(%m, %c1000)

// SWIGLU: schedule.kernel @elementwise(%gate: {{.*}}, %up: {{.*}}, %out: {{.*}}, %m: index)
// SWIGLU: math.exp2
// SWIGLU: schedule.store %result, %out[%row, %column] valid(%m)
