// RUN: %modelc-opt %s --schedule-print-cost="target=%S/Inputs/toy-weak.toml targets-dir=%src_root/test/targets" -o /dev/null | FileCheck %s
// Kernels of one step share the clock: what one draws too much the others leave.

// A product of 100 units x 1000 trips x 2 x 128 x 128 x 128 flop x 1 pJ = 0.4194 J
// takes 839 us at an efficiency of 0.5. The board of 300 W has 200 W for it: by
// itself it would take 2.097 ms (power.mlir). In a step with 2 all_reduce of 20 MB
// (0.7 ms each: 2 x 7/8 x 20 MB at 50 GB/s, and 10 us) all is done in
// 2.27 ms, in which 200 W give 0.454 J, less 2 x 35 MB x 100 pJ/B = 7 mJ: enough.
// CHECK-LABEL: plan rested
// CHECK: multiply: 1 x 839.9 us, bound by matrix unit

// With one of them the clock falls until the step takes 0.4229 J / 200 W =
// 2.115 ms: 2.115 - 0.71 - 0.01 (start) = 1.395 ms for the product.
// CHECK-LABEL: plan loaded
// CHECK: expectation: 2.11{{.}} ms
// CHECK: multiply: 1 x 1.39{{.}} ms, bound by matrix unit
schedule.kernel @multiply(%n: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1000 = arith.constant 1000 : index
  schedule.loop (%i) = (%c0) to (%n) on workgroups {
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

func.func @rested() attributes {schedule.plan} {
  %x = schedule.alloc as workspace : !schedule.buffer<5000000xf32>
  %c100 = arith.constant 100 : index
  schedule.launch [@multiply] (n = %c100) "multiply" : index
  schedule.collective "all_reduce" %x() group 8 "sum" : !schedule.buffer<5000000xf32>
  schedule.collective "all_reduce" %x() group 8 "sum" : !schedule.buffer<5000000xf32>
  return
}

func.func @loaded() attributes {schedule.plan} {
  %x = schedule.alloc as workspace : !schedule.buffer<5000000xf32>
  %c100 = arith.constant 100 : index
  schedule.launch [@multiply] (n = %c100) "multiply" : index
  schedule.collective "all_reduce" %x() group 8 "sum" : !schedule.buffer<5000000xf32>
  return
}
