// Parts of sums are added, multiplied by the scale of the input's tensor and
// that of each column, joined by SwiGLU and quantised: numbers of four bits
// with scales of blocks of BLOCK. MXFP4 has no scales of tensors.
#include "run.h"

constexpr int kColumns = 640, kRows = 300, kSplits = SPLITS;

#include "normBlocks.h"

using Pairs = modelc::f32x2;

/// Parts whose blocks differ by many powers of two; one block is zeros.
static void fillParts(Allocation<float> &partial) {
  for (int i = 0; i < kRows * kSplits * 2 * kColumns; ++i) {
    int block = i % kColumns / BLOCK, row = i / (kSplits * 2 * kColumns);
    double power = (block + row) % 7 - 3;
    partial[i] = block == 5 ? 0 : float(randomNormal() * std::exp2(power));
  }
}

int main() {
  Allocation<float> partial(kRows * kSplits * 2 * kColumns);
  fillParts(partial);
  Allocation<float> a(1), w(2 * kColumns), tensorScale(1);
  a[0] = 0.37f, tensorScale[0] = TENSOR_SCALE;
  for (float &scale : w) {
    scale = std::uniform_real_distribution<float>(0.1f, 2)(generator);
  }
  Allocation<modelc::f4x2> out(kRows * kColumns / 2);
  Allocation<Word> scales((kRows + kGroup - 1) / kGroup * kWords * kGroup);
  constexpr int kGrid = kRows * ((kColumns + TILE_N - 1) / TILE_N);
#if BLOCK == 16
  launch("linear_reduce", kGrid, modelc::linear_reduce,
         (const Pairs *)partial.data(), a.data(), (const Pairs *)w.data(),
         tensorScale.data(), out.data(), scales.data(), kRows);
#else
  launch("linear_reduce", kGrid, modelc::linear_reduce,
         (const Pairs *)partial.data(), out.data(), scales.data(), kRows);
#endif
  const uint8_t *bytes = (const uint8_t *)scales.data();
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    auto sumOf = [&](int column) {
      double sum = 0;
      for (int part = 0; part < kSplits; ++part) {
        sum += partial[(row * kSplits + part) * 2 * kColumns + column];
      }
      return BLOCK == 16 ? sum * a[0] * w[column] : sum;
    };
    std::vector<double> values;
    for (int i = 0; i < kColumns; ++i) {
      double gate = sumOf(i), up = sumOf(i + kColumns);
      values.push_back(gate / (1 + std::exp(-gate)) * up);
    }
    for (int block = 0; block < kBlocks; ++block) {
      wrong += !isRight(&values[block * BLOCK], bytes[scaleByte(row, block)],
                        &out[(row * kColumns + block * BLOCK) / 2]);
    }
  }
  std::printf("blocks: %d of %d wrong\n", wrong, kRows * kBlocks);
  return wrong != 0;
}
