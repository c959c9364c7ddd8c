// Products in bf16 whose operands come by boxes, with a residual, of COLUMNS
// columns and the rows of the command line. A box has A_ROWS rows of a, W_ROWS
// of w; at most WORKGROUPS workgroups go from tile to tile, CLUSTER_SIZE of
// them together. SWIGLU: of gate and of up. SWAPPED: the map of w comes first.
// PARTS of the sum, which are added here without a residual.
#include "run.h"

#include <algorithm>
#include <cstdlib>

#ifndef PARTS
#define PARTS 1
#endif
constexpr int kColumns = COLUMNS, kInputs = INPUTS;
constexpr int kWeightRows = (SWIGLU + 1) * kColumns;

static modelc::TensorMap mapOf(Allocation<bf16> &matrix, int rows,
                               uint32_t boxRows) {
  const uint64_t sizes[] = {kInputs, uint64_t(rows)}, strides[] = {2 * kInputs};
  const uint32_t box[] = {64, boxRows}, ones[] = {1, 1};
  modelc::TensorMap map;
  if (emulator::nvidia::encodeTensorMap(&map, 9, 2, matrix.data(), sizes,
                                        strides, box, ones, 0, 3, 2, 0)) {
    std::exit(4);
  }
  return map;
}

static int tilesOf(int extent, int size, int together) {
  return (extent + size * together - 1) / (size * together) * together;
}

static void runRows(int rows) {
  Allocation<bf16> a(rows * kInputs), w(kWeightRows * kInputs);
  Allocation<bf16> residual(rows * kColumns), d(rows * kColumns);
  fillRandom(a), fillRandom(w), fillRandom(residual);
  int tiles = tilesOf(rows, TILE_M, SWAPPED ? 1 : CLUSTER_SIZE) *
              tilesOf(kColumns, TILE_N, SWAPPED ? CLUSTER_SIZE : 1);
  auto aMap = mapOf(a, rows, A_ROWS), wMap = mapOf(w, kWeightRows, W_ROWS);
  auto first = SWAPPED ? wMap : aMap, second = SWAPPED ? aMap : wMap;
#if PARTS > 1
  Allocation<float> partial(rows * PARTS * kColumns);
  launch("linear", tiles * PARTS, modelc::linear, partial.data(), rows, first,
         second);
  auto result = [&](int row, int column) {
    double sum = 0;
    for (int part = 0; part < PARTS; ++part) {
      sum += partial[(row * PARTS + part) * kColumns + column];
    }
    return sum;
  };
#else
  launch("linear", tiles, modelc::linear, residual.data(), d.data(), rows,
         first, second);
  auto result = [&](int row, int column) {
    return asDouble(d[row * kColumns + column]);
  };
#endif
  auto product = [&](int row, int column) {
    double sum = 0;
    for (int k = 0; k < kInputs; ++k) {
      sum += asDouble(a[row * kInputs + k]) * asDouble(w[column * kInputs + k]);
    }
    return sum;
  };
  std::vector<double> results, reference;
  for (int i = 0; i < rows * kColumns; ++i) {
    int row = i / kColumns, column = i % kColumns;
    double value = product(row, column);
    if (SWIGLU) {
      value = value / (1 + std::exp(-value)) * product(row, column + kColumns);
    }
    results.push_back(result(row, column));
    reference.push_back(value + (PARTS > 1 ? 0 : asDouble(residual[i])));
  }
  compare(("m = " + std::to_string(rows)).c_str(), results, reference,
          1.0 / 128);
}

int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i) {
    runRows(std::atoi(arguments[i]));
  }
  return wrongResults;
}
