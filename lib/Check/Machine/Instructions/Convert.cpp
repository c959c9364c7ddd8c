//===- Convert.cpp - Conversions between number formats -------------------===//

#include "lib/Check/Formats.h"
#include "lib/Check/Machine/Lanes.h"
#include <limits>

using namespace modelc::check;

using F = float;
using D = double;
using U = uint32_t;
using S = int32_t;
using L = uint64_t;

/// Toward zero; beyond the ends, the end; NaN is 0.
template <typename T, typename From>
static T toInteger(From value) {
  if (std::isnan(value)) {
    return 0;
  }
  double whole = std::trunc(double(value));
  if (whole <= double(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  if (whole >= double(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return T(whole);
}

/// Toward zero.
static uint16_t truncateToHalf(float value) {
  uint16_t nearest = floatToHalf(value);
  if (std::isnan(value) ||
      std::fabs(halfToFloat(nearest)) <= std::fabs(value)) {
    return nearest;
  }
  return uint16_t(nearest - 1);
}

static U pair(U low, U high) { return low | high << 16; }

static void addStandard(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_cvt_" + name).str()] = {run, Kind::Vector, {}};
  };
  add("f32_u32", lanes<[](U a) { return F(a); }, F, U>);
  add("f32_i32", lanes<[](S a) { return F(a); }, F, S>);
  add("u32_f32", lanes<toInteger<U, F>, U, F>);
  add("i32_f32", lanes<toInteger<S, F>, S, F>);
  add("f64_i32", lanes<[](S a) { return D(a); }, D, S>);
  add("f64_u32", lanes<[](U a) { return D(a); }, D, U>);
  add("i32_f64", lanes<toInteger<S, D>, S, D>);
  add("u32_f64", lanes<toInteger<U, D>, U, D>);
  add("f32_f64", lanes<[](D a) { return F(a); }, F, D>);
  add("f64_f32", lanes<[](F a) { return D(a); }, D, F>);
  add("f16_f32", lanes<[](F a) { return Half{a}; }, Half, F>);
  add("f32_f16", lanes<[](Half a) { return a.value; }, F, Half>);
  add("f32_bf16", lanes<bf16ToFloat, F, uint16_t>);
  add("f16_u16", lanes<[](uint16_t a) { return Half{F(a)}; }, Half, uint16_t>);
  add("f16_i16", lanes<[](int16_t a) { return Half{F(a)}; }, Half, int16_t>);
  add("rpi_i32_f32",
      lanes<[](F a) { return toInteger<S, F>(std::floor(a + 0.5f)); }, S, F>);
  add("flr_i32_f32",
      lanes<[](F a) { return toInteger<S, F>(std::floor(a)); }, S, F>);
  add("f32_ubyte0", lanes<[](U a) { return F(a & 0xFF); }, F, U>);
  add("f32_ubyte1", lanes<[](U a) { return F(a >> 8 & 0xFF); }, F, U>);
  add("f32_ubyte2", lanes<[](U a) { return F(a >> 16 & 0xFF); }, F, U>);
  add("f32_ubyte3", lanes<[](U a) { return F(a >> 24); }, F, U>);
  add("pkrtz_f16_f32",
      lanes<[](F a, F b) { return pair(truncateToHalf(a), truncateToHalf(b)); },
            U, F, F>);
  add("pk_bf16_f32",
      lanes<[](F a, F b) { return pair(floatToBf16(a), floatToBf16(b)); }, U, F,
            F>);
  add("pk_f16_f32",
      lanes<[](F a, F b) { return pair(floatToHalf(a), floatToHalf(b)); }, U, F,
            F>);
}

/// d = halves of two sources, or a constant of 16 bits.
static U packHalves(Half a, Half b) {
  return pair(floatToHalf(a.value), floatToHalf(b.value));
}

/// Chooses between the 8-bit formats of the processor.
template <Handler Open, Handler Other>
static void byProcessor(Wave &wave, const Instruction &i) {
  (wave.group->launch->openFormats ? Open : Other)(wave, i);
}

template <Format Of>
static L unpackTwo(U word) {
  const float *values = valuesOf(Of);
  return std::bit_cast<U>(values[word & 0xFF]) |
         L(std::bit_cast<U>(values[word >> 8 & 0xFF])) << 32;
}
template <Format Of>
static float unpackOne(U word) {
  return valuesOf(Of)[word & 0xFF];
}

/// d.half = two bytes; op_sel of the destination says which half.
template <Format Of>
static void packTwo(Wave &wave, const Instruction &i) {
  Source a = sourceOf(wave, i.operands[1]), b = sourceOf(wave, i.operands[2]);
  unsigned shift = i.modifiers.select >> 2 & 1 ? 16 : 0;
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      U both = encode(Of, readLane<F>(a, lane)) |
               encode(Of, readLane<F>(b, lane)) << 8;
      to[lane] = (to[lane] & ~(0xFFFFu << shift)) | both << shift;
    }
  }
}

static void addBytes(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_cvt_" + name).str()] = {run, Kind::Vector, {}};
  };
  using enum Format;
  add("pk_f32_fp8", byProcessor<lanes<unpackTwo<E4M3>, L, U>,
                                lanes<unpackTwo<E4M3Fnuz>, L, U>>);
  add("pk_f32_bf8", byProcessor<lanes<unpackTwo<E5M2>, L, U>,
                                lanes<unpackTwo<E5M2Fnuz>, L, U>>);
  add("f32_fp8", byProcessor<lanes<unpackOne<E4M3>, F, U>,
                             lanes<unpackOne<E4M3Fnuz>, F, U>>);
  add("f32_bf8", byProcessor<lanes<unpackOne<E5M2>, F, U>,
                             lanes<unpackOne<E5M2Fnuz>, F, U>>);
  add("pk_fp8_f32", byProcessor<packTwo<E4M3>, packTwo<E4M3Fnuz>>);
  add("pk_bf8_f32", byProcessor<packTwo<E5M2>, packTwo<E5M2Fnuz>>);
}

