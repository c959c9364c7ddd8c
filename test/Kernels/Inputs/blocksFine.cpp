// Rows to four bits with a scale of E4M3 for each block of 16: the largest
// magnitude over 6 and over TENSOR_SCALE, rounded; numbers over the rounded
// scale times TENSOR_SCALE, to nearest even. Words of scales lie as tcgen05.cp
// reads them.
#include "run.h"

using modelc::e4m3x4;
using modelc::f4x2;

constexpr int kColumns = 640, kRows = 300, kBlocks = kColumns / 16;
constexpr int kGroup = 256, kWords = kColumns / 64;

/// Numbers whose blocks differ by many powers of two; a block of zeros, one too
/// small for a scale, one too large, and one that ends at ties.
static void fill(Allocation<bf16> &x) {
  std::uniform_int_distribution<int> power(-8, 8);
  for (int block = 0; block < kRows * kBlocks; ++block) {
    int exponent = power(generator);
    for (int i = 0; i < 16; ++i) {
      double value = std::ldexp(randomNormal(), exponent);
      value = block == 1 ? 0 : block == 2 ? std::ldexp(i, -20) : value;
      value = block == 3 ? i * 1000.0 : block == 4 ? i * 0.4 : value;
      x[block * 16 + i] = asBf16(float(value));
    }
  }
}

/// Byte of a scale: PTX ISA, scale factors of tcgen05.mma, a block of 128 rows.
static int scaleByte(int row, int block) {
  int of128 = (row / kGroup * kWords + block / 4) * 2 + row / 128 % 2;
  return of128 * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

int main() {
  Allocation<bf16> x(kRows * kColumns);
  fill(x);
  Allocation<f4x2> out(kRows * kColumns / 2);
  Allocation<e4m3x4> scales((kRows + kGroup - 1) / kGroup * kWords * kGroup);
  constexpr int kPieces = (kColumns + TILE_N - 1) / TILE_N;
#ifdef TENSOR_SCALE
  constexpr float kTensorScale = TENSOR_SCALE;
  Allocation<float> tensorScale(1);
  tensorScale[0] = kTensorScale;
  launch("quantise", kRows * kPieces, modelc::quantise,
         (const modelc::bf16x2 *)x.data(), tensorScale.data(), out.data(),
         scales.data(), kRows);
#else
  constexpr float kTensorScale = 1;
  launch("quantise", kRows * kPieces, modelc::quantise,
         (const modelc::bf16x2 *)x.data(), out.data(), scales.data(), kRows);
#endif
  const uint8_t *bytes = (const uint8_t *)scales.data();
  int wrong = 0;
  for (int block = 0; block < kRows * kBlocks; ++block) {
    float largest = 0;
    for (int i = 0; i < 16; ++i) {
      largest =
          std::max(largest, float(std::fabs(asDouble(x[block * 16 + i]))));
    }
    float over = largest * (1 / 6.0f) / kTensorScale;
    uint32_t bits = emulator::encode(emulator::kE4M3, std::min(over, 448.0f));
    float scale = emulator::decode(emulator::kE4M3, bits);
    float inverse = scale > 0 ? 1.0f / (scale * kTensorScale) : 0.0f;
    bool right = bytes[scaleByte(block / kBlocks, block % kBlocks)] == bits;
    for (int i = 0; i < 16; ++i) {
      uint32_t both = out[(block * 16 + i) / 2].bits;
      float over = float(asDouble(x[block * 16 + i])) * inverse;
      right &=
          (i % 2 ? both >> 4 : both & 15) ==
          emulator::encode(emulator::kE2M1, over, emulator::Overflow::Saturate);
    }
    wrong += !right;
  }
  std::printf("blocks: %d of %d wrong\n", wrong, kRows * kBlocks);
  return wrong != 0;
}
