// RUN: %modelc-opt %s --split-input-file --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=m:64" --verify-diagnostics -o /dev/null
// What the cost must know, the IR or the command must say.

schedule.kernel @no_size(%a: !schedule.buffer<?x16xf32>, %n: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a value for size 'n' of the run, got none}}
  schedule.loop (%i) = (%c0) to (%n) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x16xf32> -> !schedule.tile<1x16xf32>
  }
}

// -----

schedule.kernel @unknown_symbol(%hit: !schedule.buffer<1xi32>) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %n = schedule.load %hit[%c0] : !schedule.buffer<1xi32> -> i32
  %count = arith.index_cast %n : i32 to index
  // expected-error @+1 {{in `expect`: unknown name 'experts', expected one of m at column 5 of '2 * experts'}}
  schedule.loop (%i) = (%c0) to (%count) on workgroups attributes {expect = "2 * experts"} {
  }
}

// -----

schedule.kernel @unknown_symbol_of_load(%ends: !schedule.buffer<1xi32>, %m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{in `expect`: unknown name 'context', expected one of m at column 1 of 'context'}}
    %end = schedule.load %ends[%c0] {expect = "context"} : !schedule.buffer<1xi32> -> i32
  }
}

// -----

schedule.kernel @of_experts(%of: !schedule.buffer<1xi32>, %m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{in `distinct`: expected a number, a name or '(' at column 7 of 'min(m,'}}
    %word = schedule.load %of[%c0] {distinct = "min(m,"} : !schedule.buffer<1xi32> -> i32
  }
}

// -----

schedule.kernel @syntax(%hit: !schedule.buffer<1xi32>) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %n = schedule.load %hit[%c0] : !schedule.buffer<1xi32> -> i32
  %count = arith.index_cast %n : i32 to index
  // expected-error @+1 {{in `expect`: expected a number, a name or '(' at column 5 of 'm * )'}}
  schedule.loop (%i) = (%c0) to (%count) on workgroups attributes {expect = "m * )"} {
  }
}

// -----

schedule.kernel @arguments(%hit: !schedule.buffer<1xi32>) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %n = schedule.load %hit[%c0] : !schedule.buffer<1xi32> -> i32
  %count = arith.index_cast %n : i32 to index
  // expected-error @+1 {{in `expect`: expected 3 arguments of 'experts_hit', got 2 at column 1 of 'experts_hit(8, m)'}}
  schedule.loop (%i) = (%c0) to (%count) on workgroups attributes {expect = "experts_hit(8, m)"} {
  }
}

// -----

schedule.kernel @no_instruction(%m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %c = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<16x16xf32>)
    // expected-error @+1 {{expected a matrix instruction of target 'toy' for 'f32', got ''}}
    %d = schedule.mma %c, %c, %c : !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32> -> !schedule.tile<16x16xf32>
  }
}