/// The power of two that a scale is: only its exponent counts.
static float powerOf(U scale) {
  U exponent = scale >> 23 & 0xFF;
  return exponent == 0xFF ? NAN : std::ldexp(1.0f, int(exponent) - 127);
}

/// d.byte = two values of 4 bits, values / scale; op_sel 2 and 3 say which.
template <Format From>
static void packFours(Wave &wave, const Instruction &i) {
  constexpr bool kWide = From == Format::F32;
  Source a = sourceOf(wave, i.operands[1]);
  Source b = sourceOf(wave, i.operands[kWide ? 2 : 1]);
  Source scale = sourceOf(wave, i.operands[kWide ? 3 : 2]);
  unsigned shift = (i.modifiers.select >> 2 & 3) * 8;
  auto value = [&](const Source &source, unsigned lane, bool second) {
    if constexpr (kWide) {
      return readLane<F>(source, lane);
    }
    return valuesOf(From)[source.word(lane) >> (second ? 16 : 0) & 0xFFFF];
  };
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      float by = powerOf(scale.word(lane));
      U both = encode(Format::E2M1, value(a, lane, false) / by) |
               encode(Format::E2M1, value(b, lane, true) / by) << 4;
      to[lane] = (to[lane] & ~(0xFFu << shift)) | both << shift;
    }
  }
}

/// d = 32 values of 6 bits, values / scale: one of a, one of b, in turns.
template <Format To>
static void packSixes(Wave &wave, const Instruction &i) {
  constexpr unsigned kBits = 6, kWords = 6;
  Source sources[] = {sourceOf(wave, i.operands[1]),
                      sourceOf(wave, i.operands[2])};
  Source scale = sourceOf(wave, i.operands[3]);
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    // The result may lie where operands do.
    uint64_t words[kWords + 1] = {};
    float by = powerOf(scale.word(lane));
    for (unsigned e = 0; e < 32; ++e) {
      float value = std::bit_cast<F>(sources[e % 2].word(lane, e / 2));
      uint64_t bits = uint64_t(encode(To, value / by)) << (kBits * e % 32);
      words[kBits * e / 32] |= bits & ~U(0);
      words[kBits * e / 32 + 1] |= bits >> 32;
    }
    for (unsigned word = 0; word < kWords; ++word) {
      to[word * kLanes + lane] = U(words[word]);
    }
  }
}

/// d = two values * scale, of a byte (4 bits each) or a half (8 bits each).
template <Format From, Format To>
static void unpackScaled(Wave &wave, const Instruction &i) {
  Source source = sourceOf(wave, i.operands[1]);
  Source scale = sourceOf(wave, i.operands[2]);
  const unsigned bits = bitsOf(From);
  unsigned shift =
      bits == 4 ? (i.modifiers.select & 3) * 8 : (i.modifiers.select & 1) * 16;
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    U word = source.word(lane) >> shift, mask = (1u << bits) - 1;
    float by = powerOf(scale.word(lane));
    float low = valuesOf(From)[word & mask] * by;
    float high = valuesOf(From)[word >> bits & mask] * by;
    if constexpr (To == Format::F32) {
      to[lane] = std::bit_cast<U>(low);
      to[kLanes + lane] = std::bit_cast<U>(high);
    } else if constexpr (To == Format::Bf16) {
      to[lane] = pair(floatToBf16(low), floatToBf16(high));
    } else {
      to[lane] = pair(floatToHalf(low), floatToHalf(high));
    }
  }
}

static void addScaled(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_cvt_scalef32_pk_" + name).str()] = {run, Kind::Vector, {}};
  };
  using enum Format;
  add("fp4_f32", packFours<F32>);
  add("fp4_f16", packFours<F16>);
  add("fp4_bf16", packFours<Bf16>);
  to["v_cvt_scalef32_2xpk16_fp6_f32"] = {packSixes<E2M3>, Kind::Vector, {}};
  to["v_cvt_scalef32_2xpk16_bf6_f32"] = {packSixes<E3M2>, Kind::Vector, {}};
  add("f32_fp4", unpackScaled<E2M1, F32>);
  add("f16_fp4", unpackScaled<E2M1, F16>);
  add("bf16_fp4", unpackScaled<E2M1, Bf16>);
  add("f32_fp8", unpackScaled<E4M3, F32>);
  add("f16_fp8", unpackScaled<E4M3, F16>);
  add("bf16_fp8", unpackScaled<E4M3, Bf16>);
  add("f32_bf8", unpackScaled<E5M2, F32>);
  add("f16_bf8", unpackScaled<E5M2, F16>);
  add("bf16_bf8", unpackScaled<E5M2, Bf16>);
}

void modelc::check::addConvertMeanings(Meanings &to) {
  addStandard(to);
  to["v_pack_b32_f16"] = {lanes<packHalves, U, Half, Half>, Kind::Vector, {}};
  addBytes(to);
  addScaled(to);
}
