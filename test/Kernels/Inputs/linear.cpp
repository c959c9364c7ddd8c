// A linear with bias and residual, of one weight or of gate and up; or with its
// sum in parts, which are added here.
#include "run.h"

#ifndef COLUMNS
#define COLUMNS 104
#define ROWS 37
#endif

constexpr int kColumns = COLUMNS, kInputs = INPUTS, kRows = ROWS;
constexpr int kWeightRows = SWIGLU ? 2 * kColumns : kColumns;

int main() {
  Allocation<bf16> a(kRows * kInputs), w(kWeightRows * kInputs);
  Allocation<bf16> bias(kWeightRows), residual(kRows * kColumns);
  fillRandom(a), fillRandom(w), fillRandom(bias), fillRandom(residual);
  int tiles =
      (kRows + TILE_M - 1) / TILE_M * ((kColumns + TILE_N - 1) / TILE_N);
  std::vector<double> results, reference;
  auto product = [&](int r, int row) {
    double sum = 0;
    for (int k = 0; k < kInputs; ++k) {
      sum += asDouble(a[r * kInputs + k]) * asDouble(w[row * kInputs + k]);
    }
    return sum;
  };
#if SPLITS > 1
  Allocation<float> partial(kRows * SPLITS * kWeightRows);
  launch("linear", tiles * SPLITS, modelc::linear, a.data(), w.data(),
         partial.data(), kRows);
  for (int i = 0; i < kRows * kWeightRows; ++i) {
    double sum = 0;
    int r = i / kWeightRows, column = i % kWeightRows;
    for (int part = 0; part < SPLITS; ++part) {
      sum += partial[(r * SPLITS + part) * kWeightRows + column];
    }
    results.push_back(sum);
    reference.push_back(product(r, column));
  }
#else
  Allocation<bf16> d(kRows * kColumns);
  launch("linear", tiles, modelc::linear, a.data(), w.data(), bias.data(),
         residual.data(), d.data(), kRows);
  for (int i = 0; i < kRows * kColumns; ++i) {
    int r = i / kColumns, row = i % kColumns;
    double value = product(r, row) + asDouble(bias[row]);
    if (SWIGLU) {
      double up = product(r, row + kColumns) + asDouble(bias[row + kColumns]);
      value = value / (1 + std::exp(-value)) * up;
    }
    reference.push_back(value + asDouble(residual[i]));
    results.push_back(asDouble(d[i]));
  }
#endif
  compare("linear", results, reference, 1.0 / 128);
  return wrongResults;
}
