// RUN: %modelc-opt %s --split-input-file --verify-diagnostics "--schedule-assign-storage=targets-dir=%src_root/test/targets" | FileCheck %s
// What lives before and after one another shares bytes, after a rendezvous.

module attributes {schedule.target = "toy"} {
// CHECK-LABEL: @overlap
// CHECK-SAME: shared_bytes = 40976
schedule.kernel @overlap(%m: index) guard [] {
  %c0 = arith.constant 0 : index
  // CHECK: schedule.alloc at 0 : !schedule.tile<64x64xf32, shared, slots = 2>
  %first = schedule.alloc : !schedule.tile<64x64xf32, shared, slots = 2>
  // CHECK: schedule.alloc at 32768 : !schedule.tile<32x64xf32, shared>
  %always = schedule.alloc : !schedule.tile<32x64xf32, shared>
  // CHECK: schedule.alloc at 0 : !schedule.tile<64x64xf32, shared>
  %second = schedule.alloc : !schedule.tile<64x64xf32, shared>
  // CHECK: schedule.alloc at 40960 : !schedule.barrier<1, slots = 2>
  %words = schedule.alloc : !schedule.barrier<1, slots = 2>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: schedule.load
    %y = schedule.load %always[] : !schedule.tile<32x64xf32, shared> -> !schedule.tile<32x64xf32>
    %x = schedule.load %first[%i] : !schedule.tile<64x64xf32, shared, slots = 2> -> !schedule.tile<64x64xf32>
    // CHECK: schedule.sync
    // CHECK-NEXT: schedule.store
    schedule.store %x, %second[] : !schedule.tile<64x64xf32>, !schedule.tile<64x64xf32, shared>
    schedule.store %y, %always[] : !schedule.tile<32x64xf32>, !schedule.tile<32x64xf32, shared>
  }
}
}

// -----

module attributes {schedule.target = "toy"} {
// expected-error @+1 {{needs 3 x 32 KiB + 16 KiB = 112 KiB of shared memory of the 100 KiB of a workgroup, try smaller tiles or fewer slots}}
schedule.kernel @too_much(%m: index) guard [] {
  %c0 = arith.constant 0 : index
  %ring = schedule.alloc : !schedule.tile<128x64xf32, shared, slots = 3>
  %more = schedule.alloc : !schedule.tile<64x64xf32, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %ring[%i] : !schedule.tile<128x64xf32, shared, slots = 3> -> !schedule.tile<128x64xf32>
    %y = schedule.load %more[] : !schedule.tile<64x64xf32, shared> -> !schedule.tile<64x64xf32>
    schedule.store %x, %ring[%i] : !schedule.tile<128x64xf32>, !schedule.tile<128x64xf32, shared, slots = 3>
  }
}
}

// -----

module attributes {schedule.target = "toy"} {
// expected-error @+1 {{needs 64 columns of tensor memory of 0, try smaller tiles}}
schedule.kernel @no_tensor_memory(%m: index) guard [] {
  %c0 = arith.constant 0 : index
  %sum = schedule.alloc : !schedule.tile<128x64xf32, tensor>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}
}
