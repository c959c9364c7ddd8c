// RUN: %modelc-opt %s "--kernels-build=family=linear shape=columns:256,inputs:448 tile=splits:3,k:64" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=linear-reduce shape=columns:256,inputs:448,residual:1 tile=splits:3,reduce_n:256" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=REDUCE
// RUN: not %modelc-opt %s "--kernels-build=family=linear shape=columns:256,inputs:448 tile=splits:5,k:64" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: expected parts of the sum with a step each, got 5 of 448 inputs in steps of 64
// RUN: not %modelc-opt %s "--kernels-build=family=linear shape=columns:256,inputs:448 tile=splits:0,k:64" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected parts of the sum with a step each, got 0 of 448 inputs in steps of 64
// RUN: not %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:256,inputs:448 types=element:f4E2M1FN tile=m:64,k:64" 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS: expected steps of whole words of scales, multiples of 128 inputs, got k:64
// 7 steps over 3 parts: 3, 3 and 1; sums go to a workspace, a second kernel adds.

// CHECK: %partial: !schedule.buffer<?x3x256xf32>, %m: index
// CHECK: schedule.loop (%part, %row_tile, %column_tile) = {{.*}} to (%c3, %row_tiles, %c4) on workgroups
// CHECK: %first = arith.muli %part, %c3
// CHECK: %[[REST:.*]] = arith.subi %c7, %first
// CHECK: %[[MIN:.*]] = arith.minsi %c3, %[[REST]]
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[MIN]], %c1
// CHECK: schedule.loop (%t) = (%c0) to (%[[TRIPS]])
// CHECK: schedule.store %{{.*}}, %partial[%row, %part, %column] valid(%m) {dims = array<i64: 0, 2>}

// REDUCE: schedule.kernel @linear_reduce(%partial: !schedule.buffer<?x3x256xf32>, %residual: {{.*}}, %d: {{.*}}, %m: index)
// All parts are asked for before they are added.
// REDUCE: schedule.load %partial[%row_tile, %c0, %column] valid(%m) {dims = array<i64: 0, 2>}
// REDUCE-NEXT: schedule.load %partial[%row_tile, %c1, %column] valid(%m) {dims = array<i64: 0, 2>}
// REDUCE-NEXT: schedule.load %partial[%row_tile, %c2, %column] valid(%m) {dims = array<i64: 0, 2>}
// REDUCE: schedule.store %result, %d[%row_tile, %column]
