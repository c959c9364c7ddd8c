// RUN: %modelc-opt %s --schedule-print-cost="target=%S/Inputs/toy-phases.toml targets-dir=%src_root/test/targets explain" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=%S/Inputs/toy-phases.toml targets-dir=%src_root/test/targets set=execution.wave_issue=5clk explain" -o /dev/null | FileCheck %s --check-prefix=ALONE
// A chosen kernel is followed event by event: two groups of four waves, each of
// which reads for 100 clk and multiplies for 100.

// With a sync behind each half both groups do the same at a time: the second
// waits for the first on both units, 2 x 100 + 2 x 100.
// CHECK-LABEL: kernel in_step
// CHECK: loop 1: {{.*}} 100 trips x 400 clk)
// CHECK: in turns on the units: 400 clk
schedule.kernel @in_step() guard [] attributes {waves = 8 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32, register>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32, register> {
      %x = schedule.load %A[] : !schedule.tile<128x64xbf16, shared> -> !schedule.tile<128x64xbf16, register>
      schedule.wait {queue = #schedule<queue reads>, pending = 0 : i64}
      schedule.sync workgroup
      %s = schedule.mma %acc, %x, %x {instruction = "ToyPhase"} : !schedule.tile<128x128xf32, register>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32, register>
      schedule.sync workgroup
      schedule.yield %s : !schedule.tile<128x128xf32, register>
    }
  }
}

// Without the first sync one group multiplies while the other still reads:
// reads 0 to 100 and 100 to 200, products 100 to 200 and 200 to 300.
// CHECK-LABEL: kernel one_sync
// CHECK: loop 1: {{.*}} 100 trips x 300 clk)
// CHECK: in turns on the units: 300 clk
schedule.kernel @one_sync() guard [] attributes {waves = 8 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32, register>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32, register> {
      %x = schedule.load %A[] : !schedule.tile<128x64xbf16, shared> -> !schedule.tile<128x64xbf16, register>
      schedule.wait {queue = #schedule<queue reads>, pending = 0 : i64}
      %s = schedule.mma %acc, %x, %x {instruction = "ToyPhase"} : !schedule.tile<128x128xf32, register>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32, register>
      schedule.sync workgroup
      schedule.yield %s : !schedule.tile<128x128xf32, register>
    }
  }
}

// One sync apart, a group reads while the other multiplies: both units are
// always busy.
// CHECK-LABEL: kernel apart
// CHECK: loop 1: {{.*}} 100 trips x 200 clk)
// CHECK: in turns on the units: 200 clk
schedule.kernel @apart() guard [] attributes {waves = 8 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %A = schedule.alloc : !schedule.tile<128x64xbf16, shared>
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32, register>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32, register> attributes {stagger = 2 : i64} {
      %x = schedule.load %A[] : !schedule.tile<128x64xbf16, shared> -> !schedule.tile<128x64xbf16, register>
      schedule.wait {queue = #schedule<queue reads>, pending = 0 : i64}
      schedule.sync workgroup
      %s = schedule.mma %acc, %x, %x {instruction = "ToyPhase"} : !schedule.tile<128x128xf32, register>, !schedule.tile<128x64xbf16, register>, !schedule.tile<128x64xbf16, register> -> !schedule.tile<128x128xf32, register>
      schedule.sync workgroup
      schedule.yield %s : !schedule.tile<128x128xf32, register>
    }
  }
}

// RUN: %modelc-opt %src_root/test/SchedulePasses/count-waits.mlir --schedule-count-waits --schedule-print-cost="target=%S/Inputs/toy-pingpong.toml targets-dir=%src_root/test/targets sizes=m:256,n:256 explain" -o /dev/null | FileCheck %s --check-prefix=PINGPONG
// The product that plays ping-pong: 4 phases x 2 groups x 256 clk.
// PINGPONG-LABEL: kernel given_sites
// PINGPONG: in turns on the units: 2048 clk

// RUN: sed 's/stagger = 2/stagger = 1/' %src_root/test/SchedulePasses/count-waits.mlir > %t.mlir
// RUN: %modelc-opt %t.mlir --schedule-count-waits --schedule-print-cost="target=%S/Inputs/toy-pingpong.toml targets-dir=%src_root/test/targets sizes=m:256,n:256 explain" -o /dev/null | FileCheck %s --check-prefix=STEP
// Both groups in one phase read together and then multiply one after the other:
// 2498 clk without what copies ask of shared memory, and 4 x 32 clk (but for 2)
// for half a tile of 8 KB at 256 B/clk that lands before each product.
// STEP-LABEL: kernel given_sites
// STEP: in turns on the units: 2624 clk

// Four waves add up 128 x 64 numbers: 8192 / 50 op/clk when others fill their gaps,
// alone on their schedulers 64 instructions, 5 clk one behind the other.
// CHECK-LABEL: kernel additions
// CHECK: in turns on the units: 163.8 clk
// ALONE-LABEL: kernel additions
// ALONE: in turns on the units: 320 clk
schedule.kernel @additions() guard [] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x64xf32, register>)
    %c = schedule.loop (%t) = (%c0) to (%c100) on sequence carry(%acc = %zero) : !schedule.tile<128x64xf32, register> {
      %s = schedule.map (%acc) {
      ^bb0(%a: f32, %r: index, %q: index):
        %two = arith.addf %a, %a : f32
        schedule.yield %two : f32
      } : (!schedule.tile<128x64xf32, register>) -> !schedule.tile<128x64xf32, register>
      schedule.yield %s : !schedule.tile<128x64xf32, register>
    }
  }
}
