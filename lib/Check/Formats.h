//===- Formats.h - Number formats of 4 to 16 bits -------------------------===//

#ifndef LIB_CHECK_FORMATS_H
#define LIB_CHECK_FORMATS_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace modelc::check {

/// Formats of matrix operands and conversions.
enum class Format : uint8_t {
  E4M3, // of the OCP
  E5M2,
  E2M3,
  E3M2,
  E2M1,
  E4M3Fnuz, // without negative zero
  E5M2Fnuz,
  F16,
  Bf16,
  F32,
};
unsigned bitsOf(Format format);
/// The values of all patterns of a format of up to 16 bits.
const float *valuesOf(Format format);
/// The nearest pattern of a format of up to 8 bits, ties to even; what is too
/// large becomes infinity, NaN or, where there is neither, the largest.
uint32_t encode(Format format, float value);

inline float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}
inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) {
    return uint16_t(bits >> 16 | 0x40);
  }
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

} // namespace modelc::check

#endif // LIB_CHECK_FORMATS_H
