// c[m, n] = a[m, k] * b[n, k]^T in bf16: 4 waves, tiles of 64 x 64 x 32, two
// stages copied straight to shared memory. On the emulator, `bug` plants one
// mistake.
#include "amd/instructions.hip.h"

enum Bug {
  None,
  NoBarrier,
  ShortWait,
  DivergentBarrier,
  NoFinalWait,
  SharedOverrun,
  DivergentMatrix,
  AddressPerLane,
};
#ifdef MODELC_EMULATOR
inline int bug = None;
#else
constexpr int bug = None;
#endif

namespace modelc {

constexpr int kRows = 64, kDepth = 32, kTile = kRows * kDepth;

/// The four elements of 16 bytes (gfx950) or the two of 4 (gfx942) that each
/// lane copies; a wave copies its 16 rows of a tile.
DEV void copyTile(const bf16 *from, int k, bf16 *to) {
  constexpr int kEach = kCopyBytes / 2, kStep = 64 * kEach;
  for (int i = 0; i < 16 * kDepth; i += kStep) {
    int element = i + laneId() * kEach;
    int row = 16 * waveId() + element / kDepth;
    bf16 *base = to + 16 * waveId() * kDepth + i;
    if (bug == AddressPerLane) {
      base += laneId() * kEach;
    }
    copyToShared<kCopyBytes>(from + row * k + element % kDepth, base);
  }
}

/// Copies of one trip of one wave: two tiles.
constexpr int kCopies = 2 * 16 * kDepth * 2 / (64 * kCopyBytes);

/// c += rows of a, rows of b.
DEV f32x4 multiply(const bf16 *a, const bf16 *b, f32x4 c) {
  int at = laneId() % 16 * kDepth + laneId() / 16 * 8;
#if MODELC_CHIP >= 950
  return mfma16x16x32(*(const bf16x8 *)(a + at), *(const bf16x8 *)(b + at), c);
#else
  at = laneId() % 16 * kDepth + laneId() / 16 * 4;
  for (int k = 0; k < 32; k += 16) {
    c = mfma16x16x16(*(const bf16x4 *)(a + at + k),
                     *(const bf16x4 *)(b + at + k), c);
  }
  return c;
#endif
}

KERNEL(256, 1) gemm(const bf16 *a, const bf16 *b, float *c, int n, int k) {
  SHARED(bf16, sharedA, 2 * kTile);
  SHARED(bf16, sharedB, 2 * kTile);
  int row = workgroupId<1>() * kRows, column = workgroupId() * kRows;
  int half = waveId() / 2 * 32, otherHalf = waveId() % 2 * 32;
  a += row * k;
  b += column * k;
  f32x4 sums[2][2] = {};
  copyTile(a, k, sharedA);
  copyTile(b, k, sharedB);
  for (int at = 0, stage = 0; at < k; at += kDepth, stage ^= 1) {
    if (at + kDepth < k) {
      copyTile(a + at + kDepth, k, sharedA + (stage ^ 1) * kTile);
      copyTile(b + at + kDepth, k, sharedB + (stage ^ 1) * kTile);
      bug == ShortWait ? waitCopies<2 * kCopies>() : waitCopies<kCopies>();
    } else if (bug != NoFinalWait) {
      waitCopies<0>();
    }
    sync();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const bf16 *x = sharedA + stage * kTile + (half + i * 16) * kDepth;
        const bf16 *y = sharedB + stage * kTile + (otherHalf + j * 16) * kDepth;
        sums[i][j] = multiply(x, y, sums[i][j]);
      }
    }
    if (bug == DivergentMatrix && laneId() < 32) {
      sums[0][0] = multiply(sharedA, sharedB, sums[0][0]);
    }
    if (bug != NoBarrier) {
      sync();
    }
  }
  if (bug == DivergentBarrier && waveId() == 0) {
    sync();
  }
  if (bug == SharedOverrun) {
    sharedB[2 * kTile + threadId() % 8] = toBf16(0);
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int r = 0; r < 4; ++r) {
        int at = row + half + i * 16 + laneId() / 16 * 4 + r;
        c[at * n + column + otherHalf + j * 16 + laneId() % 16] = sums[i][j][r];
      }
    }
  }
}

} // namespace modelc
