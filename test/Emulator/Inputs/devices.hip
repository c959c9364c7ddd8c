// Kernels that wait for each other: across blocks, and across devices.
#include "amd/instructions.hip.h"

namespace modelc {

/// Adds the vectors of two devices, each block its part: writes nothing until
/// the peer has said that its part is ready. flags: one a block and device.
KERNEL(64, 1)
allReduce(const float *mine, const float *peers, float *sum, uint32_t *myFlags,
          const uint32_t *peerFlags, uint32_t round) {
  int block = workgroupId(), at = block * 64 + threadId();
  if (threadId() == 0) {
    storeRelease(myFlags + block, round);
    waitForFlag(peerFlags + block, round);
  }
  sync();
  sum[at] = mine[at] + peers[at];
}

/// x[i] = x[i] * 2 + 1, so that the order of launches shows.
KERNEL(64, 1) step(float *x) {
  int at = workgroupId() * 64 + threadId();
  x[at] = x[at] * 2 + 1;
}

/// Each block waits for all others by counting and polling.
KERNEL(64, 1) gridBarrier(unsigned *count, int *seen) {
  if (threadId() == 0) {
    atomicAdd(count, 1u);
    while (loadAcquire(count) < uint32_t(workgroupCount())) {
    }
  }
  sync();
  seen[workgroupId() * 64 + threadId()] = int(loadAcquire(count));
}

/// The last block to come adds what all blocks have written; without the fences
/// (`fences` 0) nothing says that it sees it.
KERNEL(64, 1) lastBlock(unsigned *count, float *parts, float *sum, int fences) {
  SHARED(unsigned, before, 1);
  parts[workgroupId() * 64 + threadId()] = float(workgroupId() + threadId());
  if (fences) {
    fenceDevice();
  }
  sync();
  if (threadId() == 0) {
    before[0] = atomicAdd(count, 1u);
    if (fences) {
      fenceDevice();
    }
  }
  sync();
  if (int(before[0]) + 1 < workgroupCount()) {
    return;
  }
  float total = 0;
  for (int i = 0; i < workgroupCount(); ++i) {
    total += parts[i * 64 + threadId()];
  }
  sum[threadId()] = total;
}

/// Blocks write the same place without order.
KERNEL(64, 1) unordered(float *x) { x[threadId()] = float(workgroupId()); }

} // namespace modelc
