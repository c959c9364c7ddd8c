// The matrix instructions and the conversions of numbers; part of
// instructions.hip.h, which documents them.
#ifndef TARGETS_AMD_MATRIX_HIP_H
#define TARGETS_AMD_MATRIX_HIP_H

namespace modelc {

DEV f32x4 mfma16x16x16(bf16x4 a, bf16x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
      __builtin_bit_cast(i16x4, a), __builtin_bit_cast(i16x4, b), c, 0, 0, 0);
}
DEV f32x4 mfma16x16x16(f16x4 a, f16x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}
DEV f32x16 mfma32x32x8(bf16x4 a, bf16x4 b, f32x16 c) {
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
      __builtin_bit_cast(i16x4, a), __builtin_bit_cast(i16x4, b), c, 0, 0, 0);
}
DEV f32x16 mfma32x32x8(f16x4 a, f16x4 b, f32x16 c) {
  return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
}

/// Chooses among the four combinations of 8-bit formats.
#define MODELC_MFMA_FP8(name, Result)                                          \
  static_assert((A == kFp8 || A == kBf8) && (B == kFp8 || B == kBf8),          \
                "8-bit formats");                                              \
  long x = __builtin_bit_cast(long, a), y = __builtin_bit_cast(long, b);       \
  if constexpr (A == kFp8 && B == kFp8) {                                      \
    return __builtin_amdgcn_mfma_f32_##name##_fp8_fp8(x, y, c, 0, 0, 0);       \
  } else if constexpr (A == kFp8) {                                            \
    return __builtin_amdgcn_mfma_f32_##name##_fp8_bf8(x, y, c, 0, 0, 0);       \
  } else if constexpr (B == kFp8) {                                            \
    return __builtin_amdgcn_mfma_f32_##name##_bf8_fp8(x, y, c, 0, 0, 0);       \
  } else {                                                                     \
    return __builtin_amdgcn_mfma_f32_##name##_bf8_bf8(x, y, c, 0, 0, 0);       \
  }

template <int A = kFp8, int B = kFp8>
DEV f32x4 mfma16x16x32Fp8(i32x2 a, i32x2 b, f32x4 c) {
  MODELC_MFMA_FP8(16x16x32, f32x4)
}
template <int A = kFp8, int B = kFp8>
DEV f32x16 mfma32x32x16Fp8(i32x2 a, i32x2 b,
                           f32x16 c){MODELC_MFMA_FP8(32x32x16, f32x16)}
#undef MODELC_MFMA_FP8

#if MODELC_CHIP >= 950
DEV f32x4 mfma16x16x32(bf16x8 a, bf16x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
}
DEV f32x4 mfma16x16x32(f16x8 a, f16x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
}
DEV f32x16 mfma32x32x16(bf16x8 a, bf16x8 b, f32x16 c) {
  return __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, c, 0, 0, 0);
}
DEV f32x16 mfma32x32x16(f16x8 a, f16x8 b, f32x16 c) {
  return __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, c, 0, 0, 0);
}

/// The builtins take eight registers; the compiler drops those not used.
DEV i32x8 widen(i32x8 v) { return v; }
DEV i32x8 widen(i32x6 v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, -1, -1);
}
DEV i32x8 widen(i32x4 v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, -1, -1, -1, -1);
}
/// 32 elements of a format in registers.
template <int Format, typename Operand>
constexpr bool kOperandFits =
    sizeof(Operand) == 32 || (Format >= kFp6 && sizeof(Operand) == 24) ||
    (Format == kFp4 && sizeof(Operand) == 16);

template <int A, int B, int SelectA = 0, int SelectB = 0, typename OperandA,
          typename OperandB>
DEV f32x4 mfmaScaled16x16x128(OperandA a, OperandB b, f32x4 c, int scaleA,
                              int scaleB) {
  static_assert(kOperandFits<A, OperandA> && kOperandFits<B, OperandB>);
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
      widen(a), widen(b), c, A, B, SelectA, scaleA, SelectB, scaleB);
}
template <int A, int B, int SelectA = 0, int SelectB = 0, typename OperandA,
          typename OperandB>
DEV f32x16 mfmaScaled32x32x64(OperandA a, OperandB b, f32x16 c, int scaleA,
                              int scaleB) {
  static_assert(kOperandFits<A, OperandA> && kOperandFits<B, OperandB>);
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
      widen(a), widen(b), c, A, B, SelectA, scaleA, SelectB, scaleB);
}
#endif

