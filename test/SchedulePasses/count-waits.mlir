// RUN: %modelc-opt %s --schedule-count-waits | FileCheck %s
// Two groups of four waves in ping-pong, copies two trips ahead. The counts that
// an expert writes by hand follow from storage alone: 4 before the first sync,
// 6 before the loop and in it (three halves of two copies fly), 8 reads of a
// fly while the 4 of b are done. Found once with the places of the waits given
// and once without any wait.

#a = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:8, 0:64, 16:0, 32:0], lane = [1:0, 2:0, 4:0, 8:0, 0:16, 0:32], wave = [0:0, 0:0, 64:0]) -> (row = 128, column = 128)>
#b = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:8, 0:64, 16:0], lane = [1:0, 2:0, 4:0, 8:0, 0:16, 0:32], wave = [32:0, 64:0, 0:0]) -> (row = 128, column = 128)>
#c = #schedule.layout<(register = [1:0, 2:0, 0:16, 16:0, 32:0], lane = [0:1, 0:2, 0:4, 0:8, 4:0, 8:0], wave = [0:32, 0:64, 64:0]) -> (row = 128, column = 128)>
#rows = #schedule.layout<(register = [1:0, 2:0, 16:0, 32:0], lane = [0:0, 0:0, 0:0, 0:0, 4:0, 8:0], wave = [0:0, 0:0, 64:0]) -> (row = 128, column = 1)>
#columns = #schedule.layout<(register = [0:16], lane = [0:1, 0:2, 0:4, 0:8, 0:0, 0:0], wave = [0:32, 0:64, 0:0]) -> (row = 1, column = 128)>

