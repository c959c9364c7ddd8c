// SwiGLU of a product of 8 bits, with scales that differ from row to row and
// from column to column by up to a factor of 16.
#include "run.h"

constexpr int kColumns = 104, kInputs = INPUTS, kRows = 77;

static void fillScales(Allocation<float> &scales) {
  for (float &scale : scales) {
    float power = std::uniform_real_distribution<float>(-2, 2)(generator);
    scale = std::exp2(power) / float(kLimit);
  }
}

int main() {
  Allocation<f8> a(kRows * kInputs), w(2 * kColumns * kInputs);
  Allocation<float> aScale(kRows), wScale(2 * kColumns);
  Allocation<bf16> residual(kRows * kColumns), d(kRows * kColumns);
  for (Allocation<f8> *buffer : {&a, &w}) {
    for (f8 &x : *buffer) {
      x = asF8(randomNormal() * kLimit / 8);
    }
  }
  fillScales(aScale), fillScales(wScale), fillRandom(residual);
  int tiles =
      (kRows + TILE_M - 1) / TILE_M * ((kColumns + TILE_N - 1) / TILE_N);
  launch("linear", tiles, modelc::linear, a.data(), w.data(), aScale.data(),
         wScale.data(), residual.data(), d.data(), kRows);
  std::vector<double> results, reference;
  auto product = [&](int r, int row) {
    double sum = 0;
    for (int k = 0; k < kInputs; ++k) {
      sum += asDouble(a[r * kInputs + k]) * asDouble(w[row * kInputs + k]);
    }
    return sum * aScale[r] * wScale[row];
  };
  for (int i = 0; i < kRows * kColumns; ++i) {
    int r = i / kColumns, column = i % kColumns;
    double gate = product(r, column), up = product(r, column + kColumns);
    double exact = gate / (1 + std::exp(-gate)) * up + asDouble(residual[i]);
    // Relative to itself: columns of small scales count as much as others.
    double unit = std::max(1.0, std::fabs(exact));
    results.push_back(1 + (asDouble(d[i]) - exact) / unit);
    reference.push_back(1);
  }
  compare("linear", results, reference, 1.0 / 200);
  return wrongResults;
}
