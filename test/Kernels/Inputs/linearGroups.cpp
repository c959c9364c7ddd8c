// Products of 8 bits with a scale in f32 for each 128 numbers of a row of a,
// and for each 128 x 128 of w, neighbours of which differ by up to a factor of
// 16. SWIGLU: of gate and of up. SPLITS: parts of the sum. BOXES: operands come
// by boxes, of w those that CLUSTER_SIZE workgroups load together. WORKGROUPS:
// of a kernel that goes on from tile to tile. WRONG: the scales of w as if they
// lay by columns.
#include "run.h"

#ifndef SWIGLU
#define SWIGLU 0
#endif
#ifndef SPLITS
#define SPLITS 0
#endif
#ifndef COLUMNS
#define COLUMNS 200
#endif
constexpr int kColumns = COLUMNS, kInputs = INPUTS, kRows = 77, kGroup = 128;
constexpr int kGroups = (kInputs + kGroup - 1) / kGroup, kRowsOfGroup = 256;
constexpr int kWeightRows = (SWIGLU + 1) * kColumns;
constexpr int kWeightGroups = (kWeightRows + kGroup - 1) / kGroup;

static void fillScales(Allocation<float> &scales) {
  for (float &scale : scales) {
    float power = std::uniform_real_distribution<float>(-2, 2)(generator);
    scale = std::exp2(power) / float(kLimit);
  }
}

/// Operands, and what comes of them in double.
struct Product {
  Allocation<f8> a{kRows * kInputs}, w{kWeightRows * kInputs};
  Allocation<float> aScale{kGroups * kRowsOfGroup},
      wScale{kWeightGroups * kGroups};
  std::vector<double> results, reference;

  Product() {
    for (Allocation<f8> *buffer : {&a, &w}) {
      for (f8 &x : *buffer) {
        x = asF8(randomNormal() * kLimit / 8);
      }
    }
    fillScales(aScale), fillScales(wScale);
  }
  /// The sum of a row of a by one of w, and that of magnitudes.
  std::pair<double, double> sumOf(int r, int row, int begin, int end) {
    std::pair<double, double> sum;
    for (int k = begin; k < end; ++k) {
      int group = k / kGroup, rows = row / kGroup;
#ifdef WRONG
      double ofWeight = wScale[group % kWeightGroups * kGroups + rows];
#else
      double ofWeight = wScale[rows * kGroups + group];
#endif
      double term = asDouble(a[r * kInputs + k]) *
                    asDouble(w[row * kInputs + k]) *
                    aScale[group * kRowsOfGroup + r] * ofWeight;
      sum.first += term;
      sum.second += std::fabs(term);
    }
    return sum;
  }
  /// Relative to the sum or to what goes into it: nothing is drowned.
  void expect(double result, std::pair<double, double> sum) {
    double unit = std::max(std::fabs(sum.first), sum.second / 16);
    results.push_back(1 + (result - sum.first) / unit);
    reference.push_back(1);
  }
};

#ifdef BOXES
static modelc::TensorMap mapOf(Allocation<f8> &matrix, int rows, int boxRows) {
  const uint64_t sizes[] = {kInputs, uint64_t(rows)}, strides[] = {kInputs};
  const uint32_t box[] = {kGroup, uint32_t(boxRows)}, ones[] = {1, 1};
  modelc::TensorMap map;
  if (emulator::nvidia::encodeTensorMap(&map, 0, 2, matrix.data(), sizes,
                                        strides, box, ones, 0, 3, 2, 0)) {
    std::exit(4);
  }
  return map;
}

template <typename Result>
void runLinear(Product &p, int tiles, Allocation<Result> &d) {
  launch("linear", tiles, modelc::linear, p.aScale.data(), p.wScale.data(),
         d.data(), kRows, mapOf(p.a, kRows, TILE_M),
         mapOf(p.w, kWeightRows, std::min(TILE_N, kGroup) / CLUSTER_SIZE));
}
#else
template <typename Result>
void runLinear(Product &p, int tiles, Allocation<Result> &d) {
  launch("linear", tiles, modelc::linear, p.a.data(), p.w.data(),
         p.aScale.data(), p.wScale.data(), d.data(), kRows);
}
#endif

int main() {
  Product p;
  int clusters = (kRows + CLUSTER_SIZE * TILE_M - 1) / (CLUSTER_SIZE * TILE_M);
  int tiles = clusters * CLUSTER_SIZE * ((kColumns + TILE_N - 1) / TILE_N);
#if SPLITS
  Allocation<float> partial(kRows * SPLITS * kWeightRows);
  runLinear(p, tiles * SPLITS, partial);
  int part = (kGroups + SPLITS - 1) / SPLITS * kGroup;
  for (int i = 0; i < kRows * SPLITS * kWeightRows; ++i) {
    int begin = i / kWeightRows % SPLITS * part;
    p.expect(partial[i], p.sumOf(i / kWeightRows / SPLITS, i % kWeightRows,
                                 begin, std::min(begin + part, kInputs)));
  }
#else
  Allocation<bf16> d(kRows * kColumns);
  runLinear(p, tiles, d);
  for (int i = 0; i < kRows * kColumns; ++i) {
    auto sum = p.sumOf(i / kColumns, i % kColumns, 0, kInputs);
    if (SWIGLU) {
      auto up = p.sumOf(i / kColumns, i % kColumns + kColumns, 0, kInputs);
      sum.second *= up.second;
      sum.first *= up.first / (1 + std::exp(-sum.first));
    }
    p.expect(asDouble(d[i]), sum);
  }
#endif
  compare("linear", p.results, p.reference, 1.0 / 200);
  return wrongResults;
}
