// RUN: %modelc-opt %s --schedule-choose-instruction --schedule-place-operands --schedule-infer-layouts | FileCheck %s
// An instruction that scales blocks is chosen for a product with scales. Sixteen lanes hold
// the words of a fragment's rows, the others those of three more fragments, registers the
// words of a trip, then those of further fragments.

// CHECK: #[[SCALES:.*]] = #schedule.layout<(register = [1:0, 0:64], lane = [0:1, 0:2, 0:4, 0:8, 0:16, 0:32], wave = [0:0, 0:128]) -> (row = 2, column = 256)>
module attributes {schedule.target = "mi355x"} {
// CHECK-LABEL: @scaled
schedule.kernel @scaled(%a: !schedule.buffer<?x1024xvector<2xf4E2M1FN>>, %b: !schedule.buffer<256x1024xvector<2xf4E2M1FN>>, %s: !schedule.buffer<?x16x256xvector<4xf8E8M0FNU>>, %t: !schedule.buffer<1x16x256xvector<4xf8E8M0FNU>>, %d: !schedule.buffer<?x256xf32>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %zero = schedule.map () { ^bb0(%row: index, %column: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<256x256xf32>)
    %sum = schedule.loop (%k) = (%c0) to (%c8) on sequence carry(%acc = %zero) : !schedule.tile<256x256xf32> {
      %depth = arith.muli %k, %c128 : index
      %word = arith.muli %k, %c2 : index
      %x = schedule.load %a[%c0, %depth] : !schedule.buffer<?x1024xvector<2xf4E2M1FN>> -> !schedule.tile<256x128xvector<2xf4E2M1FN>>
      %y = schedule.load %b[%c0, %depth] : !schedule.buffer<256x1024xvector<2xf4E2M1FN>> -> !schedule.tile<256x128xvector<2xf4E2M1FN>>
      // CHECK: schedule.copy %{{.*}} {dims = array<i64: 1, 2>} : !schedule.buffer<?x16x256xvector<4xf8E8M0FNU>>
      // CHECK: %[[XS:.*]] = schedule.load {{.*}} -> !schedule.tile<2x256xvector<4xf8E8M0FNU>, register, #[[SCALES]]>
      %xs = schedule.load %s[%c0, %word, %c0] {dims = array<i64: 1, 2>} : !schedule.buffer<?x16x256xvector<4xf8E8M0FNU>> -> !schedule.tile<2x256xvector<4xf8E8M0FNU>>
      %ys = schedule.load %t[%c0, %word, %c0] {dims = array<i64: 1, 2>} : !schedule.buffer<1x16x256xvector<4xf8E8M0FNU>> -> !schedule.tile<2x256xvector<4xf8E8M0FNU>>
      // CHECK: schedule.mma {{.*}} scaled(%[[XS]], {{.*}} instruction = "Mfma16x16x128F4"
      %next = schedule.mma %acc, %x, %y scaled(%xs, %ys : !schedule.tile<2x256xvector<4xf8E8M0FNU>>, !schedule.tile<2x256xvector<4xf8E8M0FNU>>) : !schedule.tile<256x256xf32>, !schedule.tile<256x128xvector<2xf4E2M1FN>>, !schedule.tile<256x128xvector<2xf4E2M1FN>> -> !schedule.tile<256x256xf32>
      schedule.yield %next : !schedule.tile<256x256xf32>
    }
    schedule.store %sum, %d[%c0, %c0] : !schedule.tile<256x256xf32>, !schedule.buffer<?x256xf32>
  }
}
}
