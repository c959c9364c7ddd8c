// Small number formats: to float and back, round to nearest, ties to even.
#ifndef TARGETS_EMULATOR_NUMBERS_H
#define TARGETS_EMULATOR_NUMBERS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace emulator {

/// Which bit patterns are not finite numbers.
enum class Special {
  Ieee,   // the largest exponent: infinity and NaN
  NanAll, // only the pattern of all ones (but the sign)
  NanNeg, // only minus zero; there is no negative zero (FNUZ)
  None,
};

/// A format of sign, exponent and mantissa bits, at most 16 in all.
struct Format {
  int exponentBits, mantissaBits, bias;
  Special special;
  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint32_t sign() const { return 1u << (bits() - 1); }
  /// The pattern of the largest finite number.
  constexpr uint32_t most() const {
    uint32_t all = sign() - 1;
    return special == Special::Ieee     ? all - (1u << mantissaBits)
           : special == Special::NanAll ? all - 1
                                        : all;
  }
};

constexpr Format kF16{5, 10, 15, Special::Ieee};
constexpr Format kBf16{8, 7, 127, Special::Ieee};
constexpr Format kE4M3{4, 3, 7, Special::NanAll};
constexpr Format kE4M3Fnuz{4, 3, 8, Special::NanNeg};
constexpr Format kE5M2{5, 2, 15, Special::Ieee};
constexpr Format kE5M2Fnuz{5, 2, 16, Special::NanNeg};
constexpr Format kE3M2{3, 2, 3, Special::None};
constexpr Format kE2M3{2, 3, 1, Special::None};
constexpr Format kE2M1{2, 1, 1, Special::None};

/// The value of a bit pattern.
constexpr float decode(const Format &format, uint32_t bits) {
  uint32_t magnitude = bits & (format.sign() - 1);
  bool negative = bits & format.sign();
  if (format.special == Special::NanNeg && negative && magnitude == 0) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (magnitude > format.most()) {
    bool infinite =
        format.special == Special::Ieee && magnitude == format.most() + 1;
    float value = infinite ? std::numeric_limits<float>::infinity()
                           : std::numeric_limits<float>::quiet_NaN();
    return negative ? -value : value;
  }
  int exponent = int(magnitude >> format.mantissaBits);
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  if (exponent > 0) {
    mantissa |= 1u << format.mantissaBits;
  } else {
    exponent = 1;
  }
  float value = float(mantissa);
  for (int e = exponent - format.bias - format.mantissaBits; e != 0;
       e += e < 0 ? 1 : -1) {
    value *= e < 0 ? 0.5f : 2.0f;
  }
  return negative ? -value : value;
}

/// What becomes of a number beyond the largest.
enum class Overflow {
  Saturate, // the largest number
  Special,  // infinity, or NaN where there is none
};

/// The pattern nearest to `value`. NaN stays NaN; a format without one gets its
/// largest number.
inline uint32_t encode(const Format &format, float value,
                       Overflow overflow = Overflow::Special) {
  uint32_t sign = std::signbit(value) ? format.sign() : 0;
  uint32_t nan = format.special == Special::NanNeg ? format.sign()
                 : format.special == Special::None ? sign | format.most()
                                                   : sign | (format.sign() - 1);
  if (std::isnan(value)) {
    return nan;
  }
  double size = std::fabs(double(value));
  uint32_t magnitude = format.most() + 1;
  if (!std::isinf(value)) {
    int smallest = 1 - format.bias;
    int exponent = size == 0 ? smallest : std::max(std::ilogb(size), smallest);
    double units = std::ldexp(size, format.mantissaBits - exponent);
    magnitude = uint32_t(exponent - smallest) << format.mantissaBits;
    magnitude += uint32_t(std::nearbyint(units));
  }
  if (magnitude > format.most()) {
    if (overflow == Overflow::Saturate || format.special == Special::None) {
      return sign | format.most();
    }
    return format.special == Special::Ieee ? sign | (format.most() + 1) : nan;
  }
  if (format.special == Special::NanNeg && magnitude == 0) {
    return 0;
  }
  return sign | magnitude;
}

/// bf16 is the upper half of a float.
inline float fromBf16(uint16_t bits) {
  return __builtin_bit_cast(float, uint32_t(bits) << 16);
}
inline uint16_t toBf16(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) {
    return uint16_t(bits >> 16 | 0x40); // a quiet NaN
  }
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// E8M0: a power of two, or NaN.
inline float fromE8M0(uint32_t bits) {
  return bits == 0xFF ? std::numeric_limits<float>::quiet_NaN()
                      : std::ldexp(1.0f, int(bits) - 127);
}
/// The nearest power of two (half way: the larger, as LLVM has it); of numbers
/// that are not positive, and of NaN, NaN.
inline uint32_t toE8M0(float value) {
  if (!(value > 0)) {
    return 0xFF;
  }
  int exponent;
  float half = std::frexp(value, &exponent); // in [0.5, 1)
  int bits = exponent - 1 + 127;
  if (std::isinf(value)) {
    return 0xFF;
  }
  bits += half >= 0.75f;
  return bits < 0 ? 0 : bits > 0xFE ? 0xFF : uint32_t(bits);
}

/// The values of all patterns of a format of up to 8 bits.
template <const Format &Of>
struct Values {
  float of[1 << Of.bits()];
  Values() {
    for (uint32_t i = 0; i < 1u << Of.bits(); ++i) {
      of[i] = decode(Of, i);
    }
  }
};
template <const Format &Of>
inline const Values<Of> kValues;

} // namespace emulator

// The compiler calls this to make a bf16 of a float; older runtime libraries do
// not have it.
extern "C" {
__attribute__((weak, used)) inline __bf16 __truncsfbf2(float value) {
  return __builtin_bit_cast(__bf16, emulator::toBf16(value));
}
}

#endif // TARGETS_EMULATOR_NUMBERS_H
