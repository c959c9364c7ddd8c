// RUN: %modelc-opt %s "--kernels-build=target=mi355x family=linear shape=columns:8192,inputs:8192 types=element:f4E2M1FN tile=m:16,n:64,k:256,waves:4" --schedule-finish | FileCheck %s
// Scales of so few rows are less than all lanes copy. A load of this trip would wait
// for all copies that were asked for before it, those of trips ahead too: it is of
// the trip after the next, of the last ones again the last.
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[LAST:.*]] = arith.constant 31 : index
// CHECK: %[[A0:.*]] = schedule.load %arg2[{{.*}}, %[[ZERO]], {{.*}}]
// CHECK: %[[A1:.*]] = schedule.load %arg2[{{.*}}, %[[TWO]], {{.*}}]
// CHECK: %[[B0:.*]] = schedule.load %arg3[{{.*}}, %[[ZERO]], {{.*}}]
// CHECK: %[[B1:.*]] = schedule.load %arg3[{{.*}}, %[[TWO]], {{.*}}]
// CHECK: schedule.loop (%[[T:.*]]) = {{.*}} carry(%{{.*}} = %{{.*}}, %[[A:.*]] = %[[A0]], %[[NEXT_A:.*]] = %[[A1]], %[[B:.*]] = %[[B0]], %[[NEXT_B:.*]] = %[[B1]])
// CHECK: %[[AHEAD:.*]] = arith.addi %[[T]], %[[TWO]]
// CHECK: %[[TRIP:.*]] = arith.minsi %[[AHEAD]], %[[LAST]]
// CHECK: %[[WORD:.*]] = arith.muli %[[TRIP]], %[[TWO]]
// CHECK: %[[LATER_A:.*]] = schedule.load %arg2[{{.*}}, %[[WORD]], {{.*}}]
// CHECK: %[[LATER_B:.*]] = schedule.load %arg3[{{.*}}, %[[WORD]], {{.*}}]
// CHECK: schedule.mma {{.*}} scaled(%[[A]], %[[B]] :
// CHECK: schedule.yield %{{.*}}, %[[NEXT_A]], %[[LATER_A]], %[[NEXT_B]], %[[LATER_B]]
