// c[m, n] = a[m, k] b[n, k], bf16, on tcgen05. One wave copies, one multiplies,
// four write the results of the tile before.
//
// A workgroup owns 128 x 128 of c at a time and takes every gridDim-th such tile
// (persistent). Two accumulators in tensor memory take turns: `accumulated` says
// that one is ready to be read, `drained` that it may be written again.
#include "instructions.cuh"

namespace modelc {

KERNEL(256, 1)
gemm(GRID_CONSTANT TensorMap a, GRID_CONSTANT TensorMap b, GRID_CONSTANT TensorMap c, int m, int n, int k) {
  constexpr int kRows = 128, kColumns = 128, kDepth = 64, kStages = 4;
  struct Stage {
    char a[kRows * kDepth * 2], b[kColumns * kDepth * 2]; // rows of 128 bytes, swizzled
  };
  struct Shared {
    Stage stage[kStages];
    char out[2][kRows * 128]; // by half of the columns
    Barrier full[kStages], empty[kStages], accumulated[2], drained[2];
    uint32_t tensor;
  };
  DYNAMIC_SHARED(memory);
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  const int steps = (k + kDepth - 1) / kDepth, tilesDown = (m + kRows - 1) / kRows;
  const int tiles = tilesDown * ((n + kColumns - 1) / kColumns);
  const int wave = waveId();
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
      initBarrier(shared.empty[i], 1);
    }
    for (int i = 0; i < 2; ++i) {
      initBarrier(shared.accumulated[i], 1);
      initBarrier(shared.drained[i], 128);
    }
    fenceBarrierInit();
  }
  if (wave == 2) {
    tensorAlloc<2 * kColumns>(&shared.tensor);
    tensorRelinquish();
  }
  tensorFenceBefore();
  sync();
  tensorFenceAfter();
  const uint32_t tensor = shared.tensor;

  if (wave == 0 && elect()) { // role: copy
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
  } else if (wave == 1 && elect()) { // role: multiply
    constexpr uint32_t kInstruction = tensorInstructionBf16(kRows, kColumns);
    uint32_t turn = 0, turnParity = 0;
    for (int tile = workgroupId(); tile < tiles; tile += workgroupCount()) {
      waitParity(shared.drained[turn], turnParity ^ 1);
      tensorFenceAfter();
      for (int step = 0; step < steps; ++step) {
        waitParity(shared.full[slot], parity);
        const uint64_t tileA = sharedDescriptorBlackwell(sharedAddress(shared.stage[slot].a));
        const uint64_t tileB = sharedDescriptorBlackwell(sharedAddress(shared.stage[slot].b));
#pragma unroll
        for (int i = 0; i < kDepth / 16; ++i) {
          tensorMmaBf16(tensor + turn * kColumns, advanceDescriptor(tileA, i * 32), advanceDescriptor(tileB, i * 32),
                        kInstruction, step + i > 0);
        }
        tensorCommit(shared.empty[slot]);
        advance();
      }
      tensorCommit(shared.accumulated[turn]);
      turn ^= 1;
      turnParity ^= turn == 0;
    }
  } else if (wave >= 4) { // role: write
    uint32_t turn = 0, turnParity = 0;
    const int r = (wave - 4) * 32 + laneId();
    const bool leader = threadId() == 128;
    for (int tile = workgroupId(); tile < tiles; tile += workgroupCount()) {
      const int row = tile % tilesDown * kRows, column = tile / tilesDown * kColumns;
      if (leader) {
        waitStoresRead<0>(); // of the tile before
      }
      syncGroup<1, 128>();
      waitParity(shared.accumulated[turn], turnParity);
      tensorFenceAfter();
#pragma unroll
      for (int chunk = 0; chunk < kColumns / 32; ++chunk) {
        float d[32];
        tensorLoad(d, tensor + turn * kColumns + ((wave - 4) * 32 << 16) + chunk * 32);
        tensorWaitLoads(d);
#pragma unroll
        for (int unit = 0; unit < 4; ++unit) {
          u32x4 words;
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            words[i] = packBf16(d[unit * 8 + 2 * i], d[unit * 8 + 2 * i + 1]);
          }
          const int at = chunk % 2 * 4 + unit;
          *reinterpret_cast<u32x4 *>(shared.out[chunk / 2] + r * 128 + ((at ^ r % 8) << 4)) = words;
        }
      }
      tensorFenceBefore();
      arrive(shared.drained[turn]);
      fenceAsyncShared();
      syncGroup<1, 128>();
      if (leader) {
        storeBox(c, shared.out[0], column, row);
        storeBox(c, shared.out[1], column + 64, row);
        commitStores();
      }
      turn ^= 1;
      turnParity ^= turn == 0;
    }
    if (leader) {
      waitStoresRead<0>();
    }
    tensorFenceBefore();
  }
  syncWave();
  sync();
  if (wave == 2) {
    tensorFenceAfter();
    tensorFree<2 * kColumns>(tensor);
  }
}

} // namespace modelc
