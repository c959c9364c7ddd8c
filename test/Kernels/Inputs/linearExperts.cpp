// Rows in tiles of one expert each: expert 1 of 4 has none, expert 2 has three,
// and what is beyond the last that is used repeats it. With biases, of one
// matrix or of gate and up; or with the sum in parts.
#include "run.h"

#ifndef COLUMNS
#define COLUMNS 104
#endif
#ifndef GATING
#define GATING 0
#endif

constexpr int kExperts[] = {0, 2, 2, 2, 3, 3};
constexpr int kCount = 4, kTiles = 6, kRows = kTiles * EXPERT_ROWS;
constexpr int kColumns = COLUMNS, kInputs = INPUTS;
constexpr int kWeightRows = SWIGLU ? 2 * kColumns : kColumns;
constexpr double kAlpha = 1.702, kLimit7 = 7;

static Allocation<bf16> a(kRows *kInputs), w(kCount * kWeightRows * kInputs),
    bias(kCount *kWeightRows), d(kRows *kColumns);
static Allocation<int> tileExperts(kTiles);

static double product(int r, int column) {
  int row = kExperts[r / EXPERT_ROWS] * kWeightRows + column;
#ifdef WRONG
  row = column;
#endif
  double sum = 0;
  for (int k = 0; k < kInputs; ++k) {
    sum += asDouble(a[r * kInputs + k]) * asDouble(w[row * kInputs + k]);
  }
  return sum;
}

/// A sum and its bias.
static double finished(int r, int column) {
  return product(r, column) +
         asDouble(bias[kExperts[r / EXPERT_ROWS] * kWeightRows + column]);
}

static double gated(double gate, double up) {
  double sigmoidOf = gate;
  if (GATING == 1) {
    sigmoidOf =
        2 * std::sqrt(2 / M_PI) * (gate + 0.044715 * gate * gate * gate);
  } else if (GATING == 2) {
    gate = std::min(gate, kLimit7);
    up = std::clamp(up, -kLimit7, kLimit7) + 1;
    sigmoidOf = kAlpha * gate;
  }
  return gate / (1 + std::exp(-sigmoidOf)) * up;
}

#ifdef BOXES
using modelc::TensorMap;

static TensorMap mapOf(Allocation<bf16> &matrix, uint32_t boxRows) {
  const uint64_t sizes[] = {kInputs, matrix.size() / kInputs};
  const uint64_t strides[] = {kInputs * sizeof(bf16)};
  const uint32_t box[] = {64, boxRows}, ones[] = {1, 1};
  TensorMap map;
  if (emulator::nvidia::encodeTensorMap(&map, 9, 2, matrix.data(), sizes,
                                        strides, box, ones, 0, 3, 2, 0)) {
    std::exit(4);
  }
  return map;
}
#endif

int main() {
  fillRandom(a), fillRandom(w), fillRandom(bias);
  std::copy(std::begin(kExperts), std::end(kExperts), tileExperts.data());
  int tiles = kRows / TILE_M * ((kColumns + TILE_N - 1) / TILE_N);
  std::vector<double> results, reference;
#if SPLITS > 1
  Allocation<float> partial(kRows * SPLITS * kWeightRows);
  launch("linear", tiles * SPLITS, modelc::linear, a.data(), w.data(),
         tileExperts.data(), partial.data(), kRows);
  launch("linear_reduce", kRows, modelc::linear_reduce, partial.data(),
         tileExperts.data(), bias.data(), d.data(), kRows);
#elif defined(BOXES)
  launch("linear", tiles, modelc::linear, tileExperts.data(), bias.data(),
         d.data(), kRows, mapOf(w, TILE_N), mapOf(a, TILE_M));
#else
  launch("linear", tiles, modelc::linear, a.data(), w.data(),
         tileExperts.data(), bias.data(), d.data(), kRows);
#endif
  for (int i = 0; i < kRows * kColumns; ++i) {
    int r = i / kColumns, column = i % kColumns;
    double value = finished(r, column);
    reference.push_back(SWIGLU ? gated(value, finished(r, column + kColumns))
                               : value);
    results.push_back(asDouble(d[i]));
  }
  compare("linear", results, reference, 1.0 / 128);
  return wrongResults;
}
