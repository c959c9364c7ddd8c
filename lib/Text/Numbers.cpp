#include "lib/Text/Text.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>
#include <cmath>

namespace modelc {

/// Between these all digits are easier to read than an exponent.
static constexpr double kLeastPlain = 1e-3, kMostPlain = 1e15;

template <typename Float>
static std::string shortest(Float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  const bool isWhole = magnitude < 0x1p63 && std::trunc(value) == value;
  const bool isPlain =
      isWhole || (magnitude >= kLeastPlain && magnitude < kMostPlain);
  char digits[64];
  const std::to_chars_result end = std::to_chars(
      digits, digits + sizeof digits, value,
      isPlain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(digits, end.ptr);
}

std::string exactNumber(double value) { return shortest(value); }
std::string exactNumber(float value) { return shortest(value); }

/// Digits alone get a point; "inf" and "nan" are no digits.
static std::string withPoint(std::string text) {
  const bool isWhole = text.find_first_of(".en") == std::string::npos;
  return isWhole ? text + ".0" : text;
}

std::string exactReal(double value) { return withPoint(shortest(value)); }
std::string exactReal(float value) { return withPoint(shortest(value)); }

void writeNumber(llvm::json::OStream &json, double value) {
  if (!std::isfinite(value)) {
    json.value(nullptr);
    return;
  }
  json.rawValue(exactNumber(value));
}

void writeNumber(llvm::json::OStream &json, llvm::StringRef key, double value) {
  json.attributeBegin(key);
  writeNumber(json, value);
  json.attributeEnd();
}

} // namespace modelc
