// RUN: %modelc-opt %s --split-input-file --verify-diagnostics --schedule-choose-instruction=targets-dir=%src_root/test/targets
// Why no row fits is said row by row.

module attributes {schedule.target = "toy"} {
schedule.kernel @no_row(%a: !schedule.buffer<?x64xf16>, %b: !schedule.buffer<?x64xf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xf16> -> !schedule.tile<64x64xf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xf16> -> !schedule.tile<64x64xf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<64x64xf32>
    // expected-error @+3 {{expected an instruction of 'toy' for f16 x f16 into f32 of 64 x 64 x 64 on 4 waves, got none that fits}}
    // expected-note @+2 {{Toy16x16x16Bf16: it multiplies bf16 x bf16 into f32}}
    // expected-note @+1 {{Toy16x16x32F8: it multiplies f8E4M3FN x f8E4M3FN into f32}}
    %r = schedule.mma %z, %x, %y : !schedule.tile<64x64xf32>, !schedule.tile<64x64xf16>, !schedule.tile<64x64xf16> -> !schedule.tile<64x64xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xf32>
  }
}
}

// -----

module attributes {schedule.target = "toy"} {
schedule.kernel @small(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<8x64xbf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<8x64xf32>
    // expected-error @+3 {{expected an instruction of 'toy' for bf16 x bf16 into f32 of 8 x 64 x 64}}
    // expected-note @+2 {{Toy16x16x16Bf16: its m = 16 does not divide the 8 of an issuer}}
    // expected-note @+1 {{Toy16x16x32F8: it multiplies f8E4M3FN}}
    %r = schedule.mma %z, %x, %y : !schedule.tile<8x64xf32>, !schedule.tile<8x64xbf16>, !schedule.tile<64x64xbf16> -> !schedule.tile<8x64xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<8x64xf32>, !schedule.buffer<?x64xf32>
  }
}
}

// -----

module attributes {schedule.target = "toy"} {
schedule.kernel @hint(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64, instructions = ["Toy16x16x32F8"]} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %y = schedule.load %b[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<64x64xbf16>
    %z = schedule.map () {
    ^bb0(%r: index, %q: index):
      %zero = arith.constant 0.0 : f32
      schedule.yield %zero : f32
    } : () -> !schedule.tile<64x64xf32>
    // expected-error @+3 {{got none that fits}}
    // expected-note @+2 {{Toy16x16x16Bf16: the kernel's 'instructions' leave it out}}
    // expected-note @+1 {{Toy16x16x32F8: it multiplies f8E4M3FN}}
    %r = schedule.mma %z, %x, %y : !schedule.tile<64x64xf32>, !schedule.tile<64x64xbf16>, !schedule.tile<64x64xbf16> -> !schedule.tile<64x64xf32>
    schedule.store %r, %d[%i, %c0] : !schedule.tile<64x64xf32>, !schedule.buffer<?x64xf32>
  }
}
}

// -----

// expected-error @+1 {{cannot load target 'nothing'}}
module attributes {schedule.target = "nothing"} {
schedule.kernel @target(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
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
}

// -----

// expected-error @+1 {{expected the attribute 'schedule.target' with the name of a target file}}
module {
schedule.kernel @target(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
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
}

// -----

module attributes {schedule.target = "toy"} {
// expected-error @+1 {{expected a power of two as 'waves', got 3}}
schedule.kernel @waves(%a: !schedule.buffer<?x64xbf16>, %b: !schedule.buffer<?x64xbf16>, %d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 3 : i64} {
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
}