module attributes {schedule.target = "mi355x"} {
// CHECK-LABEL: schedule.kernel @given_sites
// CHECK-COUNT-4: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 4 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-COUNT-3: schedule.copy
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.loop
// CHECK: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 8 : i64, queue = #schedule<queue reads>}
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: schedule.wait {pending = 0 : i64, queue = #schedule<queue reads>}
// CHECK: schedule.mma
// CHECK: schedule.copy
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: schedule.wait {pending = 0 : i64, queue = #schedule<queue reads>}
// CHECK: schedule.mma
// CHECK: schedule.copy
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: schedule.wait {pending = 0 : i64, queue = #schedule<queue reads>}
// CHECK: schedule.mma
// CHECK: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-NOT: schedule.wait
// CHECK: schedule.yield
schedule.kernel @given_sites(%a: !schedule.buffer<?x4096xf8E4M3FN>, %b: !schedule.buffer<?x4096xf8E4M3FN>, %sa: !schedule.buffer<?x32xi8>, %sb: !schedule.buffer<32x?xi8>, %m: index) guard [] attributes {waves = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %A0 = schedule.alloc at 0 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  %A1 = schedule.alloc at 32768 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  %B0 = schedule.alloc at 65536 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  %B1 = schedule.alloc at 98304 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  schedule.loop (%i, %j) = (%c0, %c0) to (%m, %m) on workgroups {
      %row0 = arith.muli %i, %c256 : index
      %row1 = arith.addi %row0, %c128 : index
      %column0 = arith.muli %j, %c256 : index
      %column1 = arith.addi %column0, %c128 : index
      %zero = schedule.map () {
      ^bb0(%r: index, %q: index):
        %z = arith.constant 0.0 : f32
        schedule.yield %z : f32
      } : () -> (!schedule.tile<128x128xf32, register, #c>)
      %firsta0, %firstta0 = schedule.load %sa[%row0, %c0] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %firsta1, %firstta1 = schedule.load %sa[%row1, %c0] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %firstb0, %firsttb0 = schedule.load %sb[%c0, %column0] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %firstb1, %firsttb1 = schedule.load %sb[%c0, %column1] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %kp0 = schedule.copy %b[%column0, %c0] to %B0[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp1 = schedule.copy %a[%row0, %c0] to %A0[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp2 = schedule.copy %b[%column1, %c0] to %B1[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp3 = schedule.copy %a[%row1, %c0] to %A1[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %kp4 = schedule.copy %b[%column0, %c128] to %B0[%c1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp5 = schedule.copy %a[%row0, %c128] to %A0[%c1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp6 = schedule.copy %b[%column1, %c128] to %B1[%c1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %r:8 = schedule.loop (%t) = (%c0) to (%c32) on sequence carry(%c00 = %zero, %c01 = %zero, %c10 = %zero, %c11 = %zero, %ta0 = %firsta0, %ta1 = %firsta1, %tb0 = %firstb0, %tb1 = %firstb1) : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>, !schedule.tile<1x128xi8, register, #columns> attributes {stagger = 2 : i64} {
      %t1 = arith.addi %t, %c1 : index
      %t2 = arith.addi %t, %c2 : index
      %q1 = arith.muli %t1, %c128 : index
      %q2 = arith.muli %t2, %c128 : index
      %na0, %nta0 = schedule.load %sa[%row0, %t1] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %na1, %nta1 = schedule.load %sa[%row1, %t1] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %nb0, %ntb0 = schedule.load %sb[%t1, %column0] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %nb1, %ntb1 = schedule.load %sb[%t1, %column1] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %fb0, %fb0t = schedule.load %B0[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #b>, !schedule.token
      %fa, %fat = schedule.load %A0[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.token
      %k3 = schedule.copy %a[%row1, %q1] to %A1[%t1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.wait {queue = #schedule<queue reads>}
      schedule.sync workgroup
      schedule.wait {queue = #schedule<queue reads>}
      %s00 = schedule.map (%c00, %ta0, %tb0) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r00 = schedule.mma %s00, %fa, %fb0 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      %fb1, %fb1t = schedule.load %B1[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #b>, !schedule.token
      %k0 = schedule.copy %b[%column0, %q2] to %B0[%t2] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      schedule.wait {queue = #schedule<queue reads>}
      %s01 = schedule.map (%c01, %ta0, %tb1) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r01 = schedule.mma %s01, %fa, %fb1 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      %fa2, %fa2t = schedule.load %A1[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.token
      %k1 = schedule.copy %a[%row0, %q2] to %A0[%t2] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      schedule.wait {queue = #schedule<queue reads>}
      %s10 = schedule.map (%c10, %ta1, %tb0) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r10 = schedule.mma %s10, %fa2, %fb0 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      %k2 = schedule.copy %b[%column1, %q2] to %B1[%t2] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.wait {queue = #schedule<queue copies>}
      schedule.sync workgroup
      %s11 = schedule.map (%c11, %ta1, %tb1) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r11 = schedule.mma %s11, %fa2, %fb1 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      schedule.yield %r00, %r01, %r10, %r11, %na0, %na1, %nb0, %nb1 : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>, !schedule.tile<1x128xi8, register, #columns>
      }
      schedule.wait {queue = #schedule<queue copies>}
  }
}

// CHECK-LABEL: schedule.kernel @free_sites
// CHECK-COUNT-4: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 4 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-COUNT-3: schedule.copy
// CHECK-NEXT: schedule.sync
// CHECK-NEXT: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.loop
// CHECK: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 8 : i64, queue = #schedule<queue reads>}
// CHECK-NEXT: schedule.sync
// CHECK: schedule.wait {pending = 0 : i64, queue = #schedule<queue reads>}
// CHECK: schedule.mma
// CHECK: schedule.copy
// CHECK-NEXT: schedule.sync
// CHECK: schedule.wait {pending = 0 : i64, queue = #schedule<queue reads>}
// CHECK: schedule.mma
// CHECK: schedule.copy
// CHECK-NEXT: schedule.sync
// CHECK: schedule.wait {pending = 0 : i64, queue = #schedule<queue reads>}
// CHECK: schedule.mma
// CHECK: schedule.copy
// CHECK-NEXT: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
// CHECK-NEXT: schedule.sync
// CHECK-NOT: schedule.wait
// CHECK: schedule.yield
schedule.kernel @free_sites(%a: !schedule.buffer<?x4096xf8E4M3FN>, %b: !schedule.buffer<?x4096xf8E4M3FN>, %sa: !schedule.buffer<?x32xi8>, %sb: !schedule.buffer<32x?xi8>, %m: index) guard [] attributes {waves = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %A0 = schedule.alloc at 0 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  %A1 = schedule.alloc at 32768 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  %B0 = schedule.alloc at 65536 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  %B1 = schedule.alloc at 98304 : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
  schedule.loop (%i, %j) = (%c0, %c0) to (%m, %m) on workgroups {
      %row0 = arith.muli %i, %c256 : index
      %row1 = arith.addi %row0, %c128 : index
      %column0 = arith.muli %j, %c256 : index
      %column1 = arith.addi %column0, %c128 : index
      %zero = schedule.map () {
      ^bb0(%r: index, %q: index):
        %z = arith.constant 0.0 : f32
        schedule.yield %z : f32
      } : () -> (!schedule.tile<128x128xf32, register, #c>)
      %firsta0, %firstta0 = schedule.load %sa[%row0, %c0] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %firsta1, %firstta1 = schedule.load %sa[%row1, %c0] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %firstb0, %firsttb0 = schedule.load %sb[%c0, %column0] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %firstb1, %firsttb1 = schedule.load %sb[%c0, %column1] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %kp0 = schedule.copy %b[%column0, %c0] to %B0[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp1 = schedule.copy %a[%row0, %c0] to %A0[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp2 = schedule.copy %b[%column1, %c0] to %B1[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp3 = schedule.copy %a[%row1, %c0] to %A1[%c0] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %kp4 = schedule.copy %b[%column0, %c128] to %B0[%c1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp5 = schedule.copy %a[%row0, %c128] to %A0[%c1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      %kp6 = schedule.copy %b[%column1, %c128] to %B1[%c1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %r:8 = schedule.loop (%t) = (%c0) to (%c32) on sequence carry(%c00 = %zero, %c01 = %zero, %c10 = %zero, %c11 = %zero, %ta0 = %firsta0, %ta1 = %firsta1, %tb0 = %firstb0, %tb1 = %firstb1) : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>, !schedule.tile<1x128xi8, register, #columns> attributes {stagger = 2 : i64} {
      %t1 = arith.addi %t, %c1 : index
      %t2 = arith.addi %t, %c2 : index
      %q1 = arith.muli %t1, %c128 : index
      %q2 = arith.muli %t2, %c128 : index
      %na0, %nta0 = schedule.load %sa[%row0, %t1] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %na1, %nta1 = schedule.load %sa[%row1, %t1] : !schedule.buffer<?x32xi8> -> !schedule.tile<128x1xi8, register, #rows>, !schedule.token
      %nb0, %ntb0 = schedule.load %sb[%t1, %column0] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %nb1, %ntb1 = schedule.load %sb[%t1, %column1] : !schedule.buffer<32x?xi8> -> !schedule.tile<1x128xi8, register, #columns>, !schedule.token
      %fb0, %fb0t = schedule.load %B0[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #b>, !schedule.token
      %fa, %fat = schedule.load %A0[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.token
      %k3 = schedule.copy %a[%row1, %q1] to %A1[%t1] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %s00 = schedule.map (%c00, %ta0, %tb0) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r00 = schedule.mma %s00, %fa, %fb0 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      %fb1, %fb1t = schedule.load %B1[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #b>, !schedule.token
      %k0 = schedule.copy %b[%column0, %q2] to %B0[%t2] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %s01 = schedule.map (%c01, %ta0, %tb1) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r01 = schedule.mma %s01, %fa, %fb1 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      %fa2, %fa2t = schedule.load %A1[%t] : !schedule.tile<128x128xf8E4M3FN, shared, slots = 2> -> !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.token
      %k1 = schedule.copy %a[%row0, %q2] to %A0[%t2] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %s10 = schedule.map (%c10, %ta1, %tb0) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r10 = schedule.mma %s10, %fa2, %fb0 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      %k2 = schedule.copy %b[%column1, %q2] to %B1[%t2] : !schedule.buffer<?x4096xf8E4M3FN>, !schedule.tile<128x128xf8E4M3FN, shared, slots = 2>
      schedule.sync workgroup
      %s11 = schedule.map (%c11, %ta1, %tb1) {
      ^bb0(%v: f32, %x: i8, %y: i8, %r: index, %q: index):
        %z = arith.addi %x, %y : i8
        %f = arith.sitofp %z : i8 to f32
        %w = arith.mulf %v, %f : f32
        schedule.yield %w : f32
      } : (!schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>) -> !schedule.tile<128x128xf32, register, #c>
      %r11 = schedule.mma %s11, %fa2, %fb1 {instruction = "Mfma16x16x128F8", grid = array<i64: 2, 4>} : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf8E4M3FN, register, #a>, !schedule.tile<128x128xf8E4M3FN, register, #b> -> !schedule.tile<128x128xf32, register, #c>
      schedule.sync workgroup
      schedule.yield %r00, %r01, %r10, %r11, %na0, %na1, %nb0, %nb1 : !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x128xf32, register, #c>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<128x1xi8, register, #rows>, !schedule.tile<1x128xi8, register, #columns>, !schedule.tile<1x128xi8, register, #columns>
      }
      schedule.wait {queue = #schedule<queue copies>}
  }
}
}
