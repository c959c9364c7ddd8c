// One wave, one matrix instruction: operands are read from plain rows of A and
// of B by the documented layout, and the result is written as a plain matrix.
#include "amd/instructions.hip.h"

namespace modelc {

/// `Bytes` bytes at `offset` of row `row`.
template <typename T>
DEV T rowPart(const uint8_t *rows, int rowBytes, int row, int offset) {
  T part;
  __builtin_memcpy(&part, rows + row * rowBytes + offset, sizeof(T));
  return part;
}

template <int M, typename Accumulator>
DEV void writeResult(float *c, Accumulator d) {
  int g = laneId() / M;
  for (int r = 0; r < M * M / 64; ++r) {
    int row = M == 16 ? 4 * g + r : 8 * (r / 4) + 4 * g + r % 4;
    c[row * M + laneId() % M] = d[r];
  }
}

template <int M, int K, typename Operand, typename Accumulator, typename Mfma>
DEV void plain(const uint8_t *a, const uint8_t *b, float *c, int bytes,
               Mfma mfma) {
  int row = laneId() % M, part = laneId() / M * int(sizeof(Operand));
  Accumulator d = {};
  d = mfma(rowPart<Operand>(a, K * bytes, row, part),
           rowPart<Operand>(b, K * bytes, row, part), d);
  writeResult<M>(c, d);
}

#define PLAIN(name, M, K, Operand, Accumulator, bytes, function)               \
  KERNEL(64, 1) name(const uint8_t *a, const uint8_t *b, float *c) {           \
    plain<M, K, Operand, Accumulator>(                                         \
        a, b, c, bytes, [](Operand x, Operand y, Accumulator z) {              \
          return function(x, y, z);                                            \
        });                                                                    \
  }

PLAIN(bf16Wide16, 16, 16, bf16x4, f32x4, 2, mfma16x16x16)
PLAIN(f16Wide16, 16, 16, f16x4, f32x4, 2, mfma16x16x16)
PLAIN(bf16Wide32, 32, 8, bf16x4, f32x16, 2, mfma32x32x8)
PLAIN(f16Wide32, 32, 8, f16x4, f32x16, 2, mfma32x32x8)
PLAIN(fp8Wide16, 16, 32, i32x2, f32x4, 1, mfma16x16x32Fp8)
PLAIN(bf8Wide32, 32, 16, i32x2, f32x16, 1, (mfma32x32x16Fp8<kBf8, kFp8>))
#if MODELC_CHIP >= 950
PLAIN(bf16Deep16, 16, 32, bf16x8, f32x4, 2, mfma16x16x32)
PLAIN(f16Deep16, 16, 32, f16x8, f32x4, 2, mfma16x16x32)
PLAIN(bf16Deep32, 32, 16, bf16x8, f32x16, 2, mfma32x32x16)
PLAIN(f16Deep32, 32, 16, f16x8, f32x16, 2, mfma32x32x16)

template <int Format>
constexpr int kBits = Format <= kBf8   ? 8
                      : Format == kFp4 ? 4
                                       : 6;

/// The 32 elements of this lane: 8 bits in two chunks, less in one.
template <int M, int K, int Format>
DEV auto scaledOperand(const uint8_t *rows) {
  int row = laneId() % M, g = laneId() / M;
  constexpr int kRowBytes = K * kBits<Format> / 8;
  if constexpr (kBits<Format> == 8) {
#ifdef BUG_CONTIGUOUS_FP8
    return rowPart<i32x8>(rows, kRowBytes, row, 32 * g);
#else
    i32x4 low = rowPart<i32x4>(rows, kRowBytes, row, 16 * g);
    i32x4 high = rowPart<i32x4>(rows, kRowBytes, row, K / 2 + 16 * g);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
  } else if constexpr (kBits<Format> == 4) {
    return rowPart<i32x4>(rows, kRowBytes, row, 16 * g);
  } else {
    struct Words {
      int word[6];
    };
    Words words = rowPart<Words>(rows, kRowBytes, row, 24 * g);
    return i32x6{words.word[0], words.word[1], words.word[2],
                 words.word[3], words.word[4], words.word[5]};
  }
}

/// Scales: one byte a row and 32 of K.
template <int M, int K, int A, int B, int Select, typename Accumulator>
DEV void scaled(const uint8_t *a, const uint8_t *b, const uint8_t *scaleA,
                const uint8_t *scaleB, float *c) {
  auto x = scaledOperand<M, K, A>(a);
  auto y = scaledOperand<M, K, B>(b);
  int at = laneId() % M * (K / 32) + laneId() / M;
  int s = scaleA[at] << (8 * Select), t = scaleB[at];
  Accumulator d = {};
  if constexpr (M == 16) {
    d = mfmaScaled16x16x128<A, B, Select, 0>(x, y, d, s, t);
  } else {
    d = mfmaScaled32x32x64<A, B, Select, 0>(x, y, d, s, t);
  }
  writeResult<M>(c, d);
}

#define SCALED(name, M, K, A, B, Select, Accumulator)                          \
  KERNEL(64, 1)                                                                \
  name(const uint8_t *a, const uint8_t *b, const uint8_t *s, const uint8_t *t, \
       float *c) {                                                             \
    scaled<M, K, A, B, Select, Accumulator>(a, b, s, t, c);                    \
  }
SCALED(scaledFp8, 16, 128, kFp8, kFp8, 0, f32x4)
SCALED(scaledFp4, 16, 128, kFp4, kFp4, 2, f32x4)
SCALED(scaledMixed, 16, 128, kFp8, kFp4, 1, f32x4)
SCALED(scaledFp6, 16, 128, kFp6, kBf6, 3, f32x4)
SCALED(scaledWideFp8, 32, 64, kFp8, kBf8, 0, f32x16)
SCALED(scaledWideFp4, 32, 64, kFp4, kFp4, 1, f32x16)
#endif

} // namespace modelc
