// Products of numbers of four bits with a scale for each block of 32.
#include "matrix4.h"

#ifndef COLUMNS
#define COLUMNS 104
#endif
constexpr int kColumns = COLUMNS, kRows = 333;
constexpr int kProducts = SWIGLU ? 2 : 1;

int main() {
  Matrix a(kRows), w(kProducts * kColumns, kProducts);
  Allocation<bf16> d(kRows * kColumns);
  int tiles =
      (kRows + TILE_M - 1) / TILE_M * ((kColumns + TILE_N - 1) / TILE_N);
  launch("linear", tiles, modelc::linear, a.numbers.data(), w.numbers.data(),
         a.scales.data(), w.scales.data(), d.data(), kRows);
  std::vector<double> results, reference;
  auto product = [&](int r, int row) {
    double sum = 0;
    for (int k = 0; k < kInputs; ++k) {
      sum += a.values[size_t(r) * kInputs + k] *
             w.values[size_t(row) * kInputs + k];
    }
    return sum;
  };
  for (int i = 0; i < kRows * kColumns; ++i) {
    int r = i / kColumns, column = i % kColumns;
    double exact = product(r, column);
    if (SWIGLU) {
      exact = exact / (1 + std::exp(-exact)) * product(r, column + kColumns);
    }
    double unit = std::max(1.0, std::fabs(exact));
    results.push_back(1 + (asDouble(d[i]) - exact) / unit);
    reference.push_back(1);
  }
  compare("linear", results, reference, 1.0 / 200);
  return wrongResults;
}
