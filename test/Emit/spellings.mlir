// RUN: %emit %s --target=mi355x -o %t.hip
// RUN: FileCheck %s --check-prefixes=CHECK,HIP < %t.hip
// RUN: %emit %s --target=h100 -o %t.cu
// RUN: FileCheck %s --check-prefixes=CHECK,CUDA < %t.cu
// RUN: %amdgpu --offload-arch=gfx950 -Wno-unused-parameter -Wno-unused -S %t.hip -o /dev/null
// RUN: %if nvcc %{ %cuda -arch=sm_90a -cubin %t.cu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTX %}
// PTX-NOT: error
// One spelling for each op, on machines of both languages.
//
// HIP: #include "amd/tiles.hip.h"
// CUDA: #include "nvidia/tiles.cuh"
#rows = #schedule.layout<(register = [0:1, 0:2], lane = [0:4, 0:8, 1:0, 2:0, 4:0], wave = [8:0]) -> (row = 16, column = 16)>
#columns = #schedule.layout<(register = [1:0, 2:0], lane = [0:1, 0:2, 0:4, 0:8, 4:0], wave = [8:0]) -> (row = 16, column = 16)>
#crossed = #schedule.layout<(register = [1:0, 2:0], lane = [0:1, 0:2, 0:4, 4:0, 8:0], wave = [0:8]) -> (row = 16, column = 16)>
#sums = #schedule.layout<(lane = [0:0, 0:0, 1:0, 2:0, 4:0], wave = [8:0]) -> (row = 16, column = 1)>
#acrossed = #schedule.layout<(register = [1:0, 2:0], lane = [0:0, 0:0, 0:0, 4:0, 8:0], wave = [0:0]) -> (row = 16, column = 1)>
#ids = #schedule.layout<(lane = [1:0, 2:0, 4:0, 8:0, 0:0], wave = [0:0]) -> (row = 16, column = 1)>
!in = !schedule.buffer<?x64xf32>
!tile = !schedule.tile<16x16xf32, register, #rows>

// CHECK-LABEL: memory(
// HIP-SAME: const float *x,
// HIP: Lane<columns(4), columns(8), rows(1), rows(2), rows(4), 0>, Wave<rows(8)>>
// CUDA: Lane<columns(4), columns(8), rows(1), rows(2), rows(4)>, Wave<rows(8)>>
// CHECK: const int context = loadScalar(counts + offset(tile));
// CHECK: loadTile<4>(straight, view(x + offset(tile, 64, 16), 64).limitRows(m - tile));
// CHECK: loadTile<4, Dimension::Column, Reuse::Never>(once, view(x + offset(tile, 64, 16), 64).limitRows(m - tile).limitColumns(context - 16));
// CHECK: loadTile<1>(unaligned, view(x + offset(tile, 64, tile), 64));
// CHECK: loadTile<1, Dimension::Row>(numbers, view(counts + offset(tile), 1, 0));
// CHECK: loadTile<4>(gathered, view(x, 64).gather(numbers).limitRows(m));
// CHECK: loadTile<4>(paged, view(x, 64).paged(pages + offset(tile, 128, 0), 16, context).limitRows(m - context));
// CHECK: loadTile<4>(inPage, view(x, 64).limitRows(m - [[FIRST:.*]]).inPage(pages + offset(tile, 128, 0), 64, [[FIRST]]));
// CHECK: addTile(gathered, view(sum + offset(tile, 64, 0), 64));
// CHECK: storeTile<4>(straight, view(sum + offset(tile, 64, 0), 64).limitRows(m - tile));
// CHECK: storeScalar(counts + offset(tile), context);
// CHECK: loadTile<4>(heads, view(cache + offset(tile, 4, 2, 64, 0), 256));
schedule.kernel @memory(%x: !in, %sum: !in, %counts: !schedule.buffer<?xi32>, %pages: !schedule.buffer<?x128xi32>, %cache: !schedule.buffer<?x4x64xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 4096>] attributes {waves = 2 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %n = schedule.load %counts[%i] : !schedule.buffer<?xi32> -> i32 loc("context")
    %limit = arith.index_cast %n : i32 to index
    %a = schedule.load %x[%i, %c16] valid(%m) : !in -> !tile loc("straight")
    %b = schedule.load %x[%i, %c16] valid(%m, %limit) {stream} : !in -> !tile loc("once")
    %u = schedule.load %x[%i, %i] : !in -> !tile loc("unaligned")
    %r = schedule.load %counts[%i] : !schedule.buffer<?xi32> -> !schedule.tile<16x1xi32, register, #ids> loc("numbers")
    %g = schedule.load %x[%c0, %c0] rows(%r : !schedule.tile<16x1xi32, register, #ids>) valid(%m) : !in -> !tile loc("gathered")
    %p = schedule.load %x[%limit, %c0] pages(%pages, %i : !schedule.buffer<?x128xi32>) valid(%m) {page_size = 16 : i64} : !in -> !tile loc("paged")
    %first = arith.muli %i, %c16 : index
    %o = schedule.load %x[%first, %c0] pages(%pages, %i : !schedule.buffer<?x128xi32>) valid(%m) {page_size = 64 : i64} : !in -> !tile loc("in_page")
    schedule.store %g, %sum[%i, %c0] {add} : !tile, !in
    schedule.store %o, %sum[%i, %c0] : !tile, !in
    schedule.store %a, %sum[%i, %c0] valid(%m) : !tile, !in
    schedule.store %n, %counts[%i] : i32, !schedule.buffer<?xi32>
    %h = schedule.load %cache[%i, %c2, %c0] {dims = array<i64: 0, 2>} : !schedule.buffer<?x4x64xf32> -> !tile loc("heads")
    schedule.store %b, %sum[%i, %c0] : !tile, !in
    schedule.store %u, %sum[%i, %c0] : !tile, !in
    schedule.store %p, %sum[%i, %c0] : !tile, !in
    schedule.store %h, %sum[%i, %c0] : !tile, !in
  }
}

