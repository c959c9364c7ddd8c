// Rotated queries and keys, appended keys and values, or with ALONE all heads
// of a matrix rotated; of ROTATED columns, INTERLEAVED or not; of sums in parts
// with PARTS, which a scale of each row, one of each column and a bias finish
// with FINISHED, one scale of all rows with FINISHED_BY_ONE. With NORMED heads
// of queries and keys are normed first, by weights that are that much more.
#include "run.h"

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef ROTATED // columns of a head, from FIRST on
#define ROTATED HEAD_DIM
#define FIRST 0
#endif
constexpr int kHeads = 4, kKvHeads = 2, kDim = HEAD_DIM, kHalf = ROTATED / 2;
constexpr int kAll = kHeads + 2 * kKvHeads;
#ifdef ALONE
constexpr int kQueries = kAll; // of a matrix of heads
#else
constexpr int kQueries = kHeads;
#endif
#ifdef PARTS
using Source = float;
constexpr int kParts = PARTS;
#else
using Source = bf16;
constexpr int kParts = 1;
#endif

#if defined(FINISHED) || defined(FINISHED_BY_ONE)
#ifdef FINISHED
constexpr bool kHasRows = true;
#else
constexpr bool kHasRows = false;
#endif
struct Finish {
  Allocation<float> rows, columns;
  Allocation<bf16> biases;
  Finish() : rows(16), columns(kAll * kDim), biases(kAll * kDim) {
    for (float &x : rows) {
      x = 1 + float(randomNormal()) / 4;
    }
    for (float &x : columns) {
      x = 1 + float(randomNormal()) / 4;
    }
    fillRandom(biases);
  }
  double operator()(double sum, int row, int column) {
    return sum * rows[kHasRows ? row : 0] * columns[column] +
           asDouble(biases[column]);
  }
};
static Finish &finish() {
  static Finish one;
  return one;
}
#define FINISH_ARGUMENTS                                                       \
  finish().rows.data(), finish().columns.data(), finish().biases.data(),
#else
static double finishNothing(double sum, int, int) { return sum; }
static auto finish() { return finishNothing; }
#define FINISH_ARGUMENTS
#endif

/// One number of queries, keys or values before they are rotated.
static double numberOf(Allocation<Source> &qkv, int row, int head, int i) {
  double sum = 0;
  for (int part = 0; part < kParts; ++part) {
    sum += asDouble(qkv[((row * kParts + part) * kAll + head) * kDim + i]);
  }
  return finish()(sum, row, head * kDim + i);
}

#ifdef NORMED
struct Norms {
  Allocation<bf16> queries, keys;
  Norms() : queries(kDim), keys(kDim) { fillRandom(queries), fillRandom(keys); }
};
static Norms &norms() {
  static Norms one;
  return one;
}
#define NORM_ARGUMENTS norms().queries.data(), norms().keys.data(),

static double normed(Allocation<Source> &qkv, int row, int head, int i) {
  double squares = 0;
  for (int other = 0; other < kDim; ++other) {
    double number = numberOf(qkv, row, head, other);
    squares += number * number;
  }
  bf16 weight = (head < kHeads ? norms().queries : norms().keys)[i];
  return numberOf(qkv, row, head, i) / std::sqrt(squares / kDim + 0.5) *
         (asDouble(weight) + NORMED);
}
#else
#define NORM_ARGUMENTS
static double normed(Allocation<Source> &qkv, int row, int head, int i) {
  return numberOf(qkv, row, head, i);
}
#endif

static double rotated(Allocation<Source> &qkv, int row, int head, int i,
                      int position) {
  double x = normed(qkv, row, head, i);
  const int turned = i - FIRST; // of those that turn
  if (turned < 0 || turned >= ROTATED) {
    return x;
  }
#ifdef INTERLEAVED
  const int pair = turned / 2, other = i ^ 1;
  const bool isFirst = turned % 2 == 0;
#else
  const int pair = turned % kHalf, other = FIRST + (turned + kHalf) % ROTATED;
  const bool isFirst = turned < kHalf;
#endif
  double angle = position * std::pow(1e4, -2.0 * pair / ROTATED);
  double cosine = float(std::cos(angle)), sine = float(std::sin(angle));
  double y = normed(qkv, row, head, other);
  return isFirst ? x * cosine - y * sine : x * cosine + y * sine;
}

