// Rows, SwiGLU of them (UP) or of sums of two parts of them (PARTS), or their
// norm with a residual (NORM) to 8 bits with a scale in f32 for each group of
// 128: the largest magnitude over the largest number, 1 for zeros and nearly
// so. Numbers are those of double, or of a neighbour of it that rounding in
// single precision may give. Groups differ by many powers of two, one is zero
// and one nearly so.
#include "run.h"

constexpr int kColumns = 640, kRows = 300, kGroup = 128;
constexpr int kGroups = kColumns / kGroup, kRowsOfGroup = 256;
constexpr double kNear = 3e-6, kLeast = std::numeric_limits<float>::min();

/// Whether a group is right, given its numbers before they are narrow.
static bool isRight(const double *values, double scale, const f8 *numbers) {
  double largest = 0;
  for (int i = 0; i < kGroup; ++i) {
    largest = std::max(largest, std::fabs(values[i]));
  }
  double exact = largest > kLimit * kLeast ? largest / kLimit : 1;
  bool right = std::fabs(scale / exact - 1) < kNear;
  for (int i = 0; i < kGroup; ++i) {
    double found = asDouble(numbers[i]);
    right &= found == asDouble(asF8(values[i] / scale * (1 - kNear))) ||
             found == asDouble(asF8(values[i] / scale * (1 + kNear)));
  }
  return right;
}

static void fillRows(Allocation<bf16> &x, Allocation<bf16> &y) {
  fillRandom(x), fillRandom(y);
  for (int i = 0; i < kRows * kColumns; ++i) {
    int group = i / kGroup;
    int power = group == 9 ? -125 : group % 11 - 5;
    x[i] = asBf16(group == 7 ? 0 : asDouble(x[i]) * std::exp2(power));
#ifdef NORM
    y[i] = asBf16(group == 7 ? 0 : asDouble(y[i]));
#endif
  }
}

/// The first parts are x and y, the second ones three times as large.
[[maybe_unused]] static void fillParts(Allocation<float> &partial,
                                       const Allocation<bf16> &x,
                                       const Allocation<bf16> &y) {
  for (int i = 0; i < kRows * kColumns; ++i) {
    float *own = &partial[i / kColumns * 4 * kColumns + i % kColumns];
    own[0] = asDouble(x[i]), own[kColumns] = asDouble(y[i]);
    own[2 * kColumns] = 3 * own[0], own[3 * kColumns] = 3 * own[kColumns];
  }
}

int main() {
  Allocation<bf16> x(kRows * kColumns), y(kRows * kColumns);
  Allocation<bf16> sum(kRows * kColumns), weight(kColumns);
  fillRandom(weight), fillRows(x, y);
  Allocation<f8> out(kRows * kColumns);
  Allocation<float> scales((kRows + kRowsOfGroup - 1) / kRowsOfGroup * kGroups *
                           kRowsOfGroup);
#if defined(NORM)
  launch("norm", kRows, modelc::norm, x.data(), weight.data(), y.data(),
         out.data(), scales.data(), sum.data(), kRows);
#elif defined(PARTS)
  Allocation<float> partial(kRows * 4 * kColumns);
  fillParts(partial, x, y);
  launch("linear_reduce", kRows * PIECES, modelc::linear_reduce, partial.data(),
         out.data(), scales.data(), kRows);
#elif defined(UP)
  launch("quantise", kRows * PIECES, modelc::quantise, x.data(), y.data(),
         out.data(), scales.data(), kRows);
#else
  launch("quantise", kRows * PIECES, modelc::quantise, x.data(), out.data(),
         scales.data(), kRows);
#endif
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> values;
    double squares = 0;
    for (int i = row * kColumns; i < (row + 1) * kColumns; ++i) {
      double value = asDouble(x[i]);
#if defined(NORM)
      value = asDouble(asBf16(value + asDouble(y[i])));
      wrong += asDouble(sum[i]) != value;
#elif defined(PARTS)
      value *= 4;
      value = value / (1 + std::exp(-value)) * 4 * asDouble(y[i]);
#elif defined(UP)
      value = value / (1 + std::exp(-value)) * asDouble(y[i]);
#endif
      values.push_back(value);
      squares += value * value;
    }
#ifdef NORM
    for (int i = 0; i < kColumns; ++i) {
      values[i] *= asDouble(weight[i]) / std::sqrt(squares / kColumns + 1e-5);
    }
#endif
    for (int group = 0; group < kGroups; ++group) {
      double scale =
          scales[(row / kRowsOfGroup * kGroups + group) * kRowsOfGroup +
                 row % kRowsOfGroup];
      wrong += !isRight(&values[group * kGroup], scale,
                        &out[row * kColumns + group * kGroup]);
    }
  }
  std::printf("groups: %d of %d wrong\n", wrong, kRows * kGroups);
  return wrong != 0;
}
