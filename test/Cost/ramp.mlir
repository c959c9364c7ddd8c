// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets explain" -o /dev/null | FileCheck %s
// RUN: %modelc-opt %s --schedule-print-cost="target=toy targets-dir=%src_root/test/targets set=launch.reads_arguments=true explain" -o /dev/null | FileCheck %s --check-prefix=ARGUMENTS
// Memory comes to its full rate once for a launch, not for each round of the grid.

// 1000 workgroups on 100 units, 10 rounds. A round reads 100 x 32768 B: 3.277 us at
// 1 TB/s, 4.096 us at 80 % of that; ten of them and the launch of 1 us. Expected
// besides: 1 us until memory runs at that rate.
// CHECK: bound: 33.77 us, {{.*}} bound by device memory
// CHECK: expectation: 42.96 us, {{.*}} bound by device memory
// CHECK: rounds of 100 workgroups: 40.96 us = 10 x 4096 clk
// CHECK: ramp: 1 us = until device memory runs at its full rate [launch.ramp]

// Kernels that wait for their arguments first start 1000 clk later.
// ARGUMENTS: bound: 34.77 us, {{.*}} bound by device memory
// ARGUMENTS: expectation: 43.96 us, {{.*}} bound by device memory
// ARGUMENTS: launch gap: 1 us = kernel to kernel [launch.gap]
// ARGUMENTS-NEXT: arguments: 1 us = read before all else [launch.reads_arguments, memory.latency]
schedule.kernel @stream(%a: !schedule.buffer<128000x128xbf16>) guard [] attributes {waves = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c1000 = arith.constant 1000 : index
  schedule.loop (%i) = (%c0) to (%c1000) on workgroups {
    %row = arith.muli %i, %c128 : index
    %x = schedule.load %a[%row, %c0] : !schedule.buffer<128000x128xbf16> -> !schedule.tile<128x128xbf16>
  }
}

// One workgroup on each unit reads 4096 B: 0.512 us at that rate are over before
// memory comes to it, 0.512 = t - 1 + exp(-t) at t = 1.216. 1010 clk of them pass
// until the first bytes are there.
// CHECK-LABEL: kernel once
// CHECK: rounds of 100 workgroups: 1.01 us
// CHECK: ramp: 205.2 ns
schedule.kernel @once(%a: !schedule.buffer<1600x128xbf16>) guard [] attributes {waves = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c100 = arith.constant 100 : index
  schedule.loop (%i) = (%c0) to (%c100) on workgroups {
    %row = arith.muli %i, %c16 : index
    %x = schedule.load %a[%row, %c0] : !schedule.buffer<1600x128xbf16> -> !schedule.tile<16x128xbf16>
  }
}
