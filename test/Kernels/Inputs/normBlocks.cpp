// Norm to four bits with a scale for each block.
#include "run.h"

constexpr int kColumns = 640, kRows = 300;

#include "normBlocks.h"

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
