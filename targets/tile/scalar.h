//===- scalar.h - Arithmetic of one element -------------------------------===//
//
// What regions of `map` and index arithmetic are printed with, beside C's own
// operators. Each vendor's tiles header defines before this: bf16, f8, toFloat,
// toBf16, toF8, exp2, log2, rsqrt, rcp, sqrt, fma.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_SCALAR_H
#define MODELC_TARGETS_TILE_SCALAR_H

namespace modelc {

constexpr float kInfinity = __builtin_inff(), kNaN = __builtin_nanf("");

TILE float toFloat(float x) { return x; }
TILE int maximum(int a, int b) { return a > b ? a : b; }
TILE int minimum(int a, int b) { return a < b ? a : b; }
TILE float maximum(float a, float b) { return __builtin_fmaxf(a, b); }
TILE float minimum(float a, float b) { return __builtin_fminf(a, b); }
template <class T>
TILE T maximum(T a, T b) {
  return a > b ? a : b;
}
template <class T>
TILE T minimum(T a, T b) {
  return a < b ? a : b;
}
TILE float copySign(float x, float sign) { return __builtin_copysignf(x, sign); }
TILE int minimumUnsigned(int a, int b) { return (unsigned)a < (unsigned)b ? a : b; }
TILE int maximumUnsigned(int a, int b) { return (unsigned)a > (unsigned)b ? a : b; }
TILE int shiftRight(int a, int count) { return (int)((unsigned)a >> count); }
TILE int64_t shiftRight(int64_t a, int count) { return (int64_t)((uint64_t)a >> count); }
/// Zeros before the bits of a narrower integer.
template <class To, class From>
TILE To widenUnsigned(From x) {
  constexpr int64_t mask = (1LL << (8 * smaller(sizeof(From), 4))) - 1;
  return (To)((int64_t)x & mask);
}
TILE float absolute(float x) { return __builtin_fabsf(x); }
TILE int absolute(int x) { return x < 0 ? -x : x; }
TILE float floor(float x) { return __builtin_floorf(x); }
TILE float ceil(float x) { return __builtin_ceilf(x); }
/// To the nearest, halves to even.
TILE float roundEven(float x) { return __builtin_rintf(x); }

constexpr float kLog2E = 1.44269504088896340736f, kLn2 = 0.69314718055994530942f;
TILE float exp(float x) { return exp2(x * kLog2E); }
TILE float log(float x) { return log2(x) * kLn2; }
TILE float tanhOf(float x) {
  const float e = exp2(absolute(x) * (-2 * kLog2E));
  return __builtin_copysignf((1 - e) / (1 + e), x);
}
TILE float power(float x, float y) { return exp2(y * log2(x)); }
/// Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7.
TILE float erf(float x) {
  const float a = absolute(x), t = 1 / (1 + 0.3275911f * a);
  const float sum =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  return __builtin_copysignf(1 - sum * exp(-a * a), x);
}
/// Reduces the angle in two steps of a product that is exact to far beyond
/// 2^20 turns' worth of error of one float; then a polynomial on a quarter turn.
TILE float sinOfQuarters(float angle, int quarters) {
  const float turns = roundEven(angle * 0.636619772f);
  float x = fma(turns, -1.5707963705f, angle);
  x = fma(turns, 4.3711388e-8f, x);
  const int quadrant = ((int)turns + quarters) & 3;
  const float z = x * x;
  const float s = fma(fma(fma(2.6083159e-6f, z, -1.981069e-4f), z, 8.3330255e-3f), z, -1.6666667e-1f);
  const float c = fma(fma(fma(2.4433157e-5f, z, -1.3887316e-3f), z, 4.1666646e-2f), z, -0.5f);
  const float y = quadrant & 1 ? fma(c, z, 1.0f) : fma(s * z, x, x);
  return quadrant & 2 ? -y : y;
}
TILE float sin(float angle) { return sinOfQuarters(angle, 0); }
TILE float cos(float angle) { return sinOfQuarters(angle, 1); }

template <class To, class From>
TILE To bitsAs(From value) {
  return __builtin_bit_cast(To, value);
}

TILE int ceilDiv(int a, int b) { return (a + b - 1) / b; }
TILE int floorDiv(int a, int b) { return a / b - (a % b != 0 && (a ^ b) < 0); }

} // namespace modelc

#endif // MODELC_TARGETS_TILE_SCALAR_H
