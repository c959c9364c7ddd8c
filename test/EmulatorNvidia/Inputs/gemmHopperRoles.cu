// c[m, n] = a[m, k] b[n, k], bf16, on wgmma. One group of waves copies, two multiply.
//
// A workgroup owns 128 x 128 of c at a time and takes every gridDim-th such tile
// (persistent). A stage goes round: empty -> the copying thread -> full -> both
// multiplying groups -> empty. The two sides run up to four stages apart.
#include "instructions.cuh"

namespace modelc {

KERNEL(384, 1)
gemm(GRID_CONSTANT TensorMap a, GRID_CONSTANT TensorMap b, GRID_CONSTANT TensorMap c, int m, int n, int k) {
  constexpr int kRows = 128, kColumns = 128, kDepth = 64, kStages = 4;
  struct Stage {
    char a[kRows * kDepth * 2], b[kColumns * kDepth * 2]; // rows of 128 bytes, swizzled
  };
  struct Shared {
    Stage stage[kStages];
    char out[2][2][64 * 128]; // by group, then half of the columns
    Barrier full[kStages], empty[kStages];
  };
  DYNAMIC_SHARED(memory);
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  const int steps = (k + kDepth - 1) / kDepth, tilesDown = (m + kRows - 1) / kRows;
  const int tiles = tilesDown * ((n + kColumns - 1) / kColumns);
  const int group = waveId() / 4;
  int slot = 0;
  uint32_t parity = 0;
  auto advance = [&] {
    if (++slot == kStages) {
      slot = 0;
      parity ^= 1;
    }
  };

  if (threadId() == 0) {
    for (int i = 0; i < kStages; ++i) {
      initBarrier(shared.full[i], 1);
      initBarrier(shared.empty[i], 2);
    }
    fenceBarrierInit();
  }
  sync();

  if (group == 2) { // role: copy
    lowerRegisters<40>();
    if (waveId() == 8 && elect()) {
      for (int tile = workgroupId(); tile < tiles; tile += workgroupCount()) {
        const int row = tile % tilesDown * kRows, column = tile / tilesDown * kColumns;
        for (int step = 0; step < steps; ++step) {
          waitParity(shared.empty[slot], parity ^ 1);
          arriveExpect(shared.full[slot], sizeof(Stage));
          loadBox(shared.stage[slot].a, a, step * kDepth, row, shared.full[slot]);
          loadBox(shared.stage[slot].b, b, step * kDepth, column, shared.full[slot]);
          advance();
        }
      }
    }
    return;
  }

  raiseRegisters<232>(); // role: multiply
  const bool leader = threadId() % 128 == 0;
  const int lane = laneId(), firstRow = waveId() % 4 * 16 + lane / 4;
  auto syncOwnGroup = [&] {
    if (group == 0) {
      syncGroup<1, 128>();
    } else {
      syncGroup<2, 128>();
    }
  };
  for (int tile = workgroupId(); tile < tiles; tile += workgroupCount()) {
    const int row = tile % tilesDown * kRows, column = tile / tilesDown * kColumns;
    float d[kColumns / 2];
    int previous = 0;
    for (int step = 0; step < steps; ++step) {
      waitParity(shared.full[slot], parity);
      const uint64_t tileA = sharedDescriptorHopper(sharedAddress(shared.stage[slot].a) + group * 64 * 128);
      const uint64_t tileB = sharedDescriptorHopper(sharedAddress(shared.stage[slot].b));
      wgmmaFence();
#pragma unroll
      for (int i = 0; i < kDepth / 16; ++i) {
        wgmmaBf16<kColumns>(d, advanceDescriptor(tileA, i * 32), advanceDescriptor(tileB, i * 32), step + i > 0);
      }
      wgmmaCommit();
      wgmmaWait<1>();
      syncOwnGroup(); // the step before this one is done in all four waves
      if (leader && step > 0) {
        arrive(shared.empty[previous]);
      }
      previous = slot;
      advance();
    }
    wgmmaWait<0>(d);
    if (leader) {
      waitStoresRead<0>(); // of the tile before
    }
    syncOwnGroup();
    if (leader) {
      arrive(shared.empty[previous]);
    }
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = firstRow + half * 8;
        char *unit = shared.out[group][j / 8] + r * 128 + ((j % 8 ^ r % 8) << 4);
        reinterpret_cast<uint32_t *>(unit)[lane % 4] = packBf16(d[4 * j + 2 * half], d[4 * j + 2 * half + 1]);
      }
    }
    fenceAsyncShared();
    syncOwnGroup();
    if (leader) {
      storeBox(c, shared.out[group][0], column, row + group * 64);
      storeBox(c, shared.out[group][1], column + 64, row + group * 64);
      commitStores();
    }
  }
  if (leader) {
    waitStoresRead<0>();
  }
}

} // namespace modelc
