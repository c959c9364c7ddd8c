// RUN: %modelc-opt %s "--kernels-build=family=gather shape=columns:4096,table:32000 tile=rows:4,n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=gather shape=columns:4096,last:1 tile=rows:4,n:1024" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=LAST
// Rows by token number; or the row before the start of the next sequence.

// CHECK: %numbers = schedule.load %ids[%row] valid(%m) {dims = array<i64: 0, 0>} : {{.*}} -> !schedule.tile<4x1xi32>
// CHECK: schedule.load %table[%c0, %column] rows(%numbers : !schedule.tile<4x1xi32>)

// LAST: %[[NEXT:.*]] = arith.addi %row, %c1
// LAST: schedule.load %starts[%[[NEXT]]] valid(
// LAST: arith.maxsi
// LAST: schedule.load %table[%c0, %column] rows(
// LAST: schedule.store %values, %out[%row, %column] valid(%m)
