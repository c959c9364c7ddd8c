// Norm to four bits with a scale for each block of BLOCK: 32 by OCP MX, 16 by
// NVFP4. Bits are those of the norm in double, or of a neighbour of it that
// rounding in single precision may give. ORDERED: words of scales lie as
// tcgen05.cp reads them.
#include "run.h"

constexpr int kColumns = 640, kRows = 300, kBlocks = kColumns / BLOCK;
constexpr int kGroup = 256, kWords = kBlocks / 4;
constexpr double kNear = 2e-6;
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

int main() {
  Allocation<bf16> x(kRows * kColumns), residual(kRows * kColumns);
  Allocation<bf16> sum(kRows * kColumns), weight(kColumns);
  fillRandom(x), fillRandom(residual), fillRandom(weight);
  for (int i = 0; i < kColumns; ++i) {
    double power = i / BLOCK % 7 - 3;
    weight[i] =
        asBf16(i / BLOCK == 5 ? 0 : asDouble(weight[i]) * std::exp2(power));
  }
  Allocation<modelc::f4x2> out(kRows * kColumns / 2);
  Allocation<Word> scales((kRows + kGroup - 1) / kGroup * kWords * kGroup);
  Allocation<float> tensorScale(1);
  tensorScale[0] = TENSOR_SCALE;
  using Pairs = modelc::bf16x2;
#ifdef RESIDUAL
  launch("norm", kRows, modelc::norm, (const Pairs *)x.data(),
         (const Pairs *)weight.data(), (const Pairs *)residual.data(),
         tensorScale.data(), out.data(), scales.data(), (Pairs *)sum.data(),
         kRows);
#else
  launch("norm", kRows, modelc::norm, (const Pairs *)x.data(),
         (const Pairs *)weight.data(), out.data(), scales.data(), kRows);
#endif
  const uint8_t *bytes = (const uint8_t *)scales.data();
  int wrong = 0, wrongSums = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> values;
    double squares = 0;
    for (int i = row * kColumns; i < (row + 1) * kColumns; ++i) {
      values.push_back(asDouble(x[i]));
#ifdef RESIDUAL
      values.back() = asDouble(asBf16(values.back() + asDouble(residual[i])));
      wrongSums += asDouble(sum[i]) != values.back();
#endif
      squares += values.back() * values.back();
    }
    for (int i = 0; i < kColumns; ++i) {
      values[i] *= asDouble(weight[i]) / std::sqrt(squares / kColumns + 1e-5);
    }
    for (int block = 0; block < kBlocks; ++block) {
      wrong += !isRight(&values[block * BLOCK], bytes[scaleByte(row, block)],
                        &out[(row * kColumns + block * BLOCK) / 2]);
    }
  }
  std::printf("sums: %d wrong\n", wrongSums);
  std::printf("blocks: %d of %d wrong\n", wrong, kRows * kBlocks);
  return wrong + wrongSums != 0;
}
