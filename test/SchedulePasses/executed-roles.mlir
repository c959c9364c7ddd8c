// One plain product, cut into roles, printed and run on the emulator: copies and
// products late and at once, orders of threads, the race detector; compiled.
// RUN: split-file %s %t
// RUN: sed -e s/machine/b200/ -e s/WAVES/4/ -e s/SLOTS/2/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/tensor.mlir
// RUN: %emit %t/tensor.mlir -o %t/tensor.cu
// RUN: FileCheck %s --check-prefix=TENSOR < %t/tensor.cu
// RUN: %emulate -DKERNEL='"%t/tensor.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DSHARED_BYTES=65576 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/tensor.run
// RUN: env EMULATOR_COPIES=lazy %t/tensor.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/tensor.run | FileCheck %s
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=77 %t/tensor.run | FileCheck %s
// RUN: %race -DKERNEL='"%t/tensor.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DSHARED_BYTES=65576 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/tensor.race
// RUN: env EMULATOR_COPIES=eager %t/tensor.race 200 | FileCheck %s --check-prefix=RACE
// RUN: %if nvcc %{ %cuda -arch=sm_100a -cubin %t/tensor.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: sed -e s/machine/b200/ -e s/WAVES/4/ -e s/SLOTS/4/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/turns.mlir
// RUN: %emit %t/turns.mlir -o %t/turns.cu
// RUN: FileCheck %s --check-prefix=TURNS < %t/turns.cu
// RUN: %emulate -DKERNEL='"%t/turns.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DWORKGROUPS=1 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/turns.run
// RUN: env EMULATOR_COPIES=lazy %t/turns.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/turns.run | FileCheck %s
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=77 %t/turns.run | FileCheck %s
// RUN: %race -DKERNEL='"%t/turns.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DWORKGROUPS=1 -DSHARED_BYTES=131168 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/turns.race
// RUN: env EMULATOR_COPIES=eager %t/turns.race 200 | FileCheck %s --check-prefix=RACE
// RUN: %if nvcc %{ %cuda -arch=sm_100a -cubin %t/turns.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: sed -e s/machine/h200/ -e s/WAVES/4/ -e s/SLOTS/2/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/one.mlir
// RUN: %emit %t/one.mlir -o %t/one.cu
// RUN: FileCheck %s --check-prefix=ONE < %t/one.cu
// RUN: %emulate -DKERNEL='"%t/one.cu"' -DBOXES -DTHREADS=160 -DSIZE=128 -DWORKGROUPS=99 -DSHARED_BYTES=65568 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/one.run
// RUN: env EMULATOR_COPIES=lazy %t/one.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/one.run | FileCheck %s
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=77 %t/one.run | FileCheck %s
// RUN: %race -DKERNEL='"%t/one.cu"' -DBOXES -DTHREADS=160 -DSIZE=128 -DWORKGROUPS=99 -DSHARED_BYTES=65568 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/one.race
// RUN: env EMULATOR_COPIES=eager %t/one.race 200 | FileCheck %s --check-prefix=RACE
// RUN: %if nvcc %{ %cuda -arch=sm_90a -cubin %t/one.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: sed -e s/machine/h200/ -e s/WAVES/4/ -e s/SLOTS/4/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/next.mlir
// RUN: %emit %t/next.mlir -o %t/next.cu
// RUN: FileCheck %s --check-prefix=NEXT < %t/next.cu
// RUN: %emulate -DKERNEL='"%t/next.cu"' -DBOXES -DTHREADS=160 -DSIZE=128 -DWORKGROUPS=1 -DSHARED_BYTES=131136 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/next.run
// RUN: env EMULATOR_COPIES=lazy %t/next.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/next.run | FileCheck %s
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=77 %t/next.run | FileCheck %s
// RUN: %race -DKERNEL='"%t/next.cu"' -DBOXES -DTHREADS=160 -DSIZE=128 -DWORKGROUPS=1 -DSHARED_BYTES=131136 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/next.race
// RUN: env EMULATOR_COPIES=eager %t/next.race 200 | FileCheck %s --check-prefix=RACE
// RUN: %if nvcc %{ %cuda -arch=sm_90a -cubin %t/next.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// RUN: sed -e s/machine/h200/ -e s/WAVES/8/ -e s/SLOTS/4/ %t/gemm.mlir | %modelc-opt --schedule-finish -o %t/two.mlir
// RUN: %emit %t/two.mlir -o %t/two.cu
// RUN: FileCheck %s --check-prefix=TWO < %t/two.cu
// RUN: %emulate -DKERNEL='"%t/two.cu"' -DBOXES -DTHREADS=384 -DSIZE=128 -DWORKGROUPS=99 -DSHARED_BYTES=131136 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/two.run
// RUN: env EMULATOR_COPIES=lazy %t/two.run | FileCheck %s
// RUN: env EMULATOR_COPIES=eager EMULATOR_SEED=5 %t/two.run | FileCheck %s
// RUN: env EMULATOR_COPIES=lazy EMULATOR_SEED=77 %t/two.run | FileCheck %s
// RUN: %race -DKERNEL='"%t/two.cu"' -DBOXES -DTHREADS=384 -DSIZE=128 -DWORKGROUPS=99 -DSHARED_BYTES=131136 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/two.race
// RUN: env EMULATOR_COPIES=eager %t/two.race 200 | FileCheck %s --check-prefix=RACE
// RUN: %if nvcc %{ %cuda -arch=sm_90a -cubin %t/two.cu -x cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// Faults planted into the text of the first are found.
// RUN: sed -e 's/waitFor(empty\[step - 2\]);//' %t/tensor.cu > %t/early.cu
// RUN: %emulate -DKERNEL='"%t/early.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DSHARED_BYTES=65576 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/early.run
// RUN: not env EMULATOR_COPIES=lazy %t/early.run 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: {{wrong|emulator}}
// RUN: sed -e 's/startBarriers(done, 1)/startBarriers(done, 2)/' %t/tensor.cu > %t/many.cu
// RUN: %emulate -DKERNEL='"%t/many.cu"' -DBOXES -DTHREADS=192 -DSIZE=128 -DSHARED_BYTES=65576 -DSHARED_LIMIT=232448 %S/../Emit/Inputs/gemm.cpp -o %t/many.run
// RUN: not env EMULATOR_COPIES=eager %t/many.run 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: deadlock
// CHECK: m = 256: right
// CHECK: m = 200: right
// CHECK: m = 1: right
// RACE: m = 200: right
// PTX: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// TENSOR: WORKGROUP(192, 2) linear(
// TENSOR: startBarriers(full, 1);
// TENSOR: startBarriers(empty, 1);
// TENSOR: startBarriers(done, 1);
// TENSOR: if (wave < 4) { // role: epilogue
// TENSOR-NEXT: waitFor(done[0]);
// TENSOR-NEXT: for (int step = 0; step < 128; step += 64) {
// TENSOR: loadTensor(productTile, product, step);
// TENSOR: } else if (wave < 5) { // role: load
// TENSOR-NEXT: if (elect()) {
// TENSOR: waitFor(empty[step - 2]);
// TENSOR-NEXT: arriveExpect<OneThread>(full[step], 32768);
// TENSOR: copyBox<OneThread>(aRing[step], aMap, depth, row, full[step]);
// TENSOR: } else { // role: matrix
// TENSOR: waitFor(full[step]);
// TENSOR-NEXT: mma<OneThread, Tcgen05Bf16>(product, aRing[step], wRing[step], step > 0);
// TENSOR-NEXT: arriveAfterMma<OneThread>(empty[step]);
// TENSOR: arriveAfterMma<OneThread>(done[0]);

