//===- PtxConvert.cpp - From one type to another --------------------------===//

#include "lib/Check/Formats.h"
#include "lib/Check/Ptx/PtxLanes.h"

using namespace modelc::ptx;
using check::Format;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
enum class Rounding : uint8_t { None, Nearest, Zero, Down, Up };
} // namespace

static float halfToFloat(uint16_t bits) {
  return check::valuesOf(Format::F16)[bits];
}
static uint16_t floatToHalf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  return std::bit_cast<uint16_t>(half);
}

/// Sign-extends or zero-extends a source of an integer type.
static int64_t integerOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::U8:
    return int64_t(uint8_t(bits));
  case Type::S8:
    return int8_t(bits);
  case Type::U16:
    return int64_t(uint16_t(bits));
  case Type::S16:
    return int16_t(bits);
  case Type::U32:
    return int64_t(uint32_t(bits));
  case Type::S32:
    return int32_t(bits);
  default:
    return int64_t(bits);
  }
}

static double floatOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16:
    return double(halfToFloat(uint16_t(bits)));
  case Type::Bf16:
    return double(check::bf16ToFloat(uint16_t(bits)));
  case Type::F32:
    return double(std::bit_cast<float>(uint32_t(bits)));
  default:
    return std::bit_cast<double>(bits);
  }
}

static uint64_t floatBits(Type type, double value) {
  switch (type) {
  case Type::F16:
    return floatToHalf(float(value));
  case Type::Bf16:
    return check::floatToBf16(float(value));
  case Type::F32:
    return std::bit_cast<uint32_t>(float(value));
  default:
    return std::bit_cast<uint64_t>(value);
  }
}

static double rounded(Rounding rounding, double value) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::None:
    break;
  }
  return value;
}

/// A float as an integer of a type, the nearest one where it is too large.
static uint64_t saturated(Type type, double value) {
  unsigned bits = 8 * bytesOf(type);
  if (std::isnan(value)) {
    return bits == 64 ? uint64_t(1) << 63 : 0;
  }
  if (isSigned(type)) {
    double end = std::ldexp(1.0, int(bits) - 1);
    int64_t largest = int64_t((uint64_t(1) << (bits - 1)) - 1);
    return uint64_t(value >= end    ? largest
                    : value <= -end ? -largest - 1
                                    : int64_t(value));
  }
  double end = std::ldexp(1.0, int(bits));
  return value >= end ? ~uint64_t(0) >> (64 - bits)
         : value <= 0 ? 0
                      : uint64_t(value);
}

/// An integer in a type, the nearest one where it is too large.
static int64_t clamped(Type to, Type from, int64_t value) {
  if (!isSigned(from) && value < 0) {
    value = std::numeric_limits<int64_t>::max(); // 64 bits without a sign
  }
  unsigned bits = 8 * bytesOf(to);
  int64_t most = isSigned(to)
                     ? int64_t((uint64_t(1) << (bits - 1)) - 1)
                     : (bits == 64 ? std::numeric_limits<int64_t>::max()
                                   : int64_t((uint64_t(1) << bits) - 1));
  int64_t least = isSigned(to) ? -most - 1 : 0;
  return std::min(std::max(value, least), most);
}

static uint64_t convert(const Instruction &i, uint64_t bits) {
  bool saturates = i.shape[0] != 0;
  auto rounding = Rounding(i.how);
  if (isFloat(i.from)) {
    double value = floatOf(i.from, bits);
    if (i.flush && i.from == Type::F32) {
      value = double(flushed(float(value)));
    }
    if (!isFloat(i.type)) {
      return saturated(i.type, rounded(rounding, value));
    }
    value = rounded(rounding, value);
    if (saturates) {
      value = value > 1 ? 1 : value > 0 ? value : 0;
    }
    return floatBits(i.type, value);
  }
  int64_t value = integerOf(i.from, bits);
  if (!isFloat(i.type)) {
    value = saturates ? clamped(i.type, i.from, value) : value;
    // A wider register is filled as the type says.
    return uint64_t(integerOf(i.type, uint64_t(value)));
  }
  bool isUnsigned = i.from == Type::U64 && value < 0;
  if (i.type == Type::F32) {
    return std::bit_cast<uint32_t>(isUnsigned ? float(uint64_t(value))
                                              : float(value));
  }
  return floatBits(i.type,
                   isUnsigned ? double(uint64_t(value)) : double(value));
}

