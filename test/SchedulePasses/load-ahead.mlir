// RUN: %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 types=element:f4E2M1FN tile=m:16,n:64,k:512,waves:4" --schedule-finish | FileCheck %s
// Scales of so few rows are less than all lanes copy. A load of this trip would wait
// for all copies that were asked for before it, those of trips ahead too. It is of a
// later one, of the last ones again the last: 1011 clk of memory are within two and
// a half trips of 21760 B at 43 B/clk.
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[END:.*]] = arith.constant 15 : index
// CHECK: %[[FIRST:.*]] = schedule.load %arg2[{{.*}}, %[[ZERO]], {{.*}}]
// CHECK: %[[SECOND:.*]] = schedule.load %arg2[{{.*}}, %[[FOUR]], {{.*}}]
// CHECK: %[[THIRD:.*]] = schedule.load %arg2[
// CHECK: schedule.loop (%[[T:.*]]) = {{.*}} carry(%{{.*}} = %{{.*}}, %[[A:.*]] = %[[FIRST]], %[[NEXT:.*]] = %[[SECOND]], %[[LAST:.*]] = %[[THIRD]])
// CHECK: %[[AHEAD:.*]] = arith.addi %[[T]], %[[THREE]]
// CHECK: %[[TRIP:.*]] = arith.minsi %[[AHEAD]], %[[END]]
// CHECK: %[[WORD:.*]] = arith.muli %[[TRIP]], %[[FOUR]]
// CHECK: %[[LATER:.*]] = schedule.load %arg2[{{.*}}, %[[WORD]], {{.*}}]
// CHECK: schedule.mma {{.*}} scaled(%[[A]], %
// CHECK: schedule.yield %{{.*}}, %[[NEXT]], %[[LAST]], %[[LATER]] :

// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:8192,inputs:8192 types=element:f8E4M3FN,scale:f32 tile=m:128,n:128,k:128,waves:4,roles:1" --schedule-finish | FileCheck %s --check-prefix=SHORT
// Scales that waves multiply by: of 1020 clk in trips of 32768 B at 92 B/clk four of
// the input and four of the weight, beside the sums.
// SHORT: :9 = schedule.loop {{.*}} on sequence carry(
// SHORT-SAME: !schedule.tile<128x1xf32, register, #{{.*}}>, !schedule.tile<128x1xf32, register, #{{.*}}>, !schedule.tile<128x1xf32, register, #{{.*}}>, !schedule.tile<128x1xf32, register, #{{.*}}>, !schedule.tile<1x1xf32

// RUN: %modelc-opt %s "--kernels-build=target=b200 family=linear shape=columns:8192,inputs:8192 types=element:f8E4M3FN,scale:f32 tile=m:32,n:128,k:128,waves:4,swapped:1,roles:1" --schedule-finish | FileCheck %s --check-prefix=WIDE
// The weight first: a lane holds the scales of all rows, 32 registers a trip. There is
// room for two trips of them, and for the six of the weight's.
// WIDE: :9 = schedule.loop {{.*}} on sequence carry(
// WIDE-SAME: !schedule.tile<1x32xf32, register, #{{.*}}>, !schedule.tile<1x32xf32, register, #{{.*}}>, !schedule.tile<1x1xf32

// RUN: %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 tile=m:64,n:64,k:64,waves:4,weights_ahead:2" --schedule-finish | FileCheck %s --check-prefix=WEIGHT
// A weight that lanes load has no place, and no two waves load the same of it. Copies and
// loads are two entries each a trip: behind the copies of a trip may fly its loads and all
// of the next one, once the first copies are there.
// WEIGHT: schedule.alloc at 0 {{.*}} : !schedule.tile<64x64xbf16, shared,
// WEIGHT-NOT: schedule.alloc
// WEIGHT: schedule.load %arg1[{{.*}}] : !schedule.buffer<8192x8192xbf16>
// WEIGHT: schedule.load %arg1[{{.*}}] : !schedule.buffer<8192x8192xbf16>
// WEIGHT: schedule.wait {pending = 0 : i64
// WEIGHT-NEXT: schedule.loop {{.*}} carry(
// WEIGHT-NEXT: schedule.wait {pending = 6 : i64
// WEIGHT: schedule.load %arg1[{{.*}}] {ahead = 2 : i64}
// WEIGHT: schedule.mma {{.*}}grid = array<i64: 1, 4>

// RUN: %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 types=element:f4E2M1FN tile=m:32,n:128,k:256,slots:3,weights_ahead:3" --schedule-finish | FileCheck %s --check-prefix=BLOCKS
// The same of scales of the weight: behind the copy of a trip may fly that of the next one
// and two trips of four loads and one.
// BLOCKS: schedule.wait {pending = 11 : i64
// BLOCKS: schedule.load %arg1[{{.*}}] {ahead = 3 : i64}
// BLOCKS: schedule.load %arg3[{{.*}}] {ahead = 3 : i64}
