// Ops on rows, each by a kernel of its own: gates, columns side by side, rows
// of a table times a number, norms of heads and of some columns.
#include "run.h"

constexpr int kColumns = 200, kRows = 5, kTiles = (kRows + 1) / 2 * 2;
constexpr int kNumbers = kRows * kColumns;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double gelu(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

template <typename Reference>
static void check(const char *name, Allocation<bf16> &out, Reference reference,
                  double tolerance = 1.0 / 200) {
  std::vector<double> results, exact;
  for (size_t i = 0; i < out.size(); ++i) {
    results.push_back(asDouble(out[i]));
    exact.push_back(reference(int(i)));
  }
  compare(name, results, exact, tolerance);
}

static void checkGates(Allocation<bf16> &x, Allocation<bf16> &y) {
  Allocation<bf16> out(kNumbers);
  launch("geglu", kTiles, modelc::geglu, x.data(), y.data(), out.data(), kRows);
  check("geglu", out,
        [&](int i) { return gelu(asDouble(x[i])) * asDouble(y[i]); });
  launch("gate", kTiles, modelc::gate, x.data(), y.data(), out.data(), kRows);
  check("gate", out,
        [&](int i) { return asDouble(x[i]) * sigmoid(asDouble(y[i])); });
  Allocation<float> gates(kRows);
  for (float &gate : gates) {
    gate = float(2 * randomNormal());
  }
  launch("row_gate", kTiles, modelc::row_gate, x.data(), gates.data(),
         out.data(), kRows);
  check("row gate", out,
        [&](int i) { return asDouble(x[i]) * sigmoid(gates[i / kColumns]); });
}

/// 200 columns, then 40 of those.
static void checkConcat(Allocation<bf16> &x) {
  constexpr int kOther = 40, kAll = kColumns + kOther;
  Allocation<bf16> y(kRows * kOther), out(kRows * kAll);
  fillRandom(y);
  launch("left", kTiles, modelc::left, x.data(), out.data(), kRows);
  launch("right", (kRows + 1) / 2, modelc::right, y.data(), out.data(), kRows);
  auto reference = [&](int i) {
    int row = i / kAll, column = i % kAll;
    return asDouble(column < kColumns ? x[row * kColumns + column]
                                      : y[row * kOther + column - kColumns]);
  };
  check("concat", out, reference, 0);
}

static void checkTimes(Allocation<bf16> &x) {
  Allocation<int> ids(3);
  ids[0] = 4, ids[1] = 0, ids[2] = 4;
  Allocation<bf16> out(3 * kColumns);
  launch("times", 4, modelc::times, ids.data(), x.data(), out.data(), 3);
  auto reference = [&](int i) {
    double number = asDouble(x[ids[i / kColumns] * kColumns + i % kColumns]);
    return asDouble(asBf16(number * 7.25));
  };
  check("times", out, reference, 0);
}

/// Of rows of `columns`: the first `normed` are, with weights 1 more if any.
static void checkNorm(const char *name, Allocation<bf16> &x,
                      Allocation<bf16> &out, Allocation<bf16> *weight,
                      int columns, int normed) {
  check(name, out, [&](int i) {
    int column = i % columns;
    if (column >= normed) {
      return asDouble(x[i]);
    }
    double squares = 0;
    for (int c = 0; c < normed; ++c) {
      double number = asDouble(x[i - column + c]);
      squares += number * number;
    }
    double times = weight ? 1 + asDouble((*weight)[column]) : 1;
    return asDouble(x[i]) / std::sqrt(squares / normed + 0.5) * times;
  });
}

/// Heads of 40 columns, of which 5 make a row; then rows of 200 of which 130
/// are normed.
static void checkNorms(Allocation<bf16> &x) {
  Allocation<bf16> out(kNumbers), weight(40), first(130);
  fillRandom(weight), fillRandom(first);
  launch("heads", kRows * 2, modelc::heads, x.data(), weight.data(), out.data(),
         kRows);
  checkNorm("heads", x, out, &weight, 40, 40);
  launch("weightless", kRows * 2, modelc::weightless, x.data(), out.data(),
         kRows);
  checkNorm("weightless", x, out, nullptr, 40, 40);
  launch("first", (kRows + 1) / 2, modelc::first, x.data(), first.data(),
         out.data(), kRows);
  checkNorm("first", x, out, &first, kColumns, 130);
}

int main() {
  Allocation<bf16> x(kNumbers), y(kNumbers);
  fillRandom(x), fillRandom(y);
  checkGates(x, y);
  checkConcat(x);
  checkTimes(x);
  checkNorms(x);
  return wrongResults;
}