DEV float exp2(float x) { return __builtin_amdgcn_exp2f(x); }
DEV float log2(float x) { return __builtin_amdgcn_logf(x); }
DEV float rcp(float x) { return __builtin_amdgcn_rcpf(x); }
DEV float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
DEV float sqrt(float x) { return __builtin_amdgcn_sqrtf(x); }
DEV float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEV float max(float x, float y) { return __builtin_fmaxf(x, y); }
DEV float min(float x, float y) { return __builtin_fminf(x, y); }
DEV float abs(float x) { return __builtin_fabsf(x); }

DEV bf16 toBf16(float x) { return (bf16)x; }
DEV float toFloat(bf16 x) { return (float)x; }
DEV uint32_t packBf16(float first, float second) {
  using bf16x2 = bf16 __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(
      uint32_t, __builtin_convertvector((f32x2{first, second}), bf16x2));
}
DEV f32x2 unpackBf16(uint32_t pair) {
  return f32x2{__builtin_bit_cast(float, pair << 16),
               __builtin_bit_cast(float, pair & 0xFFFF0000)};
}

/// Conversions to 8 bits make NaN of what is too large: clamp first, keep NaN.
DEV float clampTo(float x, float most) {
  float clamped = __builtin_amdgcn_fmed3f(x, most, -most);
  return x != x ? x : clamped;
}
constexpr float kMostFp8 = MODELC_CHIP >= 950 ? 448.0f : 240.0f;
constexpr float kMostBf8 = 57344.0f;

DEV uint32_t packFp8(f32x4 v) {
  int low = __builtin_amdgcn_cvt_pk_fp8_f32(clampTo(v[0], kMostFp8),
                                            clampTo(v[1], kMostFp8), 0, false);
  return __builtin_amdgcn_cvt_pk_fp8_f32(clampTo(v[2], kMostFp8),
                                         clampTo(v[3], kMostFp8), low, true);
}
DEV uint32_t packBf8(f32x4 v) {
  int low = __builtin_amdgcn_cvt_pk_bf8_f32(clampTo(v[0], kMostBf8),
                                            clampTo(v[1], kMostBf8), 0, false);
  return __builtin_amdgcn_cvt_pk_bf8_f32(clampTo(v[2], kMostBf8),
                                         clampTo(v[3], kMostBf8), low, true);
}
DEV f32x4 unpackFp8(uint32_t v) {
  f32x2 low = __builtin_amdgcn_cvt_pk_f32_fp8((int)v, false);
  f32x2 high = __builtin_amdgcn_cvt_pk_f32_fp8((int)v, true);
  return f32x4{low[0], low[1], high[0], high[1]};
}
DEV f32x4 unpackBf8(uint32_t v) {
  f32x2 low = __builtin_amdgcn_cvt_pk_f32_bf8((int)v, false);
  f32x2 high = __builtin_amdgcn_cvt_pk_f32_bf8((int)v, true);
  return f32x4{low[0], low[1], high[0], high[1]};
}

#if MODELC_CHIP >= 950
/// Saturate by themselves. `scale` must be a power of two.
DEV uint32_t packFp4(float first, float second, float scale) {
  return __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(0, first, second, scale, 0);
}
DEV uint32_t packFp4(f32x4 first, f32x4 second, float scale) {
  uint32_t r = 0;
  r = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(r, first[0], first[1], scale, 0);
  r = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(r, first[2], first[3], scale, 1);
  r = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(r, second[0], second[1], scale,
                                               2);
  return __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(r, second[2], second[3],
                                                  scale, 3);
}
/// The results of both operands interleave.
DEV i32x6 packFp6(f32x16 even, f32x16 odd) {
  return __builtin_bit_cast(
      i32x6, __builtin_amdgcn_cvt_scalef32_2xpk16_fp6_f32(even, odd, 1.0f));
}
DEV i32x6 packBf6(f32x16 even, f32x16 odd) {
  return __builtin_bit_cast(
      i32x6, __builtin_amdgcn_cvt_scalef32_2xpk16_bf6_f32(even, odd, 1.0f));
}
template <int Half>
DEV f32x4 unpackFp4(uint32_t v, float scale) {
  f32x2 low = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(v, scale, Half * 2);
  f32x2 high = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(v, scale, Half * 2 + 1);
  return f32x4{low[0], low[1], high[0], high[1]};
}
#else
/// The exponent and mantissa of 4 bits, put where a float has them, are the
/// value over 2^126, in subnormals too.
DEV float fp4(uint32_t bits) {
  float most = __builtin_bit_cast(float, (bits & 7) << 22) * 0x1p126f;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, most) |
                                       (bits & 8) << 28);
}
template <int Half>
DEV f32x4 unpackFp4(uint32_t v, float scale) {
  v >>= Half * 16;
  return f32x4{fp4(v), fp4(v >> 4), fp4(v >> 8), fp4(v >> 12)} * scale;
}
#endif

} // namespace modelc

#endif // TARGETS_AMD_MATRIX_HIP_H
