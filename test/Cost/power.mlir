// RUN: split-file %s %t
// RUN: %modelc-opt %t/kernel.mlir --schedule-print-cost="target=%t/weak.toml targets-dir=%src_root/test/targets explain" -o /dev/null | FileCheck %s --check-prefix=WEAK
// RUN: %modelc-opt %t/kernel.mlir --schedule-print-cost="target=toy targets-dir=%src_root/test/targets explain" -o /dev/null | FileCheck %s --check-prefix=STRONG
// RUN: %modelc-opt %t/kernel.mlir --schedule-print-cost="target=%t/weak.toml targets-dir=%src_root/test/targets explain set=power.clock_exponent=1" -o /dev/null | FileCheck %s --check-prefix=VOLTAGE
// RUN: %modelc-opt %t/kernel.mlir --schedule-print-cost="target=%t/weak.toml targets-dir=%src_root/test/targets explain set=power.clock_exponent=1,power.at_clock=500MHz" -o /dev/null | FileCheck %s --check-prefix=AT
// RUN: %modelc-opt %t/kernel.mlir --schedule-print-cost="target=toy targets-dir=%src_root/test/targets explain set=mma.Toy16x16x16Bf16.per_flop=2pJ/flop" -o /dev/null | FileCheck %s --check-prefix=ROW
// What a board's power allows is the clock at which it draws just that.

// 100 units x 1000 trips x 2 x 128 x 128 x 128 flop = 419.4 Gflop x 1 pJ =
// 0.4194 J, in 0.4194 ms at 1 PFLOP/s: 1000 W and 100 W of the idle board. At the
// expected efficiency of 0.5 it takes twice as long: 600 W.
// STRONG: bound: 420.4 us, 461.5 mJ, bound by matrix unit
// STRONG-NEXT: expectation: 839.9 us, 503.4 mJ, bound by matrix unit
// STRONG: / 1 GHz, bound by matrix unit
// STRONG: matrix bf16: 419.4 mJ = 419 Gflop x 1 pJ/flop [power.per_flop.bf16]

// A board of 300 W leaves 200 W for 0.4194 J: 2.097 ms at a clock of 0.2 GHz.
// The bound is that of the schedule and knows no board.
// WEAK: bound: 420.4 us
// WEAK-NEXT: expectation: 2.097 ms, 629.1 mJ, bound by matrix unit
// WEAK: / 200 MHz, bound by matrix unit

// Where joules go with the clock, the product takes 0.4194 J x f at f GHz. Below
// 0.5 GHz, which is what the efficiency says, it takes 0.4194 ms / f: f ^ 2 kW are
// 200 W at f = 0.447.
// VOLTAGE: expectation: 938.{{.}} us, 281.{{.}} mJ, bound by matrix unit
// VOLTAGE: / 447 MHz, bound by matrix unit
// VOLTAGE: matrix bf16: 187.{{.}} mJ = 419 Gflop x 0.447 pJ/flop [power.per_flop.bf16, power.clock_exponent]
// If they hold at half the clock, they are twice as many: f = sqrt(0.1).
// AT: expectation: 1.327 ms
// AT: / 316 MHz, bound by matrix unit
// AT: matrix bf16: 265.{{.}} mJ = 419 Gflop x 0.63{{[23]}} pJ/flop [power.per_flop.bf16, power.clock_exponent, power.at_clock]

// An instruction can have joules of its own.
// ROW: matrix bf16: 838.9 mJ = 419 Gflop x 2 pJ/flop [mma.Toy16x16x16Bf16.per_flop]

//--- weak.toml
inherits = "toy"
[target]
source = "made up"
grade = "assumed"
product = "Toy with a weak board"
[power]
source = "made up"
grade = "assumed"
tdp = "300 W"

//--- kernel.mlir
schedule.kernel @multiply() guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %c1000 = arith.constant 1000 : index
  schedule.loop (%i) = (%c0) to (%c100) on workgroups {
    %a = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 1.0 : bf16
      schedule.yield %z : bf16
    } : () -> (!schedule.tile<128x128xbf16, register>)
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32, register>)
    %c = schedule.loop (%t) = (%c0) to (%c1000) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32, register> {
      %s = schedule.mma %acc, %a, %a : !schedule.tile<128x128xf32, register>, !schedule.tile<128x128xbf16, register>, !schedule.tile<128x128xbf16, register> -> !schedule.tile<128x128xf32, register>
      schedule.yield %s : !schedule.tile<128x128xf32, register>
    }
  }
}
