// Shuffles, buffers with bounds, transposed reads, conversions, atomics: each
// result is written out plainly.
#include "amd/instructions.hip.h"

namespace modelc {

/// out[64][10]: where each lane's value came from.
KERNEL(64, 1) shuffles(int *out, double *wide) {
  int l = laneId(), *mine = out + l * 10;
  mine[0] = shuffleXor<1>(l);
  mine[1] = shuffleXor<3>(l);
  mine[2] = shuffleXor<4>(l);
  mine[3] = shuffleXor<6>(l);
  mine[4] = shuffleXor<8>(l);
  mine[5] = shuffleXor<16>(l);
  mine[6] = shuffleXor<32>(l);
  mine[7] = shuffleXor(l, 63);
  mine[8] = shuffle(l, (l * 5) % 64);
  mine[9] = readFirstLane(l + 100);
  wide[l] = shuffleXor<33>(l + 0.5);
}

/// Copies a ragged tile through shared memory: 64 * kCopyBytes bytes from
/// `start`, of a buffer of `bytes`.
KERNEL(64, 1) ragged(const uint8_t *from, uint8_t *to, int start, int bytes) {
  SHARED(uint8_t, tile, 64 * kCopyBytes);
  copyBufferToShared<kCopyBytes>(buffer(from, bytes), tile,
                                 laneId() * kCopyBytes, start);
  waitCopies<0>();
  syncWave();
  for (int i = 0; i < kCopyBytes; ++i) {
    to[i * 64 + laneId()] = tile[i * 64 + laneId()];
  }
  Buffer loads = buffer(from, bytes);
  Buffer stores = buffer(to + 64 * kCopyBytes, 40 * 4);
  storeBuffer(stores, loadBuffer<int>(loads, laneId() * 4, start),
              laneId() * 4);
}

#if MODELC_CHIP >= 950
/// A tile of 16 rows of K by 16 columns, 16 bits each; lane l gets column l %
/// 16 and rows l / 16 * 4 and three more.
KERNEL(64, 1) transposed(const uint16_t *from, uint16_t *to) {
  SHARED(uint16_t, tile, 256);
  for (int i = 0; i < 4; ++i) {
    tile[i * 64 + laneId()] = from[i * 64 + laneId()];
  }
  sync();
  int row = laneId() / 16 * 4 + laneId() % 16 / 4, column = laneId() % 4 * 4;
  i32x2 got = readTransposed16(tile + row * 16 + column);
  __builtin_memcpy(to + laneId() * 4, &got, 8);
}

/// The same of 32 rows of 8 bits: lane l gets rows l / 16 * 8 and seven more.
KERNEL(64, 1) transposed8(const uint8_t *from, uint8_t *to) {
  SHARED(uint8_t, tile, 512);
  for (int i = 0; i < 8; ++i) {
    tile[i * 64 + laneId()] = from[i * 64 + laneId()];
  }
  sync();
  int row = laneId() / 16 * 8 + laneId() % 16 / 2, column = laneId() % 2 * 8;
  i32x2 got = readTransposed8(tile + row * 16 + column);
  __builtin_memcpy(to + laneId() * 8, &got, 8);
}
#endif

KERNEL(64, 1) conversions(const float *x, uint32_t *packed, float *back) {
  int l = laneId();
  f32x4 v = {x[l * 4], x[l * 4 + 1], x[l * 4 + 2], x[l * 4 + 3]};
  packed[l * 4] = packFp8(v);
  packed[l * 4 + 1] = packBf8(v);
  packed[l * 4 + 2] = packBf16(v[0], v[1]);
  uint32_t four = 0;
#if MODELC_CHIP >= 950
  four = packFp4(v, -v, 4.0f);
#endif
  packed[l * 4 + 3] = four;
  f32x4 a = unpackFp8(packed[l * 4]), b = unpackBf8(packed[l * 4 + 1]);
  f32x4 c = unpackFp4<1>(four, 4.0f);
  f32x2 d = unpackBf16(packed[l * 4 + 2]);
  for (int i = 0; i < 4; ++i) {
    back[l * 16 + i] = a[i];
    back[l * 16 + 4 + i] = b[i];
    back[l * 16 + 8 + i] = c[i];
  }
  back[l * 16 + 12] = d[0];
  back[l * 16 + 13] = d[1];
}

KERNEL(128, 1)
counting(float *sum, unsigned *count, uint64_t *largest, uint32_t *pair) {
  atomicAdd(sum, 0.5f);
  atomicAdd(count, 1u);
  atomicMax(largest, uint64_t(workgroupId() * 128 + threadId()));
  atomicAddBf16(pair, packBf16(1.0f, 2.0f));
}

} // namespace modelc
