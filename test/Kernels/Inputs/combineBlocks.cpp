// Parts of decode attention become results of four bits with scales of blocks
// of BLOCK; some parts are empty. Heads differ by powers of two.
#include "run.h"

constexpr int kHeads = 6, kDim = 128, kRows = 3, kSplits = SPLITS;
constexpr int kColumns = kHeads * kDim;

#include "normBlocks.h"

int main() {
  Allocation<float> part(kRows * kSplits * kColumns);
  Allocation<float> stat(kRows * kSplits * kHeads * 2), tensorScale(1);
  tensorScale[0] = TENSOR_SCALE;
  for (int row = 0; row < kRows * kSplits * kHeads; ++row) {
    bool isEmpty = row / kHeads % kSplits % 4 == 2;
    const float means[] = {0, -185, 185}; // of heads, in turns: 128 / ln 2
    stat[row * 2] =
        isEmpty ? -INFINITY : means[row % kHeads % 3] + 3 * randomNormal();
    stat[row * 2 + 1] = isEmpty ? 0 : 1 + std::fabs(randomNormal());
    for (int i = 0; i < kDim; ++i) {
      double power = std::exp2((row % kHeads + i / BLOCK) % 7 - 3);
      part[row * kDim + i] = isEmpty ? 0 : float(randomNormal() * power);
    }
  }
  Allocation<modelc::f4x2> out(kRows * kColumns / 2);
  Allocation<Word> scales(kWords * kGroup);
#if BLOCK == 16
  launch("attention_combine", kRows * kHeads, modelc::attention_combine,
         (const modelc::f32x2 *)part.data(), stat.data(), tensorScale.data(),
         out.data(), scales.data(), kRows, kSplits);
#else
  launch("attention_combine", kRows * kHeads, modelc::attention_combine,
         (const modelc::f32x2 *)part.data(), stat.data(), out.data(),
         scales.data(), kRows, kSplits);
#endif
  const uint8_t *bytes = (const uint8_t *)scales.data();
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> joined(kColumns), sums(kHeads);
    for (int i = 0; i < kSplits * kColumns; ++i) {
      int column = i % kColumns, head = column / kDim;
      size_t own = (row * kSplits + i / kColumns) * kHeads + head;
      double factor = std::exp2(double(stat[own * 2]));
      sums[head] += factor * stat[own * 2 + 1] / kDim;
      joined[column] += factor * part[own * kDim + i % kDim];
    }
    for (int i = 0; i < kColumns; ++i) {
      joined[i] /= sums[i / kDim];
    }
    for (int block = 0; block < kBlocks; ++block) {
      wrong += !isRight(&joined[block * BLOCK], bytes[scaleByte(row, block)],
                        &out[(row * kColumns + block * BLOCK) / 2]);
    }
  }
  std::printf("blocks: %d of %d wrong\n", wrong, kRows * kBlocks);
  return wrong != 0;
}
