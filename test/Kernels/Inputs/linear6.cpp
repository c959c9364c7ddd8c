// Products of numbers of six bits with a scale for each block of 32. With
// EIGHT, of rows of eight bits with a scale each, plus a residual.
#include "matrix6.h"
#include "products.h"

#ifndef COLUMNS
#define COLUMNS 104
#endif
constexpr int kColumns = COLUMNS, kRows = 333;
constexpr int kProducts = SWIGLU ? 2 : 1;

#ifdef EIGHT
/// Rows of eight bits, and in double.
struct Rows {
  Allocation<f8> numbers;
  Allocation<float> scales;
  std::vector<double> values;
  Rows() : numbers(kRows * kInputs), scales(kRows) {
    for (float &scale : scales) {
      float power = std::uniform_real_distribution<float>(-2, 2)(generator);
      scale = std::exp2(power) / float(kLimit);
    }
    for (int i = 0; i < kRows * kInputs; ++i) {
      numbers[i] = asF8(randomNormal() * kLimit / 8);
      values.push_back(asDouble(numbers[i]) * scales[i / kInputs]);
    }
  }
};
#endif

int main() {
  int tiles =
      (kRows + TILE_M - 1) / TILE_M * ((kColumns + TILE_N - 1) / TILE_N);
  Allocation<bf16> residual(kRows * kColumns), d(kRows * kColumns);
  Matrix w(kProducts * kColumns, kProducts);
#ifdef EIGHT
  Rows a;
  fillRandom(residual);
  launch("linear", tiles, modelc::linear, a.numbers.data(), w.heads(),
         w.tails(), w.scales.data(), a.scales.data(), residual.data(), d.data(),
         kRows);
#else
  Matrix a(kRows);
  for (bf16 &x : residual) {
    x = asBf16(0);
  }
  launch("linear", tiles, modelc::linear, a.heads(), a.tails(), w.heads(),
         w.tails(), a.scales.data(), w.scales.data(), d.data(), kRows);
#endif
  compareProducts(
      d, kRows, kColumns, kInputs,
      [&](int row, int k) { return a.values[size_t(row) * kInputs + k]; },
      [&](int row, int k) { return w.values[size_t(row) * kInputs + k]; },
      [&](int i) { return asDouble(residual[i]); });
  return wrongResults;
}
