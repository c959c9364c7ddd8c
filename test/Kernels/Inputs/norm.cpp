// Norm of a sum, rows that no power of two divides.
#include "run.h"

constexpr int kColumns = 200, kRows = 5;

int main() {
  Allocation<bf16> x(kRows * kColumns), weight(kColumns);
  Allocation<bf16> residual(kRows * kColumns), out(kRows * kColumns);
  Allocation<bf16> sum(kRows * kColumns);
  fillRandom(x), fillRandom(weight), fillRandom(residual);
  launch("norm", kRows, modelc::norm, x.data(), weight.data(), residual.data(),
         out.data(), sum.data(), kRows);
  std::vector<double> results, reference, sums, exact;
  for (int r = 0; r < kRows; ++r) {
    double squares = 0;
    for (int c = 0; c < kColumns; ++c) {
      int i = r * kColumns + c;
      exact.push_back(asDouble(asBf16(asDouble(x[i]) + asDouble(residual[i]))));
      sums.push_back(asDouble(sum[i]));
      squares += exact.back() * exact.back();
    }
    double factor = 1 / std::sqrt(squares / kColumns + 1e-5);
    for (int c = 0; c < kColumns; ++c) {
      int i = r * kColumns + c;
      reference.push_back(exact[i] * factor * asDouble(weight[c]));
      results.push_back(asDouble(out[i]));
    }
  }
  compare("sum", sums, exact, 0);
  compare("norm", results, reference, 1.0 / 200);
  return wrongResults;
}
