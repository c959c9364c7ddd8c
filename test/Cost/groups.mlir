// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets groups=4x1@100,1x16@16" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets groups=1x16@16" -o /dev/null | FileCheck %s --check-prefix=ONE
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets groups=2x1@50,2x1@150" -o /dev/null | FileCheck %s --check-prefix=SPREAD
// RUN: not %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets groups=4x1" 2>&1 | FileCheck %s --check-prefix=MISTAKE
// A step of several groups: kernels of rows run once for the tokens of all, those
// that walk the new tokens of sequences once for each group.

// 4 + 16 tokens of 256 B.
// CHECK-LABEL: plan step
// CHECK: workspace: 5 KiB
// CHECK-NEXT: rows: 1 x
// CHECK-NEXT: walk: 1 x [[DECODE:[0-9.]+ us]]
// CHECK-NEXT: walk: 1 x [[CHUNK:[0-9.]+ us]]
// CHECK-NOT: walk

// ONE-LABEL: plan step
// ONE: workspace: 4 KiB
// ONE-NEXT: rows: 1 x
// ONE-NEXT: walk: 1 x [[CHUNK:[0-9.]+ us]]
// ONE-NOT: walk

// SPREAD: walk: 1 x
// SPREAD-NEXT: walk: 1 x

// MISTAKE: error: expected SEQUENCESxNEW@CONTEXT in groups, got '4x1'
schedule.kernel @rows(%x: !schedule.buffer<?x64xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 1024>] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %x[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}

schedule.kernel @walk(%x: !schedule.buffer<?x64xf32>, %contexts: !schedule.buffer<?xi32>, %sequences: index, %longest: index)
    guard [#schedule.range<"longest", 1 to 1024>] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%s, %t) = (%c0, %c0) to (%sequences, %longest) on workgroups {
    %word = schedule.load %contexts[%s] {expect = "context"} : !schedule.buffer<?xi32> -> i32
    %context = arith.index_cast %word : i32 to index
    schedule.loop (%k) = (%c0) to (%context) on sequence attributes {expect = "context"} {
      %v = schedule.load %x[%t, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
      schedule.store %v, %x[%t, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
    }
  }
}

func.func @step(%tokens: index, %sequences: index, %longest: index)
    attributes {schedule.plan, arg_names = ["tokens", "sequences", "longest"]} {
  %x = schedule.alloc(%tokens) as workspace : !schedule.buffer<?x64xf32>
  schedule.launch [@rows] (x = %x, m = %tokens) "rows" : !schedule.buffer<?x64xf32>, index
  %contexts = schedule.alloc(%sequences) as input : !schedule.buffer<?xi32>
  schedule.launch [@walk] (x = %x, contexts = %contexts, sequences = %sequences, longest = %longest) "walk" : !schedule.buffer<?x64xf32>, !schedule.buffer<?xi32>, index, index
  return
}
