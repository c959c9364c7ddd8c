// RUN: %modelc-opt %s "--schedule-choose-instruction=targets-dir=%src_root/test/targets" "--schedule-place-operands=targets-dir=%src_root/test/targets" | FileCheck %s
// Operands that a loop reads anew go through shared memory, also those that are
// converted on the way; what is read once goes straight to registers.

module attributes {schedule.target = "toy"} {
// CHECK-LABEL: @attention
schedule.kernel @attention(%q: !schedule.buffer<?x64xbf16>, %k: !schedule.buffer<?x64xf8E4M3FN>, %v: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // CHECK: %[[K:.*]] = schedule.alloc : !schedule.tile<32x64xf8E4M3FN, shared>
  // CHECK: %[[V:.*]] = schedule.alloc : !schedule.tile<32x64xbf16, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: %[[Q:.*]] = schedule.load %arg0[
    %x = schedule.load %q[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %o = schedule.map () {
    ^bb0(%r: index, %c: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> !schedule.tile<64x64xf32>
    // CHECK: schedule.loop (%[[T:.*]]) = (%c0)
    %sum = schedule.loop (%t) = (%c0) to (%m) on sequence carry(%acc = %o) : !schedule.tile<64x64xf32> {
      %row = arith.muli %t, %c32 : index
      %zero = schedule.map () {
      ^bb0(%r: index, %c: index):
        %z = arith.constant 0.0 : f32
        schedule.yield %z : f32
      } : () -> !schedule.tile<64x32xf32>
      // CHECK: %[[COPIED:.*]] = schedule.copy %arg1[{{.*}}] to %[[K]][%[[T]]] valid(%arg4)
      // CHECK-NEXT: schedule.wait %[[COPIED]]
      // CHECK-NEXT: schedule.sync
      // CHECK-NEXT: %[[NARROW:.*]] = schedule.load %[[K]][%[[T]]] {{.*}} -> !schedule.tile<32x64xf8E4M3FN>
      // CHECK-NEXT: %[[WIDE:.*]] = schedule.map(%[[NARROW]])
      %k8 = schedule.load %k[%row, %c0] valid(%m) : !schedule.buffer<?x64xf8E4M3FN> -> !schedule.tile<32x64xf8E4M3FN>
      %y = schedule.map (%k8) {
      ^bb0(%e: f8E4M3FN, %r: index, %c: index):
        %f = arith.extf %e : f8E4M3FN to bf16
        schedule.yield %f : bf16
      } : (!schedule.tile<32x64xf8E4M3FN>) -> !schedule.tile<32x64xbf16>
      // CHECK: schedule.mma %{{.*}}, %[[Q]], %[[WIDE]]
      %s = schedule.mma %zero, %x, %y : !schedule.tile<64x32xf32>, !schedule.tile<64x64xbf16>, !schedule.tile<32x64xbf16> -> !schedule.tile<64x32xf32>
      %p = schedule.map (%s) {
      ^bb0(%e: f32, %r: index, %c: index):
        %f = arith.truncf %e : f32 to bf16
        schedule.yield %f : bf16
      } : (!schedule.tile<64x32xf32>) -> !schedule.tile<64x32xbf16>
      // CHECK: %[[P:.*]] = schedule.map
      // CHECK: schedule.copy %arg2[{{.*}}] to %[[V]][%[[T]]]
      // CHECK: %[[VT:.*]] = schedule.load %[[V]][%[[T]]] {transposed} {{.*}} -> !schedule.tile<64x32xbf16>
      // CHECK: schedule.mma %{{.*}}, %[[P]], %[[VT]] {grid = array<i64: 4, 1>, instruction = "Toy16x16x16Bf16"}
      %w = schedule.load %v[%row, %c0] valid(%m) : !schedule.buffer<?x64xbf16> -> !schedule.tile<32x64xbf16>
      %n = schedule.mma %acc, %p, %w {b_transposed} : !schedule.tile<64x64xf32>, !schedule.tile<64x32xbf16>, !schedule.tile<32x64xbf16> -> !schedule.tile<64x64xf32>
      schedule.yield %n : !schedule.tile<64x64xf32>
    }
    schedule.store %sum, %d[%i, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xf32>
  }
}
}
