// Runs every kernel of matrix.hip with random data and, where there are scales,
// random scales of each block, against sums in double.
#include "matrix.hip"

#include "compare.h"

using namespace emulator;

/// How one operand is stored.
struct Stored {
  const Format &format;
  int bits;
};

/// Element `k` of a row of packed elements.
static double elementOf(const Stored &stored, const uint8_t *row, int k) {
  int bit = k * stored.bits;
  uint32_t word = row[bit / 8];
  if (bit % 8 + stored.bits > 8) {
    word |= uint32_t(row[bit / 8 + 1]) << 8;
  }
  return decode(stored.format, word >> bit % 8 & ((1u << stored.bits) - 1));
}

/// Random patterns that are finite, and for wide formats of ordinary size.
static void fill(const Stored &stored, int elements, uint8_t *to) {
  std::fill(to, to + elements * stored.bits / 8, 0);
  for (int i = 0; i < elements; ++i) {
    uint32_t pattern = stored.bits == 16 ? encode(stored.format, randomNormal())
                                         : randomBelow(1u << stored.bits);
    if ((pattern & (stored.format.sign() - 1)) > stored.format.most() ||
        pattern == stored.format.sign()) {
      pattern = 1;
    }
    int bit = i * stored.bits;
    to[bit / 8] |= uint8_t(pattern << bit % 8);
    if (bit % 8 + stored.bits > 8) {
      to[bit / 8 + 1] |= uint8_t(pattern >> (8 - bit % 8));
    }
  }
}

template <typename Run>
static void test(const char *name, int m, int k, Stored a, Stored b, Run run) {
  Allocation<uint8_t> rowsA(m * k * a.bits / 8), rowsB(m * k * b.bits / 8);
  Allocation<uint8_t> scaleA(m * k / 32 + 1), scaleB(m * k / 32 + 1);
  Allocation<float> c(m * m);
  fill(a, m * k, rowsA.data());
  fill(b, m * k, rowsB.data());
  for (size_t i = 0; i < scaleA.size(); ++i) {
    scaleA[i] = uint8_t(120 + randomBelow(14));
    scaleB[i] = uint8_t(120 + randomBelow(14));
  }
  bool scaled =
      run(rowsA.data(), rowsB.data(), scaleA.data(), scaleB.data(), c.data());
  std::vector<double> reference(m * m);
  for (int i = 0; i < m * m; ++i) {
    const uint8_t *x = &rowsA[i / m * k * a.bits / 8];
    const uint8_t *y = &rowsB[i % m * k * b.bits / 8];
    for (int e = 0; e < k; ++e) {
      int scale = scaled ? scaleA[i / m * (k / 32) + e / 32] +
                               scaleB[i % m * (k / 32) + e / 32] - 254
                         : 0;
      reference[i] +=
          std::ldexp(elementOf(a, x, e) * elementOf(b, y, e), scale);
    }
  }
  compare(name, c, reference, 1e-6);
}

static Device device;

#define RUN_PLAIN(name, m, k, ...)                                             \
  test(#name, m, k, __VA_ARGS__,                                               \
       [](uint8_t *a, uint8_t *b, uint8_t *, uint8_t *, float *c) {            \
         run(device, {.kernel = #name, .grid = {}, .block = {64}},             \
             modelc::name, a, b, c);                                           \
         return false;                                                         \
       })
#define RUN_SCALED(name, m, k, ...)                                            \
  test(#name, m, k, __VA_ARGS__,                                               \
       [](uint8_t *a, uint8_t *b, uint8_t *s, uint8_t *t, float *c) {          \
         run(device, {.kernel = #name, .grid = {}, .block = {64}},             \
             modelc::name, a, b, s, t, c);                                     \
         return true;                                                          \
       })

int main() {
  const Stored bf16{kBf16, 16}, f16{kF16, 16};
  const Stored fp8{MODELC_CHIP >= 950 ? kE4M3 : kE4M3Fnuz, 8};
  const Stored bf8{MODELC_CHIP >= 950 ? kE5M2 : kE5M2Fnuz, 8};
  RUN_PLAIN(bf16Wide16, 16, 16, bf16, bf16);
  RUN_PLAIN(f16Wide16, 16, 16, f16, f16);
  RUN_PLAIN(bf16Wide32, 32, 8, bf16, bf16);
  RUN_PLAIN(f16Wide32, 32, 8, f16, f16);
  RUN_PLAIN(fp8Wide16, 16, 32, fp8, fp8);
  RUN_PLAIN(bf8Wide32, 32, 16, bf8, fp8);
#if MODELC_CHIP >= 950
  const Stored fp6{kE2M3, 6}, bf6{kE3M2, 6}, fp4{kE2M1, 4};
  RUN_PLAIN(bf16Deep16, 16, 32, bf16, bf16);
  RUN_PLAIN(f16Deep16, 16, 32, f16, f16);
  RUN_PLAIN(bf16Deep32, 32, 16, bf16, bf16);
  RUN_PLAIN(f16Deep32, 32, 16, f16, f16);
  RUN_SCALED(scaledFp8, 16, 128, fp8, fp8);
  RUN_SCALED(scaledFp4, 16, 128, fp4, fp4);
  RUN_SCALED(scaledMixed, 16, 128, fp8, fp4);
  RUN_SCALED(scaledFp6, 16, 128, fp6, bf6);
  RUN_SCALED(scaledWideFp8, 32, 64, fp8, bf8);
  RUN_SCALED(scaledWideFp4, 32, 64, fp4, fp4);
#endif
  return wrongResults;
}
