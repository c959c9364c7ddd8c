// The first of two devices adds and norms rows; what the other one sends lies
// there before, under flags that it has raised. IN_TWO: in two steps.
#include "run.h"

constexpr int kRows = 3, kColumns = 512, kHalf = 1; // of the first call
#ifdef IN_TWO
constexpr int kWidth = kColumns / 2;
#else
constexpr int kWidth = kColumns;
#endif

/// A buffer that both devices have, and its addresses.
template <typename T>
struct Shared {
  Allocation<T> own, other;
  Allocation<T *> table{2};
  explicit Shared(size_t count) : own(count), other(count) {
    std::memset((void *)own.data(), 0, count * sizeof(T));
    std::memset((void *)other.data(), 0, count * sizeof(T));
    table[0] = own.data();
    table[1] = other.data();
  }
  T *const *peers() { return table.data(); }
};

int main() {
  Allocation<bf16> x(kRows * kColumns), theirs(kRows * kColumns);
  Allocation<bf16> residual(kRows * kColumns), weight(kColumns);
  Allocation<bf16> out(kRows * kColumns), sum(kRows * kColumns);
  fillRandom(x), fillRandom(theirs), fillRandom(residual), fillRandom(weight);
  Shared<bf16> staging(2 * 2 * kRows * kWidth), sums(2 * kRows * kColumns);
  Shared<int> flags(kRows * 2), ready(kRows * 2);
  Allocation<int> epochs(kRows);
  std::vector<double> exact, reference, results, resultSums;
  for (int row = 0; row < kRows; ++row) {
    epochs[row] = 0;
    flags.own[row * 2 + 1] = ready.own[row * 2 + 1] = 1;
    double squares = 0;
    for (int column = 0; column < kColumns; ++column) {
      int i = row * kColumns + column;
      float total = float(asDouble(residual[i])) + float(asDouble(x[i]));
      exact.push_back(asDouble(asBf16(total + float(asDouble(theirs[i])))));
      squares += exact[i] * exact[i];
      if (column < kWidth) { // of two steps: what this device adds
        staging.own[((kHalf * 2 + 1) * kRows + row) * kWidth + column] =
            theirs[i];
      } else {
        sums.own[(kHalf * kRows + row) * kColumns + column] = asBf16(exact[i]);
      }
    }
    for (int column = 0; column < kColumns; ++column) {
      reference.push_back(exact[row * kColumns + column] *
                          asDouble(weight[column]) /
                          std::sqrt(squares / kColumns + 1e-5));
    }
  }
  launch("norm", kRows, modelc::norm, x.data(), weight.data(), residual.data(),
         staging.own.data(), staging.peers(),
#ifdef IN_TWO
         sums.own.data(), sums.peers(),
#endif
         flags.own.data(), flags.peers(),
#ifdef IN_TWO
         ready.own.data(), ready.peers(),
#endif
         epochs.data(), out.data(), sum.data(), 0, kRows);
  for (int i = 0; i < kRows * kColumns; ++i) {
    results.push_back(asDouble(out[i]));
    resultSums.push_back(asDouble(sum[i]));
  }
  compare("sum", resultSums, exact, 0);
  compare("norm", results, reference, 1.0 / 200);
  return wrongResults;
}
