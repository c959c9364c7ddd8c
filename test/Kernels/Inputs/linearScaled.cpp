// Products of numbers of four bits with a scale for each BLOCK of them, whose
// words a matrix unit reads in an order of its own. Neighbouring scales differ
// by up to a factor of 64. SWIGLU: of gate and of up, whose scales begin a
// group each. TENSOR: with a scale of all rows, and one of each column. WRONG:
// words in the order of rows. CLUSTER_SIZE workgroups load parts of w.
#define SHARED_KIB 227
#include "matrixScaled.h"

#ifndef SWIGLU
#define SWIGLU 0
#endif

int main() {
  Matrix a(kRows), w((SWIGLU + 1) * kColumns, SWIGLU + 1);
  Allocation<bf16> d(kRows * kColumns);
  Allocation<float> aTensorScale(1), wTensorScale(w.rows);
  aTensorScale[0] = 1;
  std::fill(wTensorScale.begin(), wTensorScale.end(), 1.0f);
#ifdef TENSOR
  aTensorScale[0] = 0.37f;
  for (float &scale : wTensorScale) {
    scale = std::uniform_real_distribution<float>(0.1f, 2)(generator);
  }
#endif
  int clusters = (kRows + CLUSTER_SIZE * TILE_M - 1) / (CLUSTER_SIZE * TILE_M);
  int tiles = clusters * CLUSTER_SIZE * ((kColumns + TILE_N - 1) / TILE_N);
  launch("linear", tiles, modelc::linear,
#ifdef TENSOR
         aTensorScale.data(), wTensorScale.data(),
#endif
         d.data(), kRows, a.numbersMap(TILE_M),
         w.numbersMap(TILE_N / CLUSTER_SIZE), a.scalesMap(TILE_M),
         w.scalesMap(TILE_N));
  std::vector<double> results, reference;
  for (int i = 0; i < kRows * kColumns; ++i) {
    int row = i / kColumns, column = i % kColumns;
    auto sumOf = [&](int column) {
      return Sum(a, row, w, column,
                 double(aTensorScale[0]) * wTensorScale[column]);
    };
    Sum sum = sumOf(column);
    if (SWIGLU) {
      Sum up = sumOf(column + kColumns);
      sum.exact *= up.exact / (1 + std::exp(-sum.exact));
      sum.magnitude *= up.magnitude;
    }
    results.push_back(1 + (asDouble(d[i]) - sum.exact) / sum.magnitude);
    reference.push_back(1);
  }
  compare("linear", results, reference, 1.0 / 250);
  return wrongResults;
}
