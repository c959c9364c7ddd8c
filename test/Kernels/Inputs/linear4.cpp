// Products of numbers of four bits with a scale for each block of 32.
#include "matrix4.h"
#include "products.h"

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
  compareProducts(
      d, kRows, kColumns, kInputs,
      [&](int row, int k) { return a.values[size_t(row) * kInputs + k]; },
      [&](int row, int k) { return w.values[size_t(row) * kInputs + k]; },
      [](int) { return 0.0; });
  return wrongResults;
}
