// Uses every instruction of sm_90a once, in every form, to see that it compiles.
#include "instructions.cuh"

namespace modelc {

template <int N>
DEV void everyWgmma(float *out, uint64_t a, uint64_t b, const uint32_t (&fragment)[4]) {
  float d[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    d[i] = out[i];
  }
  wgmmaFence();
  wgmmaBf16<N>(d, a, b, true);
  wgmmaBf16<N, Major::MN, Major::MN>(d, a, b, true);
  wgmmaBf16<N>(d, fragment, b, true);
  wgmmaBf16<N, Major::MN>(d, fragment, b, true);
  wgmmaFp8<N>(d, a, b, true);
  wgmmaFp8<N>(d, fragment, b, true);
  wgmmaCommit();
  wgmmaWait<0>(d);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    out[i + threadId()] = d[i];
  }
}

template <int N>
DEV void wgmmaOfWidth(float *out) {
  DYNAMIC_SHARED(memory);
  uint32_t fragment[4];
  loadMatrix4(fragment, memory);
  loadMatrix4Transposed(fragment, memory + 16);
  everyWgmma<N>(out, sharedDescriptorHopper(sharedAddress(memory)),
                sharedDescriptorHopper(sharedAddress(memory + 8192)), fragment);
}

KERNEL(128, 1) wgmma8(float *out) { wgmmaOfWidth<8>(out); }
KERNEL(128, 1) wgmma16(float *out) { wgmmaOfWidth<16>(out); }
KERNEL(128, 1) wgmma32(float *out) { wgmmaOfWidth<32>(out); }
KERNEL(128, 1) wgmma64(float *out) { wgmmaOfWidth<64>(out); }
KERNEL(128, 1) wgmma128(float *out) { wgmmaOfWidth<128>(out); }
KERNEL(128, 1) wgmma256(float *out) { wgmmaOfWidth<256>(out); }

KERNEL(128, 1) CLUSTER(2) copies(GRID_CONSTANT TensorMap map, const uint32_t *in, float *out) {
  DYNAMIC_SHARED(memory);
  SHARED(Barrier, barriers, 2);
  if (waveId() == 0 && elect()) {
    initBarrier(barriers[0], 1);
    initBarrier(barriers[1], 129);
    fenceBarrierInit();
    prefetchMap(map);
  }
  waitPreviousKernel();
  syncCluster();
  launchNextKernel();
  if (threadId() == 0) {
    arriveExpect(barriers[0], 8192);
    loadBox(memory, map, 0, 0, barriers[0]);
    loadBox(memory, map, 0, 0, 1, barriers[0]);
    loadBulk(memory, in, 128, barriers[0]);
    arrive(barriers[1]);
  }
  waitParity(barriers[0], 0);
  copyAsync16(memory + 16 * threadId(), in + 4 * threadId(), in[0] > 1);
  commitCopies();
  waitCopies<0>();
  arriveAfterCopies(barriers[1]);
  waitParity(barriers[1], 0);
  fenceAsyncShared();
  syncGroup<1, 128>();
  if (threadId() == 0) {
    storeBox(map, memory, 0, 0);
    storeBox(map, memory, 0, 0, 1);
    commitStores();
    waitStoresRead<0>();
    waitStores<0>();
  }
  raiseRegisters<232>();
  lowerRegisters<40>();
  out[0] = float(clusterRank());
}

KERNEL(128, 1) threads(float *out, uint32_t *words) {
  float d[4] = {out[0], out[1], out[2], out[3]};
  const uint32_t a[4] = {words[0], words[1], words[2], words[3]}, b[2] = {words[4], words[5]};
  mmaBf16(d, a, b);
  mmaFp8(d, a, b);
  d[0] = shuffleXor(d[0], 1) + shuffleXor<2>(d[1]) + shuffle(d[2], 3) + readFirstLane(d[3]);
  d[1] = exp2(d[0]) + log2(d[1]) + rcp(d[2]) + rsqrt(d[3]) + sqrt(d[0]) + tanh(d[1]) + fma(d[0], d[1], d[2]);
  d[2] = max(d[0], d[1]) + min(d[2], abs(d[3])) + float(max(laneId(), 3)) + float(shuffle(1.0, 2));
  words[0] = packBf16(d[0], d[1]) + toBf16(d[2]).bits + packFp8(d[0], d[1]);
  words[1] = packFp8(f32x4{d[0], d[1], d[2], d[3]});
  out[0] = unpackBf16(words[2])[1] + unpackFp8(words[3])[2] + toFloat(bf16{5}) + unpackFp8(uint16_t(words[4]))[0];
  atomicAdd(out, d[0]);
  atomicAdd(reinterpret_cast<int *>(words), 1);
  atomicAdd(words, 1u);
  atomicMax(reinterpret_cast<uint64_t *>(words), uint64_t(5));
  atomicAddBf16(words, words[6]);
  fenceDevice();
  storeRelease(words + 7, 3);
  waitForFlag(words + 8, loadAcquire(words + 9));
  storeNontemporal(out + 4, loadNontemporal(out + 5));
  storeNontemporal(reinterpret_cast<u32x2 *>(words) + 5, loadNontemporal(reinterpret_cast<u32x2 *>(words) + 6));
  storeNontemporal(reinterpret_cast<u32x4 *>(words) + 5, loadNontemporal(reinterpret_cast<u32x4 *>(words) + 6));
  storeGlobal(out + 9, loadGlobal(out + 8));
  syncWave();
  words[10] = uint32_t(workgroupId() + workgroupId<1>() + workgroupCount() + workgroupCount<2>() + uniform(waveId()));
}

} // namespace modelc
