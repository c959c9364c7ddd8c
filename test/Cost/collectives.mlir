// RUN: %modelc-opt %s --schedule-print-cost="target=%S/Inputs/toy-switches.toml targets-dir=%src_root/test/targets" -o /dev/null | FileCheck %s
// A library with slots under way, and switches that add.

// 1 MB on each device, 100 GB/s x 0.5 of the library. 2 devices: 0.5 MB are sent
// behind 1 / (1 / 0.5 + 1 / 1) = 0.333 MB, 4 + 16.7 us, and 0.5 MB stay, 1 us. 8
// devices: 0.875 MB behind 0.467 MB, 10 + 26.8 us, and 0.125 MB, 0.25 us.
// CHECK-LABEL: plan step
// CHECK: gather2: 1 x 21.67 us, bound by links
// CHECK-NEXT: gather8: 1 x 37.08 us, bound by links
// Sums go up and down the tree: 4 + 3 us, and 4 + 3 x 5 us. Two devices send 1 MB,
// as switches that reach 0.8 of the rate would take 1.5 MB / 0.8: behind 0.5 MB,
// 30 us. Eight send 1.125 MB through them, not 1.75: behind 0.529 MB, 41.4 us.
// CHECK-NEXT: sum2: 1 x 38 us, bound by links
// CHECK-NEXT: sum8: 1 x 60.61 us, bound by links
func.func @step() attributes {schedule.plan} {
  %x = schedule.alloc as workspace : !schedule.buffer<1000x250xf32>
  schedule.collective "all_gather" %x() group 2 "gather2" : !schedule.buffer<1000x250xf32>
  schedule.collective "all_gather" %x() group 8 "gather8" : !schedule.buffer<1000x250xf32>
  schedule.collective "all_reduce" %x() group 2 "sum2" : !schedule.buffer<1000x250xf32>
  schedule.collective "all_reduce" %x() group 8 "sum8" : !schedule.buffer<1000x250xf32>
  return
}