// CHECK-LABEL: values(
// HIP: SHARED_OBJECT(scratchBytes, 1024);
// HIP: const Place<Scratch> scratch{scratchBytes};
// CUDA: DYNAMIC_SHARED(shared);
// CUDA: const Place<Scratch> scratch{shared + 0};
// CHECK: reduce<Add, 1>(rowSum, values);
// CHECK: reduce<Max, 1>(rowMax, turned, scratch);
// CHECK: relayout(crossed, values, scratch);
// CHECK: const bool some = isAny(rowSum);
// CHECK: storeShared(values, scratch);
// CHECK: sync();
// CHECK: loadShared<Transposed>(back, scratch);
// CHECK: scaled[i] = values[i] * rowSum[i];
schedule.kernel @values(%x: !in, %d: !in, %m: index)
    guard [#schedule.range<"m", 1 to 4096>] attributes {waves = 2 : i64, stage = #schedule<stage final>, shared_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %scratch = schedule.alloc at 0 : !schedule.tile<16x16xf32, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !in -> !tile loc("values")
    %s = schedule.reduce add %v along 1 : !tile -> !schedule.tile<16x1xf32, register, #sums>
    %t = schedule.relayout %v through %scratch : !schedule.tile<16x16xf32, shared> : !tile -> !schedule.tile<16x16xf32, register, #crossed> loc("turned")
    %w = schedule.reduce max %t along 1 through %scratch : !schedule.tile<16x16xf32, shared> : !schedule.tile<16x16xf32, register, #crossed> -> !schedule.tile<16x1xf32, register, #acrossed>
    %k = schedule.relayout %v through %scratch : !schedule.tile<16x16xf32, shared> : !tile -> !schedule.tile<16x16xf32, register, #columns> loc("crossed")
    %some = schedule.any %s : !schedule.tile<16x1xf32, register, #sums> loc("some")
    schedule.store %v, %scratch[] : !tile, !schedule.tile<16x16xf32, shared>
    schedule.sync workgroup
    %b = schedule.load %scratch[] {transposed} : !schedule.tile<16x16xf32, shared> -> !tile loc("back")
    %y = schedule.map (%v, %s) {
    ^bb0(%e: f32, %f: f32, %r: index, %c: index):
      %z = arith.mulf %e, %f : f32
      schedule.yield %z : f32
    } : (!tile, !schedule.tile<16x1xf32, register, #sums>) -> (!tile) loc("scaled")
    schedule.store %y, %d[%i, %c0] : !tile, !in
    schedule.store %b, %d[%i, %c0] : !tile, !in
    schedule.store %k, %d[%i, %c0] : !schedule.tile<16x16xf32, register, #columns>, !in
    schedule.store %w, %d[%i, %c0] : !schedule.tile<16x1xf32, register, #acrossed>, !in
  }
}

// CHECK-LABEL: order(
// CHECK: if (m > 4) {
// CHECK-NEXT: raiseFlags(m, flagsOfPeers[rank] + offset(tile));
// CHECK: waitForFlags(m, flags + offset(tile));
// CHECK: for (int step = tile; step < m; step += 2) {
// CHECK-NEXT: sync();
// CHECK: waitReads<1>();
// CHECK: int index = 0;
// CHECK: int index2 = 1;
// CHECK: const auto lastIndex = index;
// CHECK-NEXT: index = index2;
// CHECK-NEXT: index2 = lastIndex;
schedule.kernel @order(%flags: !schedule.buffer<?xi32>, %rank: index, %m: index)
    guard [#schedule.range<"m", 1 to 4096>] attributes {waves = 2 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %more = arith.cmpi sgt, %m, %c4 : index
    %once = arith.select %more, %c1, %c0 : index
    schedule.loop (%x) = (%c0) to (%once) on sequence {
      schedule.arrive %flags[%i, %m] peer(%rank) {scope = #schedule<scope system>} : !schedule.buffer<?xi32>
      schedule.wait on %flags[%i, %m] : !schedule.buffer<?xi32>
    }
    schedule.loop (%t) = (%i) to (%m) step (%c2) on sequence {
      schedule.sync workgroup
      schedule.wait {queue = #schedule<queue reads>, pending = 1 : i64}
    }
    %p, %q = schedule.loop (%t) = (%c0) to (%m) on sequence carry(%a = %c0, %b = %c1) : index, index {
      schedule.yield %b, %a : index, index
    }
  }
}
