// Rows of eight bits, each with a scale, by numbers of four bits with a scale
// for each block of 32.
#include "matrix4.h"
#include "products.h"

#ifndef COLUMNS
#define COLUMNS 104
#endif
constexpr int kColumns = COLUMNS, kRows = 77;
constexpr int kProducts = SWIGLU ? 2 : 1;

int main() {
  Allocation<f8> a(kRows * kInputs);
  Allocation<float> aScale(kRows);
  Matrix w(kProducts * kColumns, kProducts);
  Allocation<bf16> residual(kRows * kColumns), d(kRows * kColumns);
  for (f8 &x : a) {
    x = asF8(randomNormal() * kLimit / 8);
  }
  for (float &scale : aScale) {
    float power = std::uniform_real_distribution<float>(-2, 2)(generator);
    scale = std::exp2(power) / float(kLimit);
  }
  fillRandom(residual);
  int tiles =
      (kRows + TILE_M - 1) / TILE_M * ((kColumns + TILE_N - 1) / TILE_N);
  launch("linear", tiles, modelc::linear, a.data(), w.numbers.data(),
         w.scales.data(), aScale.data(), residual.data(), d.data(), kRows);
  compareProducts(
      d, kRows, kColumns, kInputs,
      [&](int row, int k) {
        return asDouble(a[row * kInputs + k]) * aScale[row];
      },
      [&](int row, int k) { return w.values[size_t(row) * kInputs + k]; },
      [&](int i) { return asDouble(residual[i]); });
  return wrongResults;
}
