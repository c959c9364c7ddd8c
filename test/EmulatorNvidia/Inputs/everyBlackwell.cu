// Uses every instruction of tensor memory once, in every form, to see that it
// compiles for sm_100a and sm_103a.
#include "instructions.cuh"

namespace modelc {

template <int N, class T>
DEV void moveColumns(T *out, uint32_t tensor) {
  T columns[N];
  tensorLoad(columns, tensor);
  tensorWaitLoads(columns);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    out[i * 128 + threadId()] = columns[i];
  }
  tensorStore(tensor, columns);
  tensorWaitStores();
}

KERNEL(128, 1) tensor(float *out, uint32_t *words) {
  DYNAMIC_SHARED(memory);
  SHARED(Barrier, done, 1);
  SHARED(uint32_t, base, 1);
  if (waveId() == 0 && elect()) {
    initBarrier(done[0], 1);
    fenceBarrierInit();
  }
  if (waveId() == 1) {
    tensorAlloc<64>(base);
    tensorRelinquish();
  }
  tensorFenceBefore();
  sync();
  tensorFenceAfter();
  const uint64_t a = sharedDescriptorBlackwell(sharedAddress(memory));
  const uint64_t b = sharedDescriptorBlackwell(sharedAddress(memory + 8192));
  const uint32_t d = base[0];
  if (waveId() == 0 && elect()) {
    tensorMmaBf16(d, a, b, tensorInstructionBf16(128, 64), false);
    tensorMmaFp8(d, a, b, tensorInstructionFp8(128, 64), true);
    tensorMmaBf16FromTensor(d, d + 32, b, tensorInstructionBf16(128, 64, Major::K, Major::MN), out[0] > 0);
    tensorMmaFp8FromTensor(d, d + 32, b, tensorInstructionFp8(128, 64, Major::K, Major::MN), out[0] > 0);
    tensorCopyScales(d + 96, sharedDescriptorBlackwell(sharedAddress(memory), 128, 16, Swizzle::None));
    tensorMmaNvf4(d, a, b, tensorInstructionFp4(128, 128, ScaleType::E4M3, 0), d + 96, d + 96, true);
    tensorMmaMxf4(d, a, b, tensorInstructionFp4(128, 128, ScaleType::E8M0, 2), d + 96, d + 96, true);
    tensorMmaMx8(d, a, b, tensorInstructionMx8(128, 128, 3), d + 96, d + 96, true);
    tensorCommit(done[0]);
  }
  syncWave();
  waitParity(done[0], 0);
  tensorFenceAfter();
  const uint32_t lanes = d + (uint32_t(waveId()) << 21);
  moveColumns<8>(out, lanes);
  moveColumns<16>(out, lanes);
  moveColumns<32>(out, lanes);
  moveColumns<64>(out, lanes);
  moveColumns<8>(words, lanes);
  moveColumns<16>(words, lanes);
  moveColumns<32>(words, lanes);
  moveColumns<64>(words, lanes);
  tensorFenceBefore();
  sync();
  if (waveId() == 1) {
    tensorFree<64>(d);
  }
}

KERNEL(128, 1) CLUSTER(2) tensorOfPair(GRID_CONSTANT TensorMap map) {
  DYNAMIC_SHARED(memory);
  SHARED(Barrier, full, 1);
  SHARED(Barrier, done, 1);
  SHARED(uint32_t, base, 1);
  if (waveId() == 0 && elect()) {
    initBarrier(full[0], 3);
    initBarrier(done[0], 1);
    fenceBarrierInit();
  }
  if (waveId() == 1) {
    tensorAllocOfPair<64>(base);
    tensorRelinquishOfPair();
  }
  tensorFenceBefore();
  syncCluster();
  tensorFenceAfter();
  if (waveId() == 0 && elect()) {
    arriveExpectAtRank(full[0], 0, 16384);
    loadBoxOfPair(memory, map, 0, clusterRank() * 128, full[0], 0);
    if (clusterRank() == 1) {
      arriveAtRank(full[0], 0);
    } else {
      waitParity(full[0], 0);
      const uint64_t a = sharedDescriptorBlackwell(sharedAddress(memory));
      tensorMmaBf16OfPair(base[0], a, a, tensorInstructionBf16(256, 64), false);
      tensorMmaFp8OfPair(base[0], a, a, tensorInstructionFp8(256, 64), true);
      tensorCommitOfPair(done[0], 3);
    }
  }
  syncWave();
  waitParity(done[0], 0);
  tensorFenceAfter();
  tensorFenceBefore();
  syncCluster();
  if (waveId() == 1) {
    tensorFreeOfPair<64>(base[0]);
  }
}

} // namespace modelc
