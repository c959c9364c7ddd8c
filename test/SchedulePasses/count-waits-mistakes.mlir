// RUN: rm -rf %t && mkdir -p %t && ln -s %targets/nvidia %t/nvidia && ln -s %src_root/test/targets %t/toy
// RUN: %modelc-opt %s --split-input-file --verify-diagnostics --schedule-count-waits=targets-dir=%t | FileCheck %s
// Planted faults in the order of copies, waits and refills are found.

// CHECK-LABEL: @good
// CHECK: pending = 8
#v = #schedule.layout<(register = [0:1, 0:2, 8:0, 16:0, 32:0], lane = [0:4, 0:8, 0:16, 0:32, 1:0], wave = [2:0, 4:0]) -> (row = 64, column = 64)>
module attributes {schedule.target = "toy"} {

schedule.kernel @good(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<64x64xf32, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = schedule.copy %a[%p, %c0] to %ring[%p] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait {queue = #schedule<queue copies>}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = schedule.copy %a[%next, %c0] to %ring[%next] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
      %x = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32, register, #v>
    }
    schedule.wait {queue = #schedule<queue copies>}
  }
}
}

// -----

#v = #schedule.layout<(register = [0:1, 0:2, 8:0, 16:0, 32:0], lane = [0:4, 0:8, 0:16, 0:32, 1:0], wave = [2:0, 4:0]) -> (row = 64, column = 64)>
module attributes {schedule.target = "toy"} {
// expected-error @+1 {{copy of trip 3 takes the slot that load of trip 0 still needs}}
schedule.kernel @too_far(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<64x64xf32, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c3) on sequence {
      %k = schedule.copy %a[%p, %c0] to %ring[%p] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait {queue = #schedule<queue copies>}
      schedule.sync workgroup
      %next = arith.addi %t, %c3 : index
      %k = schedule.copy %a[%next, %c0] to %ring[%next] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
      %x = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32, register, #v>
    }
  }
}
}

// -----

#v = #schedule.layout<(register = [0:1, 0:2, 8:0, 16:0, 32:0], lane = [0:4, 0:8, 0:16, 0:32, 1:0], wave = [2:0, 4:0]) -> (row = 64, column = 64)>
module attributes {schedule.target = "toy"} {
// expected-error @+1 {{no sync between copy and load}}
schedule.kernel @unseen(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<64x64xf32, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = schedule.copy %a[%p, %c0] to %ring[%p] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait {queue = #schedule<queue copies>}

      %next = arith.addi %t, %c2 : index
      %k = schedule.copy %a[%next, %c0] to %ring[%next] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
      %x = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32, register, #v>
    }
  }
}
}

// -----

// CHECK-LABEL: @boxes
module attributes {schedule.target = "b200"} {

schedule.kernel @boxes(%a: !schedule.buffer<?x256xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<128x64xbf16, shared, slots = 4>
  %full = schedule.alloc at 65536 : !schedule.barrier<1, slots = 4>
  %empty = schedule.alloc at 65568 : !schedule.barrier<1, slots = 4>
  %sum = schedule.alloc at 0 : !schedule.tile<128x128xf32, tensor>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c3) on sequence {
      schedule.arrive %full[%p] {bytes = 16384 : i64} : !schedule.barrier<1, slots = 4>
      %k = schedule.copy %a[%i, %p] to %ring[%p] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait on %full[%t] : !schedule.barrier<1, slots = 4>
      %later = arith.cmpi sgt, %t, %c0 : index
      %done = schedule.mma %sum, %ring[%t], %ring[%t] init(%later : i1) {instruction = "Tcgen05Bf16", grid = array<i64: 1, 1>} : !schedule.tile<128x128xf32, tensor>, !schedule.tile<128x64xbf16, shared, slots = 4>, !schedule.tile<128x64xbf16, shared, slots = 4> -> !schedule.token
      schedule.arrive %empty[%t] after(%done) : !schedule.barrier<1, slots = 4>
      %next = arith.addi %t, %c3 : index
      %last = arith.subi %t, %c1 : index
      schedule.wait on %empty[%last] : !schedule.barrier<1, slots = 4>
      schedule.arrive %full[%next] {bytes = 16384 : i64} : !schedule.barrier<1, slots = 4>
      %k = schedule.copy %a[%i, %next] to %ring[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
    }
  }
}
}

// -----

