// Parts of decode attention, one of them empty, become results.
#include "run.h"

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
constexpr int kHeads = 6, kDim = HEAD_DIM, kSequences = 2, kSplits = SPLITS;

int main() {
  Allocation<float> part(kSequences * kSplits * kHeads * kDim);
  Allocation<float> stat(kSequences * kSplits * kHeads * 2);
  Allocation<bf16> out(kSequences * kHeads * kDim);
  for (float &x : part) {
    x = randomNormal();
  }
  for (int row = 0; row < kSequences * kSplits * kHeads; ++row) {
    bool isEmpty = row / kHeads % kSplits % 4 == 2;
    const float means[] = {0, -185, 185}; // of heads, in turns: 128 / ln 2
    stat[row * 2] =
        isEmpty ? -INFINITY : means[row % kHeads % 3] + 3 * randomNormal();
    stat[row * 2 + 1] = isEmpty ? 0 : 1 + std::fabs(randomNormal());
    for (int i = 0; isEmpty && i < kDim; ++i) {
      part[row * kDim + i] = 0;
    }
  }
  launch("attention_combine", kSequences * kHeads, modelc::attention_combine,
         part.data(), stat.data(), out.data(), kSequences, kSplits);
  std::vector<double> results, reference;
  for (int s = 0; s < kSequences; ++s) {
    for (int h = 0; h < kHeads; ++h) {
      double sum = 0;
      std::vector<double> joined(kDim);
      for (int p = 0; p < kSplits; ++p) {
        size_t row = (s * kSplits + p) * kHeads + h;
        double factor = std::exp2(double(stat[row * 2]));
        sum += factor * stat[row * 2 + 1];
        for (int i = 0; i < kDim; ++i) {
          joined[i] += factor * part[row * kDim + i];
        }
      }
      for (int i = 0; i < kDim; ++i) {
        reference.push_back(joined[i] / sum);
        results.push_back(asDouble(out[(s * kHeads + h) * kDim + i]));
      }
    }
  }
  compare("combine", results, reference, 1.0 / 200);
  return wrongResults;
}
