// A product of pairs of workgroups, printed and run on the emulator in clusters:
// copies and products late and at once, orders of threads, the race detector;
// compiled. Tiles of 256 x 256 of a pair, with two accumulators that take turns;
// then 256 x 128, one tile a workgroup.
// RUN: split-file %s %t
// RUN: sed -e s/WIDE/256/g -e s/SLOTS/4/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/turns.mlir
// RUN: %emit %t/turns.mlir -o %t/turns.cu
// RUN: FileCheck %s --check-prefix=TURNS < %t/turns.cu
// RUN: %emulate -DKERNEL='"%t/turns.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/turns.run
// RUN: env EMULATOR_COPIES=lazy %t/turns.run 1000 | FileCheck %s --check-prefix=LONG
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/turns.run 700 | FileCheck %s --check-prefix=TWICE
// RUN: %race -DKERNEL='"%t/turns.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/turns.race
// RUN: env EMULATOR_COPIES=eager %t/turns.race 500 | FileCheck %s --check-prefix=RACE
// RUN: %if nvcc %{ %cuda -arch=sm_100a -cubin %t/turns.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: %if nvcc %{ %cuda -arch=sm_103a -cubin %t/turns.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: sed -e s/WIDE/128/g -e s/SLOTS/2/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/once.mlir
// RUN: %emit %t/once.mlir -o %t/once.cu
// RUN: FileCheck %s --check-prefix=ONCE < %t/once.cu
// RUN: %emulate -DKERNEL='"%t/once.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DW_ROWS=64 -DCLUSTER_SIZE=2 -DSHARED_BYTES=49192 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/once.run
// RUN: env EMULATOR_COPIES=lazy %t/once.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/once.run | FileCheck %s
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=77 %t/once.run | FileCheck %s
// RUN: %if nvcc %{ %cuda -arch=sm_100a -cubin %t/once.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// Faults planted into the text of the first are found: bytes that arrive in the
// workgroup of their copy, of which the first waits for all; a product when one
// workgroup has its operands; an accumulator that one workgroup has drained; the
// same half of w in both; products of a pair that signal their own workgroup.
// RUN: sed -e 's/Barriers<4, Reach::Leader> full/Barriers<4> full/' %t/turns.cu > %t/own.cu
// RUN: %emulate -DKERNEL='"%t/own.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/own.run
// RUN: not env EMULATOR_COPIES=lazy %t/own.run 1000 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: deadlock
// RUN: sed -e 's/startBarriers(full, 2)/startBarriers(full, 1)/' %t/turns.cu > %t/few.cu
// RUN: %emulate -DKERNEL='"%t/few.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/few.run
// RUN: not env EMULATOR_COPIES=eager %t/few.run 1000 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: {{wrong|emulator}}
// RUN: sed -e 's/startBarriers(drained, 8)/startBarriers(drained, 4)/' %t/turns.cu > %t/early.cu
// RUN: %emulate -DKERNEL='"%t/early.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/early.run
// RUN: not env EMULATOR_COPIES=eager %t/early.run 1000 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: {{wrong|emulator}}
// RUN: sed -e 's/ + tileRow % 2 \* 128//' %t/turns.cu > %t/same.cu
// RUN: %emulate -DKERNEL='"%t/same.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/same.run
// RUN: not env EMULATOR_COPIES=lazy %t/same.run 1000 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: wrong
// RUN: sed -e 's/freeTensor<512, Pair>(tensor)/sync(); if (waveId() == 0) tensorFreeOfPair<512>(tensor)/' %t/turns.cu > %t/end.cu
// RUN: %emulate -DKERNEL='"%t/end.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DCOLUMNS=256 -DW_ROWS=128 -DCLUSTER_SIZE=2 -DWORKGROUPS=2 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/end.run
// RUN: not env EMULATOR_COPIES=lazy %t/end.run 1000 2>&1 | FileCheck %s --check-prefix=END
// END: emulator: {{.*}}ended
// CHECK: m = 256: right
// CHECK: m = 200: right
// CHECK: m = 1: right
// LONG: m = 1000: right
// TWICE: m = 700: right
// RACE: m = 500: right
// PTX: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// TURNS: WORKGROUP(192, 1) CLUSTER(2) linear(
// TURNS: const Barriers<4, Reach::Leader> full{
// TURNS-NEXT: startBarriers(full, 2);
// TURNS: const Barriers<4, Reach::All> empty{
// TURNS-NEXT: startBarriers(empty, 1);
// TURNS: const Barriers<2, Reach::All> done{
// TURNS-NEXT: startBarriers(done, 1);
// TURNS: const Barriers<2, Reach::Leader> drained{
// TURNS-NEXT: startBarriers(drained, 8);
// TURNS-NEXT: barriersAreReady<2>();
// TURNS: allocTensor<512, Pair>(shared);
// TURNS: const int tileRows = ceilDiv(ceilDiv(m, 128), 2) * 2;
// TURNS: const int row2 = index2 + tileRow % 2 * 128;
// TURNS: arriveExpect<OneThread>(full[index3], 32768);
// TURNS: copyBox<OneThread>(wRing[index3], wMap, depth, row2, full[index3]);
// TURNS: } else { // role: matrix
// TURNS-NEXT: if (clusterRank() == 0 && elect()) {
// TURNS-NEXT: for (int next
// TURNS: waitFor(drained[index - 2]);
// TURNS: mma<OneThread, Tcgen05Bf16Pair>(product[index], aRing[index3], wRing[index3], step > 0);
// TURNS-NEXT: arriveAfterMma<OneThread, Pair>(empty[index3]);
// TURNS: arriveAfterMma<OneThread, Pair>(done[index]);
// TURNS: freeTensor<512, Pair>(tensor);

// One tile a workgroup: halves of w of 64 rows.
// ONCE: const Barriers<2, Reach::Leader> full{
// ONCE: const Barriers<1, Reach::All> done{
// ONCE: allocTensor<128, Pair>(shared);
// ONCE: arriveExpect<OneThread>(full[step], 24576);
// ONCE: mma<OneThread, Tcgen05Bf16Pair>(product, aRing[step], wRing[step], step > 0);

//--- gemm.mlir
module attributes {schedule.target = "b200"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, op_name = "linear", roles, cluster = 2 : i64, slots = SLOTS : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %wide = arith.constant WIDE : index
  %columns = arith.divsi %c256, %wide : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %wide : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128xWIDExf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128xWIDExf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<256x256xbf16> -> !schedule.tile<WIDEx64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128xWIDExf32>, !schedule.tile<128x64xbf16>, !schedule.tile<WIDEx64xbf16> -> !schedule.tile<128xWIDExf32>
      schedule.yield %r : !schedule.tile<128xWIDExf32>
    }
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128xWIDExf32>) -> !schedule.tile<128xWIDExbf16>
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128xWIDExbf16>, !schedule.buffer<?x256xbf16>
  }
}
}