module attributes {schedule.target = "b200"} {
// expected-error @+1 {{no wait can complete mma before copy}}
schedule.kernel @early_refill(%a: !schedule.buffer<?x256xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<128x64xbf16, shared, slots = 4>
  %full = schedule.alloc at 65536 : !schedule.barrier<1, slots = 4>
  %empty = schedule.alloc at 65568 : !schedule.barrier<1, slots = 4>
  %sum = schedule.alloc at 0 : !schedule.tile<128x128xf32, tensor>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c3) on sequence {
      schedule.arrive %full[%p] {bytes = 16384 : i64} : !schedule.barrier<1, slots = 4>
      %k = schedule.copy %a[%i, %p] to %ring[%p] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait on %full[%t] : !schedule.barrier<1, slots = 4>
      %later = arith.cmpi sgt, %t, %c0 : index
      %done = schedule.mma %sum, %ring[%t], %ring[%t] init(%later : i1) {instruction = "Tcgen05Bf16", grid = array<i64: 1, 1>} : !schedule.tile<128x128xf32, tensor>, !schedule.tile<128x64xbf16, shared, slots = 4>, !schedule.tile<128x64xbf16, shared, slots = 4> -> !schedule.token
      schedule.arrive %empty[%t] after(%done) : !schedule.barrier<1, slots = 4>
      %next = arith.addi %t, %c3 : index
      %last = arith.subi %t, %c2 : index
      schedule.wait on %empty[%last] : !schedule.barrier<1, slots = 4>
      schedule.arrive %full[%next] {bytes = 16384 : i64} : !schedule.barrier<1, slots = 4>
      %k = schedule.copy %a[%i, %next] to %ring[%next] arrives(%full : !schedule.barrier<1, slots = 4>) {box} : !schedule.buffer<?x256xbf16>, !schedule.tile<128x64xbf16, shared, slots = 4>
    }
  }
}
}

// -----

#v = #schedule.layout<(register = [0:1, 0:2, 8:0, 16:0, 32:0], lane = [0:4, 0:8, 0:16, 0:32, 1:0], wave = [2:0, 4:0]) -> (row = 64, column = 64)>
module attributes {schedule.target = "toy"} {

schedule.kernel @two_queues(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<64x64xf32, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = schedule.copy %a[%p, %c0] to %ring[%p] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait {queue = #schedule<queue copies>}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = schedule.copy %a[%next, %c0] to %ring[%next] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
      %x = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32, register, #v>
      %y, %u = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32, register, #v>, !schedule.token
      // expected-error @+1 {{expected tokens of one queue, got several; split the wait}}
      schedule.wait %k, %u
    }
  }
}
}

// -----

#v = #schedule.layout<(register = [0:1, 0:2, 8:0, 16:0, 32:0], lane = [0:4, 0:8, 0:16, 0:32, 1:0], wave = [2:0, 4:0]) -> (row = 64, column = 64)>
module attributes {schedule.target = "toy"} {

schedule.kernel @no_address(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{expected a place with an address}}
  %ring = schedule.alloc : !schedule.tile<64x64xf32, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = schedule.copy %a[%p, %c0] to %ring[%p] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait {queue = #schedule<queue copies>}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = schedule.copy %a[%next, %c0] to %ring[%next] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
      %x = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32, register, #v>
    }
  }
}
}

// -----

#v = #schedule.layout<(register = [0:1, 0:2, 8:0, 16:0, 32:0], lane = [0:4, 0:8, 0:16, 0:32, 1:0], wave = [2:0, 4:0]) -> (row = 64, column = 64)>
module attributes {schedule.target = "toy"} {

schedule.kernel @no_layout(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ring = schedule.alloc at 0 : !schedule.tile<64x64xf32, shared, slots = 3>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.loop (%p) = (%c0) to (%c2) on sequence {
      %k = schedule.copy %a[%p, %c0] to %ring[%p] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
    }
    schedule.loop (%t) = (%c0) to (%m) on sequence {
      schedule.wait {queue = #schedule<queue copies>}
      schedule.sync workgroup
      %next = arith.addi %t, %c2 : index
      %k = schedule.copy %a[%next, %c0] to %ring[%next] : !schedule.buffer<?x64xf32>, !schedule.tile<64x64xf32, shared, slots = 3>
      // expected-error @+1 {{expected a value in registers with a layout, got}}
      %x = schedule.load %ring[%t] : !schedule.tile<64x64xf32, shared, slots = 3> -> !schedule.tile<64x64xf32>
    }
  }
}
}

// -----

#v = #schedule.layout<(register = [0:1, 0:2, 0:4], lane = [1:0, 2:0, 4:0, 8:0, 0:8], wave = []) -> (row = 16, column = 16)>
module attributes {schedule.target = "toy"} {
schedule.kernel @operand(%a: !schedule.buffer<?x64xbf16>, %m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<16x16xbf16, register, #v>
    %c = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xbf16> -> !schedule.tile<16x16xf32, register, #v>
    // expected-error @+1 {{expected accumulator where Toy16x16x16Bf16 reads it, got}}
    %r = schedule.mma %c, %x, %x {instruction = "Toy16x16x16Bf16", grid = array<i64: 1, 1>} : !schedule.tile<16x16xf32, register, #v>, !schedule.tile<16x16xbf16, register, #v>, !schedule.tile<16x16xbf16, register, #v> -> !schedule.tile<16x16xf32, register, #v>
  }
}
}
