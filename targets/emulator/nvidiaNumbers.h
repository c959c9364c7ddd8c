// Number formats as the instructions convert them, and their arithmetic.
#ifndef TARGETS_EMULATOR_NVIDIANUMBERS_H
#define TARGETS_EMULATOR_NVIDIANUMBERS_H

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace emulator::nvidia {

inline float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// To nearest, ties to even; every NaN becomes 0x7FFF, as cvt.rn does.
inline uint16_t floatToBf16(float value) {
  if (value != value) {
    return 0x7FFF;
  }
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// Sign, 4 bits of exponent with bias 7, 3 of mantissa; 0x7F is NaN, no
/// infinity.
inline float decodeE4m3(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float magnitude = (bits & 0x7F) == 0x7F ? NAN
                    : exponent == 0
                        ? std::ldexp(float(mantissa), -9)
                        : std::ldexp(float(8 + mantissa), exponent - 10);
  return std::copysign(magnitude, bits & 0x80 ? -1.0f : 1.0f);
}
inline float e4m3ToFloat(uint8_t bits) {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values;
    for (int i = 0; i < 256; ++i) {
      values[i] = decodeE4m3(uint8_t(i));
    }
    return values;
  }();
  return table[bits];
}

/// To nearest, ties to even, saturated at 448; NaN becomes 0x7F.
inline uint8_t floatToE4m3(float value) {
  if (value != value) {
    return 0x7F;
  }
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  float magnitude = std::fabs(value);
  if (magnitude >= 448.0f) {
    return sign | 0x7E;
  }
  int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -6, -6);
  int steps = int(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  // 8 .. 16 steps of 2^(exponent - 3); 16 carries into the exponent by itself.
  return sign | uint8_t(((exponent + 6) << 3) + steps);
}

/// Subnormal results become zero, as .ftz says.
inline float flush(float value) {
  return std::fabs(value) < FLT_MIN ? std::copysign(0.0f, value) : value;
}

} // namespace emulator::nvidia

#endif // TARGETS_EMULATOR_NVIDIANUMBERS_H
