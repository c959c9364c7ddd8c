// RUN: %modelc-opt %s --schedule-finish -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %emit %t.mlir -o %t.cu
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: %if nvcc %{ %cuda -arch=sm_100a -ptx %t.cu -x cu -o - | FileCheck %s --check-prefix=PTX %}
// RUN: %if nvcc %{ %cuda -arch=sm_103a -cubin %t.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=BINARY %}
// RUN: sed -e 's/\(column = \[\)16, 32, 64, 128, 256, 4, 8\(\]) -> (byte = 2048\)/\14, 8, 16, 32, 64, 128, 256\2/' -e 's/stage = #schedule<stage final>, //' %t.mlir > %t.other.mlir
// RUN: not %modelc-opt %t.other.mlir --schedule-count-waits 2>&1 | FileCheck %s --check-prefix=OTHER
// Scales of blocks land by boxes as they lie, and go to tensor memory behind the wait on
// them: by the unit that multiplies, in its order. They take columns beside the sums.

// The word of row r at byte 16 (r % 32) + 4 (r / 32) of a block of 128 rows.
// CHECK-DAG: #[[A:.*]] = #schedule.layout<(row = [512, 1024], column = [16, 32, 64, 128, 256, 4, 8]) -> (byte = 2048)>
// CHECK-DAG: #[[B:.*]] = #schedule.layout<(row = [1024, 2048], column = [16, 32, 64, 128, 256, 4, 8, 512]) -> (byte = 4096)>
// OTHER: expected words of scales in the order in which Tcgen05Nvf4 reads them
#packed = #schedule.layout<(row = [], column = [16, 32, 64, 128, 256, 4, 8]) -> (byte = 512)>
module attributes {schedule.target = "b200"} {
// CHECK-LABEL: @scaled
schedule.kernel @scaled(%a: !schedule.buffer<?x512xvector<2xf4E2M1FN>>, %b: !schedule.buffer<256x512xvector<2xf4E2M1FN>>, %s: !schedule.buffer<?x16x256xvector<4xf8E4M3FN>, #packed>, %t: !schedule.buffer<1x16x256xvector<4xf8E4M3FN>, #packed>, %d: !schedule.buffer<?x256xf32>, %m: index) guard [#schedule.range<"m", 1 to 128>] attributes {arg_names = ["a", "b", "s", "t", "d", "m"], waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  schedule.loop (%i) = (%c0) to (%c1) on workgroups {
    %zero = schedule.map () { ^bb0(%row: index, %column: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x256xf32>)
    // CHECK: alloc at 256 : !schedule.tile<4x128xvector<4xf8E4M3FN>, tensor>
    // CHECK: alloc at 272 : !schedule.tile<4x256xvector<4xf8E4M3FN>, tensor>
    // CHECK: schedule.wait on
    // CHECK-NEXT: schedule.copy %{{.*}}[%{{.*}}] to %[[X:.*]][] : !schedule.tile<4x128xvector<4xf8E4M3FN>, shared, #[[A]], slots = 4>
    // CHECK-NEXT: schedule.copy %{{.*}}[%{{.*}}] to %[[Y:.*]][] : !schedule.tile<4x256xvector<4xf8E4M3FN>, shared, #[[B]], slots = 4>
    // CHECK-NEXT: schedule.mma {{.*}} scaled(%[[X]], %[[Y]] : {{.*}} instruction = "Tcgen05Nvf4"
    // TEXT: const ScalesPlace<4, 128> sInTensor{tensor + 256};
    // TEXT: copyPackedBox<OneThread>(sRing[
    // TEXT: waitFor(full[step]);
    // TEXT-NEXT: copyScales<OneThread>(sInTensor, sRing[step]);
    // TEXT-NEXT: copyScales<OneThread>(tInTensor, tRing[step]);
    // TEXT-NEXT: mma<OneThread, Tcgen05Nvf4>(product, aRing[step], bRing[step], sInTensor, tInTensor, step > 0);
    // PTX-COUNT-12: tcgen05.cp.cta_group::1.32x128b.warpx4
    // PTX-COUNT-4: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X
    // PTX: tcgen05.commit
    // BINARY: 0 bytes stack frame, 0 bytes spill stores
    %sum = schedule.loop (%k) = (%c0) to (%c4) on sequence carry(%acc = %zero) : !schedule.tile<128x256xf32> {
      %depth = arith.muli %k, %c128 : index
      %word = arith.muli %k, %c4 : index
      %x = schedule.load %a[%c0, %depth] valid(%m) : !schedule.buffer<?x512xvector<2xf4E2M1FN>> -> !schedule.tile<128x128xvector<2xf4E2M1FN>>
      %y = schedule.load %b[%c0, %depth] : !schedule.buffer<256x512xvector<2xf4E2M1FN>> -> !schedule.tile<256x128xvector<2xf4E2M1FN>>
      %xs = schedule.load %s[%c0, %word, %c0] : !schedule.buffer<?x16x256xvector<4xf8E4M3FN>, #packed> -> !schedule.tile<4x128xvector<4xf8E4M3FN>>
      %ys = schedule.load %t[%c0, %word, %c0] : !schedule.buffer<1x16x256xvector<4xf8E4M3FN>, #packed> -> !schedule.tile<4x256xvector<4xf8E4M3FN>>
      %next = schedule.mma %acc, %x, %y scaled(%xs, %ys : !schedule.tile<4x128xvector<4xf8E4M3FN>>, !schedule.tile<4x256xvector<4xf8E4M3FN>>) : !schedule.tile<128x256xf32>, !schedule.tile<128x128xvector<2xf4E2M1FN>>, !schedule.tile<256x128xvector<2xf4E2M1FN>> -> !schedule.tile<128x256xf32>
      schedule.yield %next : !schedule.tile<128x256xf32>
    }
    schedule.store %sum, %d[%c0, %c0] valid(%m) : !schedule.tile<128x256xf32>, !schedule.buffer<?x256xf32>
  }
}
}
