// Compares the emulator's number formats with LLVM's: every pattern one way,
// and the other way every number, every midpoint between two and the floats
// next to it, and random floats.

#include "targets/emulator/numbers.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <random>
#include <vector>

using llvm::APFloat;
using namespace emulator;

static int failures = 0;

static void expectSame(llvm::StringRef what, double input, uint32_t got,
                       uint32_t expected) {
  if (got != expected && ++failures < 20) {
    llvm::errs() << what << " of " << input << ": got " << got << ", expected "
                 << expected << "\n";
  }
}

/// The pattern of `value` in LLVM's format.
static uint32_t reference(const llvm::fltSemantics &semantics, float value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return uint32_t(number.bitcastToAPInt().getZExtValue());
}

/// Floats worth trying in a format with these values.
static std::vector<float> candidates(std::vector<float> values) {
  std::erase_if(values, [](float v) { return !std::isfinite(v); });
  std::sort(values.begin(), values.end());
  float most = values.back();
  values.push_back(most * 2);
  values.push_back(most * 1.0001f);
  values.push_back(std::numeric_limits<float>::max());
  values.push_back(std::numeric_limits<float>::denorm_min());
  size_t count = values.size();
  for (size_t i = 0; i + 1 < count; ++i) {
    float middle = float((double(values[i]) + values[i + 1]) / 2);
    values.push_back(middle);
    values.push_back(std::nextafterf(middle, INFINITY));
    values.push_back(std::nextafterf(middle, -INFINITY));
  }
  std::mt19937 generator(7);
  for (int i = 0; i < 200000; ++i) {
    float any = llvm::bit_cast<float>(uint32_t(generator()));
    float near = most * 2 * (float(generator()) / 4294967296.0f - 0.5f);
    values.push_back(std::isfinite(any) ? any : near);
    values.push_back(near);
  }
  return values;
}

static void test(llvm::StringRef name, const Format &format,
                 const llvm::fltSemantics &semantics) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 1u << format.bits(); ++bits) {
    APFloat number(semantics, llvm::APInt(format.bits(), bits));
    float expected = number.convertToFloat(), got = decode(format, bits);
    if (!(std::isnan(expected) && std::isnan(got))) {
      expectSame(name, bits, llvm::bit_cast<uint32_t>(got),
                 llvm::bit_cast<uint32_t>(expected));
    }
    values.push_back(got);
  }
  float most = decode(format, format.most());
  for (float value : candidates(values)) {
    uint32_t got = encode(format, value);
    expectSame(name, value, got, reference(semantics, value));
    uint32_t saturated = encode(format, value, Overflow::Saturate);
    bool beyond = got != saturated;
    expectSame("saturated", value, saturated,
               beyond ? encode(format, std::copysign(most, value)) : got);
    if (beyond && std::fabs(value) <= most) {
      expectSame("saturation", value, 1, 0);
    }
  }
  if (format.special != Special::None) {
    expectSame("NaN", 0, std::isnan(decode(format, encode(format, NAN))), 1);
    expectSame("infinity", 0, encode(format, INFINITY),
               reference(semantics, INFINITY));
  }
  llvm::outs() << name << " agrees: " << (failures == 0 ? "yes" : "no") << "\n";
}

static void testBf16() {
  std::mt19937 generator(7);
  for (int i = 0; i < 2000000; ++i) {
    uint32_t bits =
        i < 65536 ? uint32_t(i) << 16 | (i % 3 << 15) : uint32_t(generator());
    float value = llvm::bit_cast<float>(bits);
    if (std::isnan(value)) {
      expectSame("bf16 NaN", bits, std::isnan(fromBf16(toBf16(value))), 1);
    } else {
      expectSame("bf16", value, toBf16(value),
                 reference(APFloat::BFloat(), value));
    }
  }
  llvm::outs() << "bf16 agrees: " << (failures == 0 ? "yes" : "no") << "\n";
}

static void testE8M0() {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 255; ++bits) {
    APFloat number(APFloat::Float8E8M0FNU(), llvm::APInt(8, bits));
    expectSame("e8m0", bits, llvm::bit_cast<uint32_t>(fromE8M0(bits)),
               llvm::bit_cast<uint32_t>(number.convertToFloat()));
    expectSame("to e8m0", bits, toE8M0(fromE8M0(bits)), bits);
    values.push_back(fromE8M0(bits));
  }
  for (float value : candidates(values)) {
    if (value >= values.front() && value <= values.back()) {
      expectSame("to e8m0", value, toE8M0(value),
                 reference(APFloat::Float8E8M0FNU(), value));
    }
  }
  expectSame("e8m0 NaN", 0, std::isnan(fromE8M0(toE8M0(NAN))), 1);
  llvm::outs() << "e8m0 agrees: " << (failures == 0 ? "yes" : "no") << "\n";
}

int main() {
  test("f16", kF16, APFloat::IEEEhalf());
  test("e4m3", kE4M3, APFloat::Float8E4M3FN());
  test("e4m3 fnuz", kE4M3Fnuz, APFloat::Float8E4M3FNUZ());
  test("e5m2", kE5M2, APFloat::Float8E5M2());
  test("e5m2 fnuz", kE5M2Fnuz, APFloat::Float8E5M2FNUZ());
  test("e3m2", kE3M2, APFloat::Float6E3M2FN());
  test("e2m3", kE2M3, APFloat::Float6E2M3FN());
  test("e2m1", kE2M1, APFloat::Float4E2M1FN());
  testBf16();
  testE8M0();
  return failures != 0;
}
