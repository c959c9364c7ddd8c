// RUN: %modelc-opt %s "--schedule-choose-instruction=targets-dir=%src_root/test/targets" "--schedule-infer-layouts=targets-dir=%src_root/test/targets" | FileCheck %s
// Vectors along the columns where nothing multiplies; fragments and what is
// computed from them elsewhere.

// 8 elements of 16 bytes, 32 lanes, 4 waves: a row of 1024.
// CHECK-DAG: #[[ROW:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4], lane = [0:8, 0:16, 0:32, 0:64, 0:128], wave = [0:256, 0:512]) -> (row = 1, column = 1024)>
// CHECK-DAG: #[[SUM:.*]] = #schedule.layout<(register = [], lane = [0:0, 0:0, 0:0, 0:0, 0:0], wave = [0:0, 0:0]) -> (row = 1, column = 1)>
// The accumulator, exchanged, is the operand that is made of it; its rows.
// CHECK-DAG: #[[C:.*]] = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:16], lane = [1:0, 2:0, 4:0, 8:0, 0:8], wave = [16:0, 32:0]) -> (row = 64, column = 32)>
// CHECK-DAG: #[[ROWS:.*]] = #schedule.layout<(register = [], lane = [1:0, 2:0, 4:0, 8:0, 0:0], wave = [16:0, 32:0]) -> (row = 64, column = 1)>
// A product that is stored by columns is not exchanged, and an operand made of it
// goes elsewhere.
// CHECK-DAG: #[[PLAIN:.*]] = #schedule.layout<(register = [1:0, 2:0, 4:0, 0:16], lane = [0:1, 0:2, 0:4, 0:8, 8:0], wave = [16:0, 32:0]) -> (row = 64, column = 32)>
// CHECK-DAG: #[[IDS:.*]] = #schedule.layout<(register = [], lane = [1:0, 2:0, 4:0, 8:0, 0:0], wave = [0:0, 0:0]) -> (row = 16, column = 1)>

module attributes {schedule.target = "toy"} {
// CHECK-LABEL: @norm
schedule.kernel @norm(%a: !schedule.buffer<?x1024xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  // Four waves hold parts of the sum.
  // CHECK: %[[SCRATCH:.*]] = schedule.alloc : !schedule.tile<4x1xf32, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: schedule.load {{.*}} -> !schedule.tile<1x1024xbf16, register, #[[ROW]]>
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x1024xbf16> -> !schedule.tile<1x1024xbf16>
    // CHECK: schedule.map(
    // CHECK: -> !schedule.tile<1x1024xf32, register, #[[ROW]]>
    %f = schedule.map (%x) {
    ^bb0(%v: bf16, %r: index, %c: index):
      %w = arith.extf %v : bf16 to f32
      schedule.yield %w : f32
    } : (!schedule.tile<1x1024xbf16>) -> !schedule.tile<1x1024xf32>
    // CHECK: schedule.reduce{{ +}}add {{.*}} along 1 through %[[SCRATCH]] {{.*}} -> <1x1xf32, register, #[[SUM]]>
    %s = schedule.reduce add %f along 1 : !schedule.tile<1x1024xf32> -> !schedule.tile<1x1xf32>
    %o = schedule.map (%f, %s) {
    ^bb0(%v: f32, %t: f32, %r: index, %c: index):
      %w = arith.divf %v, %t : f32
      %b = arith.truncf %w : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<1x1024xf32>, !schedule.tile<1x1xf32>) -> !schedule.tile<1x1024xbf16>
    // CHECK: schedule.store {{.*}} : !schedule.tile<1x1024xbf16, register, #[[ROW]]>
    schedule.store %o, %a[%i, %c0] : !schedule.tile<1x1024xbf16>, !schedule.buffer<?x1024xbf16>
  }
}

