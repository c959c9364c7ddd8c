// Kernels that own rows: sums, gathers, numbers of 8 bits, quantisation with a
// scale for each row.
#include "run.h"

#ifndef ROWS_OF_TILE
#define ROWS_OF_TILE 1
#endif

constexpr int kColumns = 200, kRows = 5;

/// Of rows 1 and 2, one over the scale would be infinite.
template <typename Numbers>
double scaleOf(const Numbers &x, int row) {
  double largest = 0;
  for (int c = 0; c < kColumns; ++c) {
    largest = std::max(largest, std::fabs(asDouble(x[row * kColumns + c])));
  }
  return row == 1 || row == 2 ? 1 : largest / 448;
}

int main() {
  Allocation<bf16> x(kRows * kColumns), y(kRows * kColumns);
  fillRandom(x), fillRandom(y);
  std::vector<double> results, reference;
#if defined(ADD)
  Allocation<bf16> out(kRows * kColumns);
  launch("elementwise", (kRows + 1) / 2 * 2, modelc::elementwise, x.data(),
         y.data(), out.data(), kRows);
  for (int i = 0; i < kRows * kColumns; ++i) {
    results.push_back(asDouble(out[i]));
    reference.push_back(asDouble(x[i]) + asDouble(y[i]));
  }
#elif defined(NARROW)
  Allocation<modelc::f8> out(kRows * kColumns);
  Allocation<float> scale(1);
  scale[0] = 0.0037f; // some saturate
  launch("elementwise", (kRows + 1) / 2 * 2, modelc::elementwise, x.data(),
         scale.data(), out.data(), kRows);
  for (int i = 0; i < kRows * kColumns; ++i) {
    results.push_back(1 + lastBits(out[i], asDouble(x[i]) / scale[0]));
    reference.push_back(1);
  }
#elif defined(LAST)
  Allocation<bf16> out(2 * kColumns);
  Allocation<int> starts(3);
  starts[0] = 0, starts[1] = 3, starts[2] = kRows;
  launch("gather", 2, modelc::gather, starts.data(), x.data(), out.data(), 2);
  for (int i = 0; i < 2 * kColumns; ++i) {
    results.push_back(asDouble(out[i]));
    int row = starts[i / kColumns + 1] - 1;
    reference.push_back(asDouble(x[row * kColumns + i % kColumns]));
  }
#else
  // What one row is quantised to must be within half a step of it.
  Allocation<modelc::f8> out(kRows * kColumns);
  Allocation<float> scale(kRows);
  for (int i = 0; i < kColumns; ++i) {
    x[kColumns + i] = asBf16(0);
    // So small that one over the scale would be infinite.
    x[2 * kColumns + i] = asBf16(std::exp2(-122) * asDouble(y[i]));
  }
#if defined(KNOWN_SCALES)
  for (int r = 0; r < kRows; ++r) {
    scale[r] = float(scaleOf(x, r));
  }
#endif
  launch("quantise", (kRows + ROWS_OF_TILE - 1) / ROWS_OF_TILE,
         modelc::quantise, x.data(), out.data(), scale.data(), kRows);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      results.push_back(modelc::toFloat(out[r * kColumns + c]) * scale[r]);
      reference.push_back(asDouble(x[r * kColumns + c]));
    }
    results.push_back(scale[r]);
    reference.push_back(scaleOf(x, r));
  }
#endif
  compare("rows", results, reference, TOLERANCE);
  return wrongResults;
}
