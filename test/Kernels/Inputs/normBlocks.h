// What a norm to four bits must give: BLOCK 32 by OCP MX, 16 by NVFP4. Bits are
// those of the norm in double, or of a neighbour of it that rounding in single
// precision may give. ORDERED: words of scales lie as tcgen05.cp reads them.
#ifndef TEST_KERNELS_INPUTS_NORMBLOCKS_H
#define TEST_KERNELS_INPUTS_NORMBLOCKS_H

#include "run.h"

constexpr int kBlocks = kColumns / BLOCK, kGroup = 256, kWords = kBlocks / 4;
#ifndef NEAR
#define NEAR 2e-6
#endif
constexpr double kNear = NEAR;
#ifndef TENSOR_SCALE
#define TENSOR_SCALE 1.0f
#endif

#if BLOCK == 32
using Word = modelc::e8m0x4;
#else
using Word = modelc::e4m3x4;
#endif

/// The bits of the scale of a block, and what its numbers are divided by.
static uint32_t scaleOf(double largest, double &scale) {
#if BLOCK == 32
  int power = largest == 0 ? -127 : std::max(std::ilogb(largest) - 2, -127);
  scale = std::ldexp(1, power);
  return uint32_t(power + 127);
#else
  double over = std::min(largest / 6 / TENSOR_SCALE, 448.0);
  uint32_t bits = emulator::encode(emulator::kE4M3, float(over));
  scale = emulator::decode(emulator::kE4M3, bits) * double(TENSOR_SCALE);
  return bits;
#endif
}

static int scaleByte(int row, int block) {
#ifdef ORDERED
  int of128 = (row / kGroup * kWords + block / 4) * 2 + row / 128 % 2;
  return of128 * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
#else
  int word = (row / kGroup * kWords + block / 4) * kGroup + row % kGroup;
  return word * 4 + block % 4;
#endif
}

/// A block whose scale is zero is zero, of the sign of its numbers.
static uint32_t numberOver(double value, double scale) {
  return emulator::encode(emulator::kE2M1,
                          float(scale == 0 ? value * 0 : value / scale),
                          emulator::Overflow::Saturate);
}

/// Whether the bits of a block are right, given its numbers before them.
static bool isRight(const double *values, uint32_t scaleBits,
                    const modelc::f4x2 *numbers) {
  double largest = 0, scale = 0;
  for (int i = 0; i < BLOCK; ++i) {
    largest = std::max(largest, std::fabs(values[i]));
  }
  bool right = false;
  for (double side : {1 - kNear, 1 + kNear}) {
    double candidate;
    if (scaleOf(largest * side, candidate) == scaleBits) {
      right = true, scale = candidate;
    }
  }
  for (int i = 0; i < BLOCK; ++i) {
    uint32_t bits = numbers[i / 2].bits >> (4 * (i % 2)) & 15;
    right &= bits == numberOver(values[i] * (1 - kNear), scale) ||
             bits == numberOver(values[i] * (1 + kNear), scale);
  }
  return right;
}

#endif // TEST_KERNELS_INPUTS_NORMBLOCKS_H