static void fillTable(Allocation<float> &table) {
  for (size_t i = 0; i < table.size(); ++i) {
    double angle =
        double(i / ROTATED) * std::pow(1e4, -2.0 * double(i % kHalf) / ROTATED);
    table[i] = float(i / kHalf % 2 ? std::sin(angle) : std::cos(angle));
  }
}

namespace {
struct Outcome {
  std::vector<double> results, reference, errors;
  int saturated = 0;

  void add(bf16 value, double exact) {
    results.push_back(asDouble(value));
    reference.push_back(exact);
  }
  void addCached(bf16 value, double exact, double) { add(value, exact); }
  /// The error in units of the last bit: at most half of it.
  void addCached(f8 value, double exact, double scale) {
    saturated += std::fabs(exact / scale) >= kLimit;
    errors.push_back(1 + lastBits(value, exact / scale));
  }
  void print() const {
    if (!errors.empty()) {
      std::vector<double> ones(errors.size(), 1);
      compare("cache", errors, ones, 0.51);
      std::printf("%s saturate\n", saturated > 20 ? "some" : "too few");
    }
    compare("rope", results, reference, 1.0 / 200);
  }
};
} // namespace

int main() {
  Sequences sequences(CONTEXTS, NEWS, 16);
  Allocation<Source> qkv(sequences.tokens * kParts * kAll * kDim);
  Allocation<float> table(256 * kDim);
  Allocation<QueryElement> q(sequences.tokens * kQueries * kDim);
  Allocation<CacheElement> keys(sequences.cacheRows() * kKvHeads * kDim);
  CacheScales scales;
  Allocation<CacheElement> values(sequences.cacheRows() * kKvHeads * kDim);
#ifdef PARTS
  for (float &x : qkv) {
    x = float(randomNormal());
  }
#else
  fillRandom(qkv);
#endif
  fillTable(table);
  int tiles = (sequences.longest() + TOKENS - 1) / TOKENS;
#ifdef ALONE // rotates what others append
  launch("rope", sequences.count() * tiles * GROUPS, modelc::rope, qkv.data(),
         table.data(), sequences.starts.data(), sequences.lengths.data(),
         q.data(), sequences.tokens, sequences.count(), sequences.longest());
#else
  launch("rope_append", sequences.count() * tiles * kKvHeads,
         modelc::rope_append, qkv.data(),
         FINISH_ARGUMENTS NORM_ARGUMENTS table.data(), sequences.starts.data(),
         sequences.lengths.data(), sequences.pages.data(), q.data(),
         keys.data(), values.data(),
         QUERY_ARGUMENT KEY_ARGUMENT VALUE_ARGUMENT sequences.tokens,
         sequences.count(), sequences.longest(), sequences.pagesPerSequence);
#endif
  Outcome outcome;
  for (int s = 0; s < sequences.count(); ++s) {
    for (int t = 0; t < sequences.news[s]; ++t) {
      int row = sequences.starts[s] + t;
      int position = sequences.contexts[s] - sequences.news[s] + t;
      for (int i = 0; i < kQueries * kDim; ++i) {
        outcome.addCached(q[row * kQueries * kDim + i],
                          rotated(qkv, row, i / kDim, i % kDim, position),
                          kQueryScale);
      }
      for (int i = 0; kQueries == kHeads && i < kKvHeads * kDim; ++i) {
        int place = sequences.row(s, position) * kKvHeads * kDim + i;
        outcome.addCached(
            keys[place],
            rotated(qkv, row, kHeads + i / kDim, i % kDim, position),
            kKeyScale);
        outcome.addCached(
            values[place],
            numberOf(qkv, row, kHeads + kKvHeads + i / kDim, i % kDim),
            kValueScale);
      }
    }
  }
  outcome.print();
  return wrongResults;
}
