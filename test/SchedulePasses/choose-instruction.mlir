// RUN: %modelc-opt %s --schedule-choose-instruction=targets-dir=%src_root/test/targets | FileCheck %s
// The first row whose types and shape fit, and the grid with the least traffic.
module attributes {schedule.target = "toy"} {
// CHECK-LABEL: @square
// CHECK: schedule.mma {{.*}} {grid = array<i64: 2, 2>, instruction = "Toy16x16x16Bf16"}
schedule.kernel @square(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<64x64xf32>
    %r = schedule.mma %z, %x, %y : !schedule.tile<64x64xf32>, !schedule.tile<64x64xbf16>, !schedule.tile<64x64xbf16> -> !schedule.tile<64x64xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xf32>
  }
}

// Rows of A are the larger traffic: split M.
// CHECK-LABEL: @tall
// CHECK: schedule.mma {{.*}} {grid = array<i64: 4, 1>
schedule.kernel @tall(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<256x64xbf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<16x64xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<256x16xf32>
    %r = schedule.mma %z, %x, %y : !schedule.tile<256x16xf32>, !schedule.tile<256x64xbf16>, !schedule.tile<16x64xbf16> -> !schedule.tile<256x16xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<256x16xf32>, !schedule.buffer<?x64xf32>
  }
}

// CHECK-LABEL: @wide
// CHECK: schedule.mma {{.*}} {grid = array<i64: 1, 4>
schedule.kernel @wide(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<16x64xbf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<256x64xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<16x256xf32>
    %r = schedule.mma %z, %x, %y : !schedule.tile<16x256xf32>, !schedule.tile<16x64xbf16>, !schedule.tile<256x64xbf16> -> !schedule.tile<16x256xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<16x256xf32>, !schedule.buffer<?x64xf32>
  }
}

// Two fragments only: two of the four waves repeat the work of the others.
// CHECK-LABEL: @few
// CHECK: schedule.mma {{.*}} {grid = array<i64: 2, 1>
schedule.kernel @few(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<32x64xbf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<16x64xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<32x16xf32>
    %r = schedule.mma %z, %x, %y : !schedule.tile<32x16xf32>, !schedule.tile<32x64xbf16>, !schedule.tile<16x64xbf16> -> !schedule.tile<32x16xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<32x16xf32>, !schedule.buffer<?x64xf32>
  }
}

// CHECK-LABEL: @narrow
// CHECK: schedule.mma {{.*}} instruction = "Toy16x16x32F8"
schedule.kernel @narrow(%a: !schedule.buffer<?x64xf8E4M3FN>, %b: !schedule.buffer<?x64xf8E4M3FN>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xf8E4M3FN> -> !schedule.tile<64x64xf8E4M3FN>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xf8E4M3FN> -> !schedule.tile<64x64xf8E4M3FN>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<64x64xf32>
    %r = schedule.mma %z, %x, %y : !schedule.tile<64x64xf32>, !schedule.tile<64x64xf8E4M3FN>, !schedule.tile<64x64xf8E4M3FN> -> !schedule.tile<64x64xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xf32>
  }
}
}
