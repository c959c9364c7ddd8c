// What each op computes, in double, one number of a result at a time: on the
// GPU or, with the emulator, on the CPU. Nothing here knows how kernels do it.
#ifndef TEST_GPU_REFERENCE_H
#define TEST_GPU_REFERENCE_H

#include "machine.h"
#include "modelc.h"

#include <cmath>

/// Numbers in memory of the machine, of any type that a tensor has.
struct Numbers {
  const void *data = nullptr;
  int32_t type = MC_F32;

  BOTH static double fromF8(uint8_t bits) {
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    double value = exponent ? ldexp(8.0 + fraction, exponent - 10)
                            : ldexp(double(fraction), -9);
    value = (bits & 127) == 127 ? NAN : value;
    return bits & 128 ? -value : value;
  }
  BOTH static double fromBf16(uint16_t bits) {
    int exponent = bits >> 7 & 255, fraction = bits & 127;
    double value = exponent ? ldexp(128.0 + fraction, exponent - 134)
                            : ldexp(double(fraction), -133);
    value = exponent == 255 ? (fraction ? NAN : INFINITY) : value;
    return bits >> 15 ? -value : value;
  }
  BOTH double operator[](int64_t i) const {
    switch (type) {
    case MC_BF16:
      return fromBf16(static_cast<const uint16_t *>(data)[i]);
    case MC_F8E4M3FN:
      return fromF8(static_cast<const uint8_t *>(data)[i]);
    case MC_I32:
      return static_cast<const int32_t *>(data)[i];
    default:
      return static_cast<const float *>(data)[i];
    }
  }
};

/// Sequences with their pages in the cache.
struct Place {
  Numbers pages;
  int64_t news, context, page, pagesPerSequence, window;

  BOTH int64_t position(int64_t token) const {
    return context - news + token % news;
  }
  /// The first position that a query sees.
  BOTH int64_t firstSeen(int64_t position) const {
    return window && window <= position ? position - window + 1 : 0;
  }
  BOTH int64_t cacheRow(int64_t sequence, int64_t position) const {
    int64_t number =
        int64_t(pages[sequence * pagesPerSequence + position / page]);
    return number * page + position % page;
  }
};

/// a * w^T with scales of rows of both, then gate and up, then what is added.
struct Linear {
  Numbers a, w, aScale, wScale, residual;
  int64_t inputs, columns; // of w, of the result
  bool isGated;

  BOTH double product(int64_t row, int64_t column) const {
    double sum = 0;
    for (int64_t k = 0; k < inputs; ++k) {
      sum += a[row * inputs + k] * w[column * inputs + k];
    }
    return sum * (aScale.data ? aScale[row] : 1) *
           (wScale.data ? wScale[column] : 1);
  }
  BOTH double operator()(int64_t i) const {
    int64_t row = i / columns, column = i % columns;
    double value = product(row, column);
    if (isGated) {
      value = value / (1 + exp(-value)) * product(row, column + columns);
    }
    return value + (residual.data ? residual[i] : 0);
  }
};

/// Rows over their root mean square, times a weight; without one, as they are.
struct Norm {
  static constexpr double kEpsilon = 1e-5;
  Numbers x, weight;
  int64_t columns;

  BOTH double operator()(int64_t i) const {
    int64_t first = i / columns * columns;
    if (!weight.data) {
      return x[i];
    }
    double sum = 0;
    for (int64_t k = 0; k < columns; ++k) {
      sum += x[first + k] * x[first + k];
    }
    return x[i] / sqrt(sum / double(columns) + kEpsilon) * weight[i - first];
  }
};

/// Rows of a table; `last` takes that of the last token of each sequence.
struct Gather {
  Numbers rows, table;
  int64_t columns;
  bool isLast;

  BOTH double operator()(int64_t i) const {
    int64_t row = i / columns;
    int64_t from = isLast ? int64_t(rows[row + 1]) - 1 : int64_t(rows[row]);
    return table[from * columns + i % columns];
  }
};

/// Rows of numbers, or of sums in parts, one scale of each row or of all, one
/// of each column and a bias.
struct Sums {
  Numbers numbers;
  int64_t columns, parts = 1;
  Numbers rowScale = {}, columnScale = {}, bias = {};
  int64_t rowScales = 1;

  BOTH double at(int64_t row, int64_t column) const {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) {
      sum += numbers[(row * parts + part) * columns + column];
    }
    sum *= rowScale.data ? rowScale[row % rowScales] : 1;
    sum *= columnScale.data ? columnScale[column] : 1;
    return sum + (bias.data ? bias[column] : 0);
  }
  BOTH double operator()(int64_t i) const {
    return at(i / columns, i % columns);
  }
};

/// Element i of heads [first, first + count) of the tokens, rotated or as it
/// is.
struct Rope {
  Sums qkv;
  Numbers table;
  Place place;
  int64_t first, count, width;
  bool rotates;

  BOTH double operator()(int64_t i) const {
    int64_t token = i / (count * width), head = first + i / width % count,
            d = i % width, half = width / 2;
    int64_t base = head * width;
    double x = qkv.at(token, base + d);
    if (!rotates) {
      return x;
    }
    int64_t angle = place.position(token) * width + d % half;
    double y = qkv.at(token, base + (d + half) % width);
    double turned = y * table[angle + half];
    return x * table[angle] + (d < half ? -turned : turned);
  }
};

/// Attention of every token to its sequence up to itself, or a window of that.
struct Attention {
  Numbers q, keys, values;
  Place place;
  int64_t heads, kvHeads, width;

  BOTH double operator()(int64_t i) const {
    int64_t token = i / (heads * width), head = i / width % heads,
            d = i % width;
    int64_t kvHead = head / (heads / kvHeads), sequence = token / place.news;
    const double factor = 1 / sqrt(double(width));
    double most = -INFINITY, sum = 0, result = 0;
    const int64_t position = place.position(token);
    for (int64_t p = place.firstSeen(position); p <= position; ++p) {
      int64_t base = (place.cacheRow(sequence, p) * kvHeads + kvHead) * width;
      double score = 0;
      for (int64_t k = 0; k < width; ++k) {
        score += q[i - d + k] * keys[base + k];
      }
      score *= factor;
      double before = most;
      most = score > most ? score : most;
      double kept = exp(before - most), weight = exp(score - most);
      sum = sum * kept + weight;
      result = result * kept + weight * values[base + d];
    }
    return result / sum;
  }
};

/// The largest of a row, to compare with what stands where the kernel points.
struct Largest {
  Numbers logits;
  int64_t columns;

  BOTH double operator()(int64_t row) const {
    double most = -INFINITY;
    for (int64_t i = 0; i < columns; ++i) {
      double value = logits[row * columns + i];
      most = value > most ? value : most;
    }
    return most;
  }
};

#endif // TEST_GPU_REFERENCE_H
