// What a product leaves in lanes of four bytes of a row is exchanged in front of
// its store, what it is added to behind its load: an access of all lanes then moves
// whole sectors. Numbers of four bytes fill a sector as they are.
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=linear shape=columns:256,inputs:256,residual:1 types=element:bf16,result:bf16 tile=m:64,n:64,k:64" --schedule-finish | FileCheck %s
// RUN: echo 'module attributes {schedule.target = "h200"} {}' | %modelc-opt "--kernels-build=family=linear shape=columns:256,inputs:256 types=element:bf16,result:f32 tile=m:64,n:64,k:64" --schedule-finish | FileCheck %s --check-prefix=WHOLE --implicit-check-not=relayout
// RUN: echo 'module attributes {schedule.target = "mi355x"} {}' | %modelc-opt "--kernels-build=family=linear shape=columns:256,inputs:256,residual:1 types=element:bf16,result:bf16 tile=m:64,n:64,k:64" --schedule-finish | FileCheck %s --check-prefix=WHOLE --implicit-check-not=relayout

// CHECK: #[[OWN:.*]] = #schedule.layout<(register = [0:1, 8:0, 0:8, 0:16, 0:32], lane = [0:2, 0:4, 1:0, 2:0, 4:0]
// CHECK: #[[WIDE:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4, 8:0, 0:32], lane = [0:8, 0:16, 1:0, 2:0, 4:0]
// CHECK: %[[R:.*]] = schedule.load %{{.*}} -> !schedule.tile<64x64xbf16, register, #[[WIDE]]>
// CHECK: schedule.relayout %[[R]] : <64x64xbf16, register, #[[WIDE]]> -> <64x64xbf16, register, #[[OWN]]>
// CHECK: %[[OUT:.*]] = schedule.relayout %{{.*}} : <64x64xbf16, register, #[[OWN]]> -> <64x64xbf16, register, #[[WIDE]]>
// CHECK-NEXT: schedule.store %[[OUT]]
// WHOLE: schedule.store
