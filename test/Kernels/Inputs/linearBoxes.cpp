// A linear whose operands come by boxes; its columns are those of two products,
// which share the rows: WIDE of the first one, NARROW of the second one. Or of
// one product, NARROW = 0, whose columns TOGETHER workgroups load together.
#ifndef TOGETHER
#define TOGETHER 1
#endif
#define CLUSTER_SIZE TOGETHER
#define SHARED_KIB 227
#include "run.h"

#ifndef ROWS
#define ROWS 200
#endif

using modelc::TensorMap;

constexpr int kColumns = 264, kInputs = INPUTS, kRows = ROWS, kTileK = 64;

static TensorMap mapOf(Allocation<bf16> &matrix, int rows, uint32_t boxRows) {
  const uint64_t sizes[] = {kInputs, uint64_t(rows)};
  const uint64_t strides[] = {kInputs * sizeof(bf16)};
  const uint32_t box[] = {kTileK, boxRows}, ones[] = {1, 1};
  TensorMap map;
  if (emulator::nvidia::encodeTensorMap(&map, 9, 2, matrix.data(), sizes,
                                        strides, box, ones, 0, 3, 2, 0)) {
    std::exit(4);
  }
  return map;
}

int main() {
  Allocation<bf16> a(kRows * kInputs), w(kColumns * kInputs);
  Allocation<bf16> d(kRows * kColumns);
  fillRandom(a), fillRandom(w);
  int width = WIDE + NARROW;
  int rowTiles = ((kRows + 127) / 128 + TOGETHER - 1) / TOGETHER * TOGETHER;
  int tiles = rowTiles * ((kColumns + width - 1) / width);
#if NARROW
  launch("linear", tiles, modelc::linear, d.data(), kRows, mapOf(a, kRows, 128),
         mapOf(w, kColumns, WIDE), mapOf(w, kColumns, NARROW));
#else
  launch("linear", tiles, modelc::linear, d.data(), kRows, mapOf(a, kRows, 128),
         mapOf(w, kColumns, WIDE / TOGETHER));
#endif
  std::vector<double> results, reference;
  for (int i = 0; i < kRows * kColumns; ++i) {
    double sum = 0;
    for (int k = 0; k < kInputs; ++k) {
      sum += asDouble(a[i / kColumns * kInputs + k]) *
             asDouble(w[i % kColumns * kInputs + k]);
    }
    reference.push_back(sum);
    results.push_back(asDouble(d[i]));
  }
  compare("linear", results, reference, 1.0 / 128);
  return wrongResults;
}