// CHECK-LABEL: @softmax
schedule.kernel @softmax(%a: !schedule.buffer<?x64xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %k = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<32x64xbf16>
    %v = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x32xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %c: index):
      %f = arith.constant 0.0 : f32
      schedule.yield %f : f32
    } : () -> !schedule.tile<64x32xf32>
    %o = schedule.map () {
    ^bb0(%r: index, %c: index):
      %f = arith.constant 0.0 : f32
      schedule.yield %f : f32
    } : () -> !schedule.tile<64x64xf32>
    // CHECK: schedule.mma {{.*}} -> !schedule.tile<64x32xf32, register, #[[C]]>
    %s = schedule.mma %z, %x, %k : !schedule.tile<64x32xf32>, !schedule.tile<64x64xbf16>, !schedule.tile<32x64xbf16> -> !schedule.tile<64x32xf32>
    // CHECK: schedule.reduce{{ +}}max {{.*}} -> <64x1xf32, register, #[[ROWS]]>
    %max = schedule.reduce max %s along 1 : !schedule.tile<64x32xf32> -> !schedule.tile<64x1xf32>
    // The product of rows is the next operand where it lies.
    // CHECK: %[[P:.*]] = schedule.map(
    // CHECK: -> !schedule.tile<64x32xbf16, register, #[[C]]>
    %p = schedule.map (%s, %max) {
    ^bb0(%e: f32, %t: f32, %r: index, %c: index):
      %d = arith.subf %e, %t : f32
      %b = arith.truncf %d : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<64x32xf32>, !schedule.tile<64x1xf32>) -> !schedule.tile<64x32xbf16>
    // CHECK-NOT: schedule.relayout
    // CHECK: schedule.mma %{{.*}}, %[[P]],
    %n = schedule.mma %o, %p, %v : !schedule.tile<64x64xf32>, !schedule.tile<64x32xbf16>, !schedule.tile<64x32xbf16> -> !schedule.tile<64x64xf32>
    schedule.store %n, %a[%i, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xbf16>
  }
}

// CHECK-LABEL: @columns
schedule.kernel @columns(%a: !schedule.buffer<?x64xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %k = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<32x64xbf16>
    %v = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x32xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %c: index):
      %f = arith.constant 0.0 : f32
      schedule.yield %f : f32
    } : () -> !schedule.tile<64x32xf32>
    %o = schedule.map () {
    ^bb0(%r: index, %c: index):
      %f = arith.constant 0.0 : f32
      schedule.yield %f : f32
    } : () -> !schedule.tile<64x64xf32>
    // CHECK: schedule.mma {{.*}} -> !schedule.tile<64x32xf32, register, #[[PLAIN]]>
    %s = schedule.mma %z, %x, %k : !schedule.tile<64x32xf32>, !schedule.tile<64x64xbf16>, !schedule.tile<32x64xbf16> -> !schedule.tile<64x32xf32>
    // CHECK: schedule.store
    schedule.store %s, %a[%i, %c0] {dims = array<i64: 1, 0>} : !schedule.tile<64x32xf32>, !schedule.buffer<?x64xbf16>
    // CHECK: %[[P:.*]] = schedule.map(
    // CHECK: -> !schedule.tile<64x32xbf16, register, #[[PLAIN]]>
    %p = schedule.map (%s) {
    ^bb0(%e: f32, %r: index, %c: index):
      %b = arith.truncf %e : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<64x32xf32>) -> !schedule.tile<64x32xbf16>
    // CHECK: %[[PA:.*]] = schedule.relayout %[[P]] : {{.*}} -> <64x32xbf16, register, #[[C]]>
    // CHECK: schedule.mma %{{.*}}, %[[PA]],
    %n = schedule.mma %o, %p, %v : !schedule.tile<64x64xf32>, !schedule.tile<64x32xbf16>, !schedule.tile<64x32xbf16> -> !schedule.tile<64x64xf32>
    schedule.store %n, %a[%i, %c0] {dims = array<i64: 1, 0>} : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xbf16>
  }
}

// CHECK-LABEL: @gather
schedule.kernel @gather(%a: !schedule.buffer<?x64xbf16>, %n: !schedule.buffer<?xi32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // Row numbers lie in the lanes of every wave.
    // CHECK: schedule.load {{.*}} -> !schedule.tile<16x1xi32, register, #[[IDS]]>
    %ids = schedule.load %n[%i] : !schedule.buffer<?xi32> -> !schedule.tile<16x1xi32>
    %x = schedule.load %a[%c0, %c0] rows(%ids : !schedule.tile<16x1xi32>) : !schedule.buffer<?x64xbf16> -> !schedule.tile<16x64xbf16>
    schedule.store %x, %a[%i, %c0] : !schedule.tile<16x64xbf16>, !schedule.buffer<?x64xbf16>
  }
}
}