// The grid goes on to the next tile; accumulators take turns.
// TURNS: startBarriers(done, 1);
// TURNS: startBarriers(drained, 4);
// TURNS: allocTensor<256>(shared);
// TURNS: const TensorRing<128, 128, 2> product{tensor + 0};
// TURNS: int index = 0;
// TURNS: if (wave < 4) { // role: epilogue
// TURNS-NEXT: for (int next = workgroupId(); next < {{.*}}; next += workgroupCount()) {
// TURNS: waitFor(done[index]);
// TURNS: loadTensor(productTile, product[index], step);
// TURNS: arriveEachWave(drained[index]);
// TURNS-NEXT: index = index + 1;
// TURNS: } else if (wave < 5) { // role: load
// TURNS-NEXT: if (elect()) {
// TURNS-NEXT: for (int next = workgroupId(); next < {{.*}}; next += workgroupCount()) {
// TURNS: waitFor(empty[index2 - 4]);
// TURNS: } else { // role: matrix
// TURNS: waitFor(drained[index - 2]);
// TURNS: mma<OneThread, Tcgen05Bf16>(product[index], aRing[index2], wRing[index2], step > 0);
// TURNS: arriveAfterMma<OneThread>(done[index]);
// TURNS: index = index + 1;
// TURNS-NOT: sync();
// TURNS: freeTensor<256>(tensor);

// ONE: startBarriers(empty, 4);
// ONE: if (wave < 4) { // role: matrix
// ONE-NOT: Registers<
// ONE: mma<WgmmaBf16>(accumulator, aRing[step], wRing[step]);
// ONE-NEXT: waitMatrix<1>();
// ONE-NEXT: arriveEachWave(empty[step - 1]);
// ONE: waitMatrix<0>(accumulator);

// NEXT: for (int next = workgroupId();
// NEXT: mma<WgmmaBf16>(accumulator, aRing[index2], wRing[index2]);
// NEXT: arriveEachWave(empty[index2 - 1]);
// NEXT: waitMatrix<0>(accumulator);
// NEXT: waitFor(empty[index2 - 4]);

// TWO: startBarriers(empty, 8);
// TWO: if (wave < 8) { // role: matrix
// TWO-NEXT: raiseRegisters<232>();
// TWO: } else { // role: load
// TWO-NEXT: lowerRegisters<40>();
// TWO-NEXT: if (wave == 8 && elect()) {

//--- gemm.mlir
module attributes {schedule.target = "machine"} {
schedule.kernel @linear(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<256x256xbf16>, %d: !schedule.buffer<?x256xbf16>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = WAVES : i64, op_name = "linear", roles, slots = SLOTS : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c128 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x128xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x128xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<256x256xbf16> -> !schedule.tile<128x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x128xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<128x64xbf16> -> !schedule.tile<128x128xf32>
      schedule.yield %r : !schedule.tile<128x128xf32>
    }
    %o = schedule.map (%c) {
    ^bb0(%v: f32, %r: index, %q: index):
      %b = arith.truncf %v : f32 to bf16
      schedule.yield %b : bf16
    } : (!schedule.tile<128x128xf32>) -> !schedule.tile<128x128xbf16>
    schedule.store %o, %d[%row, %column] valid(%m) : !schedule.tile<128x128xbf16>, !schedule.buffer<?x256xbf16>
  }
}
}