static void convertLanes(Warp &warp, const Instruction &i) {
  bool narrow = i.operands[0].bytes == 4 && bytesOf(i.type) < 4;
  uint64_t keep = narrow && !isSigned(i.type)
                      ? (uint64_t(1) << 8 * bytesOf(i.type)) - 1
                      : ~uint64_t(0);
  keep = i.type == Type::S16 ? 0xFFFF : keep; // as registers of 16 bits are
  bool wide = bytesOf(i.from) == 8;
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t from = wide ? warp.row<uint64_t>(i.operands[1])[lane]
                         : warp.value(i.operands[1], lane);
    warp.setValue(i.operands[0], lane, convert(i, from) & keep);
  });
}

/// Two floats to a pair: the first operand becomes the upper half.
template <uint32_t (*Encode)(float), unsigned Bits>
static void packPair(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const auto *high = warp.row<uint32_t>(i.operands[1]);
  const auto *low = warp.row<uint32_t>(i.operands[2]);
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] = Encode(std::bit_cast<float>(high[lane])) << Bits |
              Encode(std::bit_cast<float>(low[lane]));
  });
}

static uint32_t toBf16(float value) { return check::floatToBf16(value); }
static uint32_t toF16(float value) { return floatToHalf(value); }

/// As `.satfinite` says: what is too large becomes the largest.
template <Format To, int Largest>
static uint32_t toSmall(float value) {
  if (std::isnan(value)) {
    return check::encode(To, value) & ((1u << check::bitsOf(To)) - 1);
  }
  return check::encode(
      To, std::fmin(std::fmax(value, -float(Largest)), float(Largest)));
}

/// A power of two at least as large, as an exponent of 8 bits.
static uint32_t toExponent(float value) {
  if (std::isnan(value)) {
    return 0xFF;
  }
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t exponent = bits >> 23 & 0xFF;
  exponent += (bits & 0x7FFFFF) != 0;
  return bits >> 31 ? 0 : std::min(exponent, 254u);
}

/// A pair of small floats to a pair of 16 bits.
template <Format From, unsigned Bits>
static void unpackPair(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const auto *a = warp.row<uint32_t>(i.operands[1]);
  const float *values = check::valuesOf(From);
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t low = a[lane] & ((1u << Bits) - 1);
    uint32_t high = a[lane] >> Bits & ((1u << Bits) - 1);
    d[lane] = floatToHalf(values[low]) | uint32_t(floatToHalf(values[high]))
                                             << 16;
  });
}

static Handler pairHandler(StringRef to, StringRef from) {
  if (from == "f32") {
    return to == "bf16x2"    ? packPair<toBf16, 16>
           : to == "f16x2"   ? packPair<toF16, 16>
           : to == "e4m3x2"  ? packPair<toSmall<Format::E4M3, 448>, 8>
           : to == "e5m2x2"  ? packPair<toSmall<Format::E5M2, 57344>, 8>
           : to == "e2m1x2"  ? packPair<toSmall<Format::E2M1, 6>, 4>
           : to == "ue8m0x2" ? packPair<toExponent, 8>
                             : nullptr;
  }
  if (to == "f16x2") {
    return from == "e4m3x2"   ? unpackPair<Format::E4M3, 8>
           : from == "e5m2x2" ? unpackPair<Format::E5M2, 8>
           : from == "e2m1x2" ? unpackPair<Format::E2M1, 4>
                              : nullptr;
  }
  return nullptr;
}

static bool decodeConvert(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Vector;
  if (modifiers.size() < 2) {
    return false;
  }
  StringRef to = modifiers[modifiers.size() - 2], from = modifiers.back();
  if ((i.handler = pairHandler(to, from))) {
    return true;
  }
  i.type = typeNamed(to);
  i.from = typeNamed(from);
  i.how = uint8_t(has(modifiers, "rni")   ? Rounding::Nearest
                  : has(modifiers, "rzi") ? Rounding::Zero
                  : has(modifiers, "rmi") ? Rounding::Down
                  : has(modifiers, "rpi") ? Rounding::Up
                                          : Rounding::None);
  i.shape[0] = has(modifiers, "sat") || has(modifiers, "satfinite");
  bool directed = has(modifiers, "rz") || has(modifiers, "rm") ||
                  has(modifiers, "rp") || has(modifiers, "relu");
  if (i.type == Type::None || i.from == Type::None || directed) {
    return false;
  }
  i.handler = convertLanes;
  return true;
}

void modelc::ptx::addConvert(Decoders &to) { to["cvt"] = decodeConvert; }
