// Rows of eight bits, each with a scale, by numbers of four bits with a scale
// for each block of 32.
#include "matrix4.h"

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
  std::vector<double> results, reference;
  auto product = [&](int r, int row) {
    double sum = 0;
    for (int k = 0; k < kInputs; ++k) {
      sum += asDouble(a[r * kInputs + k]) * w.values[size_t(row) * kInputs + k];
    }
    return sum * aScale[r];
  };
  for (int i = 0; i < kRows * kColumns; ++i) {
    int r = i / kColumns, column = i % kColumns;
    double exact = product(r, column);
    if (SWIGLU) {
      exact = exact / (1 + std::exp(-exact)) * product(r, column + kColumns);
    }
    exact += asDouble(residual[i]);
    double unit = std::max(1.0, std::fabs(exact));
    results.push_back(1 + (asDouble(d[i]) - exact) / unit);
    reference.push_back(1);
  }
  compare("linear", results, reference, 1.0 / 200);
  return wrongResults;
}
