// The matrix instructions of CDNA on the emulator: the wave's operands are
// gathered once into plain matrices, multiplied, and dealt out again. Layouts
// as in targets/amd/instructions.hip.h; sums are in float, in the order of K.
#ifndef TARGETS_EMULATOR_AMDMATRIX_H
#define TARGETS_EMULATOR_AMDMATRIX_H

#include "emulator.h"
#include "numbers.h"

namespace modelc {

/// The operands of one matrix instruction in one lane.
template <typename OperandA, typename OperandB, typename Accumulator>
struct MatrixOperands {
  OperandA a;
  OperandB b;
  Accumulator c;
  int scaleA = kScaleOne, scaleB = kScaleOne;
};

/// c += a * b, with b given as [K][M].
template <int M, int K>
void multiplyAdd(const float (&a)[M][K], const float (&b)[K][M],
                 float (&c)[M][M]) {
  for (int i = 0; i < M; ++i) {
    float row[M];
    for (int j = 0; j < M; ++j) {
      row[j] = c[i][j];
    }
    for (int k = 0; k < K; ++k) {
      for (int j = 0; j < M; ++j) {
        row[j] += a[i][k] * b[k][j];
      }
    }
    for (int j = 0; j < M; ++j) {
      c[i][j] = row[j];
    }
  }
}

/// The row of register `r` of the accumulator in the lanes of group `g`.
template <int M>
constexpr int accumulatorRow(int g, int r) {
  return M == 16 ? 4 * g + r : 8 * (r / 4) + 4 * g + r % 4;
}

template <int M, typename In>
void gatherAccumulator(const In &in, float (&c)[M][M]) {
  for (int lane = 0; lane < 64; ++lane) {
    for (int r = 0; r < M * M / 64; ++r) {
      c[accumulatorRow<M>(lane / M, r)][lane % M] = in[lane].c[r];
    }
  }
}
template <int M, typename Out>
void dealAccumulator(const float (&c)[M][M], const Out &out) {
  for (int lane = 0; lane < 64; ++lane) {
    for (int r = 0; r < M * M / 64; ++r) {
      out[lane][r] = c[accumulatorRow<M>(lane / M, r)][lane % M];
    }
  }
}

/// One element of an operand, as float.
inline float element(bf16 value) {
  return emulator::fromBf16(__builtin_bit_cast(uint16_t, value));
}
inline float element(f16 value) { return float(value); }

/// An instruction without scales: each lane has Count neighbours of K.
template <int M, int K, typename Operand, typename Accumulator>
Accumulator mfmaPlain(const char *name, Operand a, Operand b, Accumulator c) {
  using In = MatrixOperands<Operand, Operand, Accumulator>;
  return emulator::collective<Accumulator>(
      name, In{a, b, c}, [](auto in, auto out) {
        constexpr int kCount = M * K / 64;
        float a[M][K], b[K][M], c[M][M];
        for (int lane = 0; lane < 64; ++lane) {
          for (int e = 0; e < kCount; ++e) {
            int k = lane / M * kCount + e;
            a[lane % M][k] = element(in[lane].a[e]);
            b[k][lane % M] = element(in[lane].b[e]);
          }
        }
        gatherAccumulator<M>(in, c);
        multiplyAdd<M, K>(a, b, c);
        dealAccumulator<M>(c, out);
      });
}

/// The values of an 8-bit format of the chip (FNUZ before gfx950).
template <int Format>
const float *valuesOf() {
  static_assert(Format == kFp8 || Format == kBf8);
  if constexpr (MODELC_CHIP >= 950) {
    return Format == kFp8 ? emulator::kValues<emulator::kE4M3>.of
                          : emulator::kValues<emulator::kE5M2>.of;
  } else {
    return Format == kFp8 ? emulator::kValues<emulator::kE4M3Fnuz>.of
                          : emulator::kValues<emulator::kE5M2Fnuz>.of;
  }
}

template <int M, int K, int A, int B, typename Accumulator>
Accumulator mfmaFp8(const char *name, i32x2 a, i32x2 b, Accumulator c) {
  using In = MatrixOperands<i32x2, i32x2, Accumulator>;
  return emulator::collective<Accumulator>(
      name, In{a, b, c}, [](auto in, auto out) {
        constexpr int kCount = M * K / 64;
        const float *ofA = valuesOf<A>(), *ofB = valuesOf<B>();
        float a[M][K], b[K][M], c[M][M];
        for (int lane = 0; lane < 64; ++lane) {
          auto *bytesA = reinterpret_cast<const uint8_t *>(&in[lane].a);
          auto *bytesB = reinterpret_cast<const uint8_t *>(&in[lane].b);
          for (int e = 0; e < kCount; ++e) {
            int k = lane / M * kCount + e;
            a[lane % M][k] = ofA[bytesA[e]];
            b[k][lane % M] = ofB[bytesB[e]];
          }
        }
        gatherAccumulator<M>(in, c);
        multiplyAdd<M, K>(a, b, c);
        dealAccumulator<M>(c, out);
      });
}

/// The 32 elements of a lane and, for each, which K it is.
template <int Format, int M, int K, typename Put>
void unpackScaled(const uint32_t *words, int lane, Put put) {
  using namespace emulator;
  int group = lane / M;
  for (int e = 0; e < 32; ++e) {
    if constexpr (Format == kFp8 || Format == kBf8) {
      const float *values =
          Format == kFp8 ? kValues<kE4M3>.of : kValues<kE5M2>.of;
      put(e / 16 * (K / 2) + 16 * group + e % 16,
          values[words[e / 4] >> (e % 4 * 8) & 0xFF]);
    } else if constexpr (Format == kFp4) {
      put(32 * group + e, kValues<kE2M1>.of[words[e / 8] >> (e % 8 * 4) & 0xF]);
    } else {
      const float *values =
          Format == kFp6 ? kValues<kE2M3>.of : kValues<kE3M2>.of;
      uint64_t both = words[e * 6 / 32];
      if (e * 6 / 32 < 5) {
        both |= uint64_t(words[e * 6 / 32 + 1]) << 32;
      }
      put(32 * group + e, values[both >> (e * 6 % 32) & 0x3F]);
    }
  }
}

/// An instruction with a scale for each 32 of K.
template <int M, int K, int A, int B, int SelectA, int SelectB,
          typename OperandA, typename OperandB, typename Accumulator>
Accumulator mfmaScaled(const char *name, OperandA a, OperandB b, Accumulator c,
                       int scaleA, int scaleB) {
  static_assert(MODELC_CHIP >= 950, "this chip scales no blocks");
  using In = MatrixOperands<OperandA, OperandB, Accumulator>;
  return emulator::collective<Accumulator>(
      name, In{a, b, c, scaleA, scaleB}, [](auto in, auto out) {
        float a[M][K], b[K][M], c[M][M];
        float scaleA[M][K / 32], scaleB[K / 32][M];
        for (int lane = 0; lane < 64; ++lane) {
          int row = lane % M;
          auto *wordsA = reinterpret_cast<const uint32_t *>(&in[lane].a);
          auto *wordsB = reinterpret_cast<const uint32_t *>(&in[lane].b);
          unpackScaled<A, M, K>(wordsA, lane,
                                [&](int k, float v) { a[row][k] = v; });
          unpackScaled<B, M, K>(wordsB, lane,
                                [&](int k, float v) { b[k][row] = v; });
          scaleA[row][lane / M] =
              emulator::fromE8M0(in[lane].scaleA >> (8 * SelectA) & 0xFF);
          scaleB[lane / M][row] =
              emulator::fromE8M0(in[lane].scaleB >> (8 * SelectB) & 0xFF);
        }
        for (int i = 0; i < M; ++i) {
          for (int k = 0; k < K; ++k) {
            a[i][k] *= scaleA[i][k / 32];
            b[k][i] *= scaleB[k / 32][i];
          }
        }
        gatherAccumulator<M>(in, c);
        multiplyAdd<M, K>(a, b, c);
        dealAccumulator<M>(c, out);
      });
}

DEV f32x4 mfma16x16x16(bf16x4 a, bf16x4 b, f32x4 c) {
  return mfmaPlain<16, 16>("mfma16x16x16 bf16", a, b, c);
}
DEV f32x4 mfma16x16x16(f16x4 a, f16x4 b, f32x4 c) {
  return mfmaPlain<16, 16>("mfma16x16x16 f16", a, b, c);
}
DEV f32x16 mfma32x32x8(bf16x4 a, bf16x4 b, f32x16 c) {
  return mfmaPlain<32, 8>("mfma32x32x8 bf16", a, b, c);
}
DEV f32x16 mfma32x32x8(f16x4 a, f16x4 b, f32x16 c) {
  return mfmaPlain<32, 8>("mfma32x32x8 f16", a, b, c);
}
template <int A = kFp8, int B = kFp8>
DEV f32x4 mfma16x16x32Fp8(i32x2 a, i32x2 b, f32x4 c) {
  return mfmaFp8<16, 32, A, B>("mfma16x16x32Fp8", a, b, c);
}
template <int A = kFp8, int B = kFp8>
DEV f32x16 mfma32x32x16Fp8(i32x2 a, i32x2 b, f32x16 c) {
  return mfmaFp8<32, 16, A, B>("mfma32x32x16Fp8", a, b, c);
}
#if MODELC_CHIP >= 950
DEV f32x4 mfma16x16x32(bf16x8 a, bf16x8 b, f32x4 c) {
  return mfmaPlain<16, 32>("mfma16x16x32 bf16", a, b, c);
}
DEV f32x4 mfma16x16x32(f16x8 a, f16x8 b, f32x4 c) {
  return mfmaPlain<16, 32>("mfma16x16x32 f16", a, b, c);
}
DEV f32x16 mfma32x32x16(bf16x8 a, bf16x8 b, f32x16 c) {
  return mfmaPlain<32, 16>("mfma32x32x16 bf16", a, b, c);
}
DEV f32x16 mfma32x32x16(f16x8 a, f16x8 b, f32x16 c) {
  return mfmaPlain<32, 16>("mfma32x32x16 f16", a, b, c);
}
template <int A, int B, int SelectA = 0, int SelectB = 0, typename OperandA,
          typename OperandB>
DEV f32x4 mfmaScaled16x16x128(OperandA a, OperandB b, f32x4 c, int scaleA,
                              int scaleB) {
  return mfmaScaled<16, 128, A, B, SelectA, SelectB>("mfmaScaled16x16x128", a,
                                                     b, c, scaleA, scaleB);
}
template <int A, int B, int SelectA = 0, int SelectB = 0, typename OperandA,
          typename OperandB>
DEV f32x16 mfmaScaled32x32x64(OperandA a, OperandB b, f32x16 c, int scaleA,
                              int scaleB) {
  return mfmaScaled<32, 64, A, B, SelectA, SelectB>("mfmaScaled32x32x64", a, b,
                                                    c, scaleA, scaleB);
}
#endif

} // namespace modelc

#endif // TARGETS_EMULATOR_AMDMATRIX_H
