// Parts of sums are added, then multiplied by the scale of the input's tensor
// and that of each column, of gate and of up, which SwiGLU joins.
#include "run.h"

constexpr int kColumns = 104, kRows = 37, kSplits = 3;

int main() {
  Allocation<float> partial(kRows * kSplits * 2 * kColumns), a(1),
      w(2 * kColumns);
  for (float &sum : partial) {
    sum = float(randomNormal());
  }
  a[0] = 0.37f;
  for (float &scale : w) {
    scale = std::uniform_real_distribution<float>(0.1f, 2)(generator);
  }
  Allocation<bf16> d(kRows * kColumns);
  launch("linear_reduce", kRows, modelc::linear_reduce, partial.data(),
         a.data(), w.data(), d.data(), kRows);
  std::vector<double> results, reference;
  for (int i = 0; i < kRows * kColumns; ++i) {
    auto sumOf = [&](int column) {
      double sum = 0;
      for (int part = 0; part < kSplits; ++part) {
        sum += partial[(i / kColumns * kSplits + part) * 2 * kColumns + column];
      }
      return sum * a[0] * w[column];
    };
    double gate = sumOf(i % kColumns), up = sumOf(i % kColumns + kColumns);
    results.push_back(asDouble(d[i]));
    reference.push_back(gate / (1 + std::exp(-gate)) * up);
  }
  compare("linear_reduce", results, reference, 1.0 / 200);
  return wrongResults;
}
