// RUN: %modelc-opt %s "--kernels-build=family=attention-decode shape=heads:8,kv_heads:2 tile=splits:8" --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %modelc-opt %s "--kernels-build=family=attention-combine shape=heads:8,kv_heads:2 tile=splits:8" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=COMBINE
// RUN: %modelc-opt %s "--kernels-build=family=attention-decode shape=heads:8,kv_heads:2 tile=splits:1" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=WHOLE
// A group of heads is the rows of one tile; parts of the keys are joined later.

// CHECK: %part: !schedule.buffer<?x8x128xf32>, %stat: !schedule.buffer<?x8x2xf32>, %sequences: index, %splits: index
// CHECK-SAME: extents = [#schedule.extent<"pages", 1 is "pages_per_sequence">]
// CHECK: schedule.loop (%sequence, %kv_head, %split) = {{.*}} to (%sequences, %c2, %splits) on workgroups
// CHECK: %queries = schedule.load %q[%sequence, %head, %c0] valid(%{{.*}}) {{.*}} -> !schedule.tile<16x128xbf16>
// CHECK: %first = arith.divsi
// CHECK: schedule.loop (%t) = (%c0) to (%trips)
// CHECK-SAME: expect = "max(1, context / 64 + 0.5) / splits"
// CHECK: schedule.store %{{.*}}#0, %part[%part_row, %head, %c0]
// CHECK: schedule.store %{{.*}}#1, %stat[%part_row, %head, %c0]
// CHECK: schedule.store %{{.*}}#2, %stat[%part_row, %head, %c1]

// COMBINE: schedule.loop (%sequence, %head) = {{.*}} to (%sequences, %c8) on workgroups
// COMBINE: schedule.loop (%t) = (%c0) to (%{{.*}}) on sequence carry(%o = {{.*}}, %max = {{.*}}, %sum = {{.*}})
// COMBINE: schedule.load %part[%part_row, %head, %c0] {{.*}}valid(%limit) {{.*}} -> !schedule.tile<16x128xf32>
// COMBINE: schedule.store %result, %out[%sequence, %head, %c0]

// WHOLE-NOT: %splits
// WHOLE: schedule.loop (%sequence, %kv_head, %split) = {{.*}} to (%sequences, %c2, %c1) on workgroups
// WHOLE: expect = "max(1, context / 64 + 0.5)"
// WHOLE: schedule.store %result, %out[%sequence, %head, %c0]
