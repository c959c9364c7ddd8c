// c[m, n] = a[m, k] b[n, k], bf16, on tcgen05. One thread copies and multiplies.
//
// A workgroup owns 128 x 128 of c, which grows in tensor memory. It walks k in
// steps of 64 through a ring of three stages; a stage is free when the
// multiplications that read it have arrived at its `empty` barrier. At the end
// each of the four waves reads its 32 lanes, one row of c a thread.
#include "instructions.cuh"

namespace modelc {

KERNEL(128, 1) gemm(GRID_CONSTANT TensorMap a, GRID_CONSTANT TensorMap b, GRID_CONSTANT TensorMap c, int k) {
  constexpr int kRows = 128, kColumns = 128, kDepth = 64, kStages = 3;
  struct Stage {
    char a[kRows * kDepth * 2], b[kColumns * kDepth * 2]; // rows of 128 bytes, swizzled
  };
  struct Shared {
    Stage stage[kStages];
    char out[2][kRows * 128]; // by half of the columns
    Barrier full[kStages], empty[kStages], done;
    uint32_t tensor;
  };
  DYNAMIC_SHARED(memory);
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  const int row = workgroupId<0>() * kRows, column = workgroupId<1>() * kColumns;
  const int steps = (k + kDepth - 1) / kDepth;
  const int wave = waveId();

  if (wave == 0) {
    tensorAlloc<kColumns>(&shared.tensor);
    tensorRelinquish();
  }
  if (threadId() == 0) {
    for (int slot = 0; slot < kStages; ++slot) {
      initBarrier(shared.full[slot], 1);
      initBarrier(shared.empty[slot], 1);
    }
    initBarrier(shared.done, 1);
    fenceBarrierInit();
  }
  tensorFenceBefore();
  sync();
  tensorFenceAfter();
  const uint32_t tensor = shared.tensor;

  if (wave == 0 && elect()) {
    constexpr uint32_t kInstruction = tensorInstructionBf16(kRows, kColumns);
    auto fetch = [&](int step, int slot) {
      arriveExpect(shared.full[slot], sizeof(Stage));
      loadBox(shared.stage[slot].a, a, step * kDepth, row, shared.full[slot]);
      loadBox(shared.stage[slot].b, b, step * kDepth, column, shared.full[slot]);
    };
    for (int step = 0; step < kStages - 1 && step < steps; ++step) {
      fetch(step, step);
    }
    int slot = 0, fetchSlot = kStages - 1;
    uint32_t parity = 0, fetchParity = 1;
    for (int step = 0; step < steps; ++step) {
      waitParity(shared.full[slot], parity);
      const uint64_t tileA = sharedDescriptorBlackwell(sharedAddress(shared.stage[slot].a));
      const uint64_t tileB = sharedDescriptorBlackwell(sharedAddress(shared.stage[slot].b));
#pragma unroll
      for (int i = 0; i < kDepth / 16; ++i) {
        tensorMmaBf16(tensor, advanceDescriptor(tileA, i * 32), advanceDescriptor(tileB, i * 32), kInstruction,
                      step + i > 0);
      }
      tensorCommit(shared.empty[slot]);
      if (step + kStages - 1 < steps) {
        waitParity(shared.empty[fetchSlot], fetchParity); // the step before this one
        fetch(step + kStages - 1, fetchSlot);
      }
      if (++fetchSlot == kStages) {
        fetchSlot = 0;
        fetchParity ^= 1;
      }
      if (++slot == kStages) {
        slot = 0;
        parity ^= 1;
      }
    }
    tensorCommit(shared.done);
  }
  syncWave();
  waitParity(shared.done, 0);
  tensorFenceAfter();

  const int r = wave * 32 + laneId();
#pragma unroll
  for (int chunk = 0; chunk < kColumns / 32; ++chunk) {
    float d[32];
    tensorLoad(d, tensor + (wave * 32 << 16) + chunk * 32);
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
  fenceAsyncShared();
  sync();
  if (wave == 0) {
    tensorFenceAfter();
    tensorFree<kColumns>(tensor);
  }
  if (threadId() == 0) {
    storeBox(c, shared.out[0], column, row);
    storeBox(c, shared.out[1], column + 64, row);
    commitStores();
    waitStoresRead<0>();
  }
}

} // namespace modelc
