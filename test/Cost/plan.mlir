// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets sizes=tokens:8" -o /dev/null | FileCheck %s
// A plan is the sum of its launches and collectives; the first kernel whose
// guard holds is launched.

// The sum: 4 x (1.282 us + 10.07 us) and the replay of the graph, 10 us.
// CHECK-LABEL: plan step
// CHECK: bound: 45.27 us
// CHECK: expectation: 55.41 us, 5.543 mJ, bound by latency
// 4 layers x 64 x 64 x 4 B = 64 KiB; caches 4 x 8 x 64 x 4 B; workspace once.
// CHECK-NEXT: weights: 64 KiB, caches: 8 KiB, workspace: 2 KiB
// The guard of @large starts at 64, so the launch takes @small. Workspace that a
// cache holds costs L2's latency only: 1 us launch + 200 + 8 * 64 * 4 / 50 = 41
// clk, and 41 for writing.
// CHECK-NEXT: qkv: 4 x 1.282 us, bound by launch
// 2 (8 - 1) / 8 x 2048 B = 3584 B at 100 GB/s x 0.5 = 0.07 us, and 10 us of latency.
// CHECK-NEXT: sum: 4 x 10.07 us, bound by latency
schedule.kernel @large(%x: !schedule.buffer<?x64xf32>, %tokens: index)
    guard [#schedule.range<"tokens", 64 to 1024>] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%tokens) on workgroups {
  }
}

schedule.kernel @small(%x: !schedule.buffer<?x64xf32>, %tokens: index)
    guard [#schedule.range<"tokens", 1 to 63>] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %v = schedule.load %x[%c0, %c0] valid(%tokens) : !schedule.buffer<?x64xf32> -> !schedule.tile<8x64xf32>
    schedule.store %v, %x[%c0, %c0] valid(%tokens) : !schedule.tile<8x64xf32>, !schedule.buffer<?x64xf32>
  }
}

func.func @step(%tokens: index) attributes {schedule.plan, arg_names = ["tokens"]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %x = schedule.alloc(%tokens) as workspace : !schedule.buffer<?x64xf32>
  schedule.loop (%layer) = (%c0) to (%c4) on sequence {
    %w = schedule.alloc(%layer) as weight "w.{layer}" : !schedule.buffer<64x64xf32>
    %k = schedule.alloc(%tokens) as cache : !schedule.buffer<?x64xf32>
    schedule.launch [@large, @small] (x = %x, tokens = %tokens) "qkv" : !schedule.buffer<?x64xf32>, index
    schedule.collective "all_reduce" %x(%tokens) group 8 "sum" : !schedule.buffer<?x64xf32>
  }
  return
}
