// c[m, n] = a[m, k] b[n, k], bf16, on wgmma. All threads multiply, one also copies.
//
// A workgroup owns 128 x 128 of c: two groups of four waves, 64 rows each. It
// walks k in steps of 64 through a ring of three stages: boxes arrive two steps
// ahead of the multiplication, which itself runs one step behind its issue.
#include "instructions.cuh"

namespace modelc {

KERNEL(256, 1) gemm(GRID_CONSTANT TensorMap a, GRID_CONSTANT TensorMap b, GRID_CONSTANT TensorMap c, int k) {
  constexpr int kRows = 128, kColumns = 128, kDepth = 64, kStages = 3;
  struct Stage {
    char a[kRows * kDepth * 2], b[kColumns * kDepth * 2]; // rows of 128 bytes, swizzled
  };
  struct Shared {
    Stage stage[kStages];
    char out[2][2][64 * 128]; // by group, then half of the columns
    Barrier full[kStages];
  };
  DYNAMIC_SHARED(memory);
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  const int row = workgroupId<0>() * kRows, column = workgroupId<1>() * kColumns;
  const int steps = (k + kDepth - 1) / kDepth;
  const int group = waveId() / 4;
  const bool leader = threadId() == 0;

  if (leader) {
    for (int slot = 0; slot < kStages; ++slot) {
      initBarrier(shared.full[slot], 1);
    }
    fenceBarrierInit();
  }
  sync();

  auto fetch = [&](int step, int slot) {
    arriveExpect(shared.full[slot], sizeof(Stage));
    loadBox(shared.stage[slot].a, a, step * kDepth, row, shared.full[slot]);
    loadBox(shared.stage[slot].b, b, step * kDepth, column, shared.full[slot]);
  };
  for (int step = 0; leader && step < kStages - 1 && step < steps; ++step) {
    fetch(step, step);
  }

  float d[kColumns / 2];
  int slot = 0, fetchSlot = kStages - 1;
  uint32_t parity = 0;
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
    wgmmaWait<1>(); // the step before this one is done
    sync();         // in both groups: its stage is free
    if (leader && step + kStages - 1 < steps) {
      fetch(step + kStages - 1, fetchSlot);
    }
    fetchSlot = slot;
    if (++slot == kStages) {
      slot = 0;
      parity ^= 1;
    }
  }
  wgmmaWait<0>(d);

  const int lane = laneId(), firstRow = waveId() % 4 * 16 + lane / 4;
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
  sync();
  if (threadId() % 128 == 0) {
    storeBox(c, shared.out[group][0], column, row + group * 64);
    storeBox(c, shared.out[group][1], column + 64, row + group * 64);
    commitStores();
    waitStoresRead<0>();
  }
}

} // namespace modelc
