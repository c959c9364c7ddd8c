//===- numbers.h - Numbers of tensors in host memory ----------------------===//
#ifndef MODELC_HOST_NUMBERS_H
#define MODELC_HOST_NUMBERS_H

#include "launch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace modelc_host {

/// The largest number of E4M3FN, which a row's largest magnitude becomes.
constexpr float kLargestE4M3 = 448;

/// The largest number of E2M1; its power of two and the smallest of E8M0, as
/// exponents.
constexpr float kLargestE2M1 = 6, kLargestE2M3 = 7.5f;
constexpr int kSmallestScale = -127;

/// Numbers of one element of an mc_type.
inline int numbersOf(int32_t type) {
  switch (type) {
  case MC_F4E2M1FNX2:
  case MC_BF16X2:
  case MC_F16X2:
  case MC_F32X2:
  case MC_I64X2:
    return 2;
  case MC_F8E8M0FNUX4:
  case MC_F8E4M3FNX4:
    return 4;
  case MC_F6E2M3FNX32:
  case MC_BF16X32:
  case MC_F16X32:
  case MC_F32X32:
    return 32;
  default:
    return 1;
  }
}

/// The power of 2 below a number that is not negative; at least `smallest`.
inline int exponentOf(float size, int smallest) {
  int exponent = 0;
  std::frexp(size, &exponent);
  return size == 0 || exponent - 1 < smallest ? smallest : exponent - 1;
}

/// Rounded to nearest even, saturated.
inline uint8_t toE4M3(float x) {
  const int sign = std::signbit(x) ? 0x80 : 0;
  const float size = std::fabs(x);
  if (std::isnan(x)) {
    return uint8_t(sign | 0x7F);
  }
  if (size >= kLargestE4M3) {
    return uint8_t(sign | 0x7E);
  }
  const int exponent = exponentOf(size, -6);
  const int units = int(std::nearbyint(std::ldexp(size, 3 - exponent)));
  return uint8_t(sign | (((exponent + 6) << 3) + units));
}

inline float fromE4M3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const float size = (bits & 0x7F) == 0x7F
                         ? std::numeric_limits<float>::quiet_NaN()
                     : exponent ? std::ldexp(float(8 + mantissa), exponent - 10)
                                : std::ldexp(float(mantissa), -9);
  return bits & 0x80 ? -size : size;
}

/// Rounded to nearest even, saturated at 6.
inline uint8_t toE2M1(float x) {
  const int sign = std::signbit(x) ? 8 : 0;
  const float size = std::fabs(x);
  if (!(size < 6)) {
    return uint8_t(sign | 7);
  }
  const int exponent = exponentOf(size, 0);
  const int units = int(std::nearbyint(std::ldexp(size, 1 - exponent)));
  return uint8_t(sign | ((exponent << 1) + units));
}

inline float fromE2M1(int bits) {
  const int exponent = bits >> 1 & 3, mantissa = bits & 1;
  const float size = exponent ? std::ldexp(float(2 + mantissa), exponent - 2)
                              : float(mantissa) / 2;
  return bits & 8 ? -size : size;
}

/// Rounded to nearest even, saturated at 7.5.
inline uint8_t toE2M3(float x) {
  const int sign = std::signbit(x) ? 32 : 0;
  const float size = std::fabs(x);
  if (!(size < kLargestE2M3)) {
    return uint8_t(sign | 31);
  }
  const int exponent = exponentOf(size, 0);
  const int units = int(std::nearbyint(std::ldexp(size, 3 - exponent)));
  return uint8_t(sign | ((exponent << 3) + units));
}

inline float fromE2M3(int bits) {
  const int exponent = bits >> 3 & 3, mantissa = bits & 7;
  const float size = exponent ? std::ldexp(float(8 + mantissa), exponent - 4)
                              : float(mantissa) / 8;
  return bits & 32 ? -size : size;
}

/// Number `index` of a block in 24 bytes lies in two of them.
inline int sixBits(const char *block, int index) {
  const int byte = 6 * index / 8;
  const int both = uint8_t(block[byte]) | uint8_t(block[byte + (byte < 23)])
                                              << 8;
  return both >> (6 * index % 8) & 63;
}

/// Of a power of two.
inline uint8_t toE8M0(float scale) {
  return uint8_t(std::isnan(scale) ? 0xFF : exponentOf(scale, -127) + 127);
}

inline float fromE8M0(uint8_t bits) {
  return bits == 0xFF ? std::numeric_limits<float>::quiet_NaN()
                      : std::ldexp(1.0f, bits - 127);
}

/// The FNUZ number of half the value: the same bits, but that zero has no sign
/// and NaN is what would be minus zero.
inline uint8_t toFnuz(uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? 0x80 : bits == 0x80 ? 0 : bits;
}

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint16_t toBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) {
    return uint16_t(bits >> 16 | 0x40);
  }
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// Rounded to nearest even.
inline uint16_t toF16(float x) {
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  const float size = std::fabs(x);
  if (std::isnan(x) || size >= 65520) {
    return uint16_t(sign | (std::isnan(x) ? 0x7E00 : 0x7C00));
  }
  const int exponent = exponentOf(size, -14);
  const int units = int(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return uint16_t(sign | uint32_t(((exponent + 14) << 10) + units));
}

inline float fromF16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float size =
      exponent == 31 ? bitsToFloat(0x7F800000u | uint32_t(mantissa) << 13)
      : exponent     ? std::ldexp(float(1024 + mantissa), exponent - 25)
                     : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -size : size;
}

/// Number `index` of a tensor in host memory.
inline float elementOf(const mc_tensor &tensor, int64_t index) {
  const int packed = numbersOf(tensor.type);
  const char *at = static_cast<const char *>(tensor.data) +
                   index / packed * elementBytes(tensor.type);
  uint32_t word = 0;
  std::memcpy(&word, at, size_t(std::min(elementBytes(tensor.type), 4)));
  switch (tensor.type) {
  case MC_BF16:
    return bitsToFloat(word << 16);
  case MC_F16:
    return fromF16(uint16_t(word));
  case MC_F8E4M3FN:
    return fromE4M3(uint8_t(word));
  case MC_F8E8M0FNU:
    return fromE8M0(uint8_t(word));
  case MC_F6E2M3FNX32:
    return fromE2M3(sixBits(at, int(index % packed)));
  case MC_F4E2M1FNX2:
    return fromE2M1(int(word >> (4 * (index % packed)) & 15));
  default:
    return bitsToFloat(word);
  }
}

} // namespace modelc_host

#endif // MODELC_HOST_NUMBERS_H
