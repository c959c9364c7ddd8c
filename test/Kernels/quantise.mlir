// RUN: %modelc-opt %s "--kernels-build=family=quantise shape=columns:28672,swiglu:1 tile=n:4096" --mlir-use-nameloc-as-prefix | FileCheck %s
// Two walks along the row: the largest magnitude, then the division.

// CHECK: schedule.kernel @quantise(%gate: {{.*}}, %up: {{.*}}, %out: !schedule.buffer<?x28672xf8E4M3FN>, %scale: {{.*}}, %m: index)
// CHECK: schedule.loop (%chunk) = (%c0) to (%c7) on sequence carry(%largest = %zero) : !schedule.tile<1x1xf32>
// CHECK: schedule.store %row_scale, %scale[%row_tile]
// CHECK: schedule.loop (%chunk) = (%c0) to (%c7) on sequence {
// CHECK: schedule.store %quantised, %out[%row_tile, %column]
