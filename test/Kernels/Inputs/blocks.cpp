// Rows to four bits with a scale for each block of 32, exactly as OCP MX says:
// scale = 2^(floor(log2(largest)) - 2), numbers to nearest even, at most 6.
#include "run.h"

using modelc::e8m0x4;
using modelc::f4x2;

constexpr int kColumns = 640, kRows = 300, kBlocks = kColumns / 32;
constexpr int kGroup = 256, kWords = kColumns / 128;

/// Numbers whose blocks differ by many powers of two; a block of zeros, one of
/// the smallest numbers, and one that ends at a tie and beyond the largest.
static void fill(Allocation<bf16> &x) {
  std::uniform_int_distribution<int> power(-20, 20);
  for (int block = 0; block < kRows * kBlocks; ++block) {
    int exponent = power(generator);
    for (int i = 0; i < 32; ++i) {
      double value = std::ldexp(randomNormal(), exponent);
      value = block == 1 ? 0 : block == 2 ? std::ldexp(i, -130) : value;
      value = block == 3 ? i / 4.0 : value;
      x[block * 32 + i] = asBf16(float(value));
    }
  }
}

static const modelc::bf16x2 *pairs(Allocation<bf16> &x) {
  return (const modelc::bf16x2 *)x.data();
}

int main() {
  Allocation<bf16> x(kRows * kColumns);
  fill(x);
  Allocation<f4x2> out(kRows * kColumns / 2);
  Allocation<e8m0x4> scales((kRows + kGroup - 1) / kGroup * kWords * kGroup);
  constexpr int kPieces = (kWords * 128 + TILE_N - 1) / TILE_N;
#if SWIGLU
  Allocation<bf16> up(kRows * kColumns);
  fillRandom(up);
  launch("quantise", kRows * kPieces, modelc::quantise, pairs(x), pairs(up),
         out.data(), scales.data(), kRows);
#else
  launch("quantise", kRows * kPieces, modelc::quantise, pairs(x), out.data(),
         scales.data(), kRows);
#endif
  int wrong = 0;
  for (int block = 0; block < kRows * kBlocks; ++block) {
    int row = block / kBlocks, inRow = block % kBlocks;
    double values[32], largest = 0;
    for (int i = 0; i < 32; ++i) {
      values[i] = asDouble(x[block * 32 + i]);
#if SWIGLU
      values[i] *= asDouble(up[block * 32 + i]) / (1 + std::exp(-values[i]));
#endif
      largest = std::max(largest, std::fabs(values[i]));
    }
    int exponent =
        largest == 0 ? -127 : std::max(std::ilogb(largest) - 2, -127);
    int at = (row / kGroup * kWords + inRow / 4) * kGroup + row % kGroup;
    int scale = int(scales[at].bits >> (8 * (inRow % 4)) & 0xFF) - 127;
    // Rounded in another precision, a product may lie beyond a power of two.
    bool right = SWIGLU ? std::abs(scale - exponent) <= 1 : scale == exponent;
    for (int i = 0; i < 32; ++i) {
      uint32_t both = out[(block * 32 + i) / 2].bits;
      uint32_t bits = i % 2 ? both >> 4 : both & 15;
      float over = float(std::ldexp(values[i], -scale));
      double off = std::fabs(emulator::decode(emulator::kE2M1, bits) - over);
      right &= SWIGLU ? off <= (std::fabs(over) > 6 ? 2.01 : 1.01)
                      : bits == emulator::encode(emulator::kE2M1, over);
    }
    wrong += !right;
  }
  std::printf("blocks: %d of %d wrong\n", wrong, kRows * kBlocks);
  return wrong != 0;
}
