//===- Packed.cpp - Two values in each lane at once -----------------------===//

#include "lib/Check/Machine/Lanes.h"
#include <algorithm>

using namespace modelc::check;

/// Which half of source `s` result `half` is made from, and its sign.
static bool selects(const Modifiers &modifiers, unsigned s, unsigned half) {
  return (half ? modifiers.selectHigh : modifiers.select) >> s & 1;
}
static bool negates(const Modifiers &modifiers, unsigned s, unsigned half) {
  return (half ? modifiers.negateHigh : modifiers.negateLow) >> s & 1;
}

/// Two floats of 32 bits.
template <auto F, typename... From>
static void pairs(Wave &wave, const Instruction &i) {
  constexpr unsigned kCount = sizeof...(From);
  Source sources[kCount];
  for (unsigned s = 0; s < kCount; ++s) {
    sources[s] = sourceOf(wave, i.operands[1 + s]);
  }
  auto value = [&](unsigned lane, unsigned s, unsigned half) {
    uint32_t bits = sources[s].word(lane, selects(i.modifiers, s, half));
    return std::bit_cast<float>(
        bits ^ (negates(i.modifiers, s, half) ? 0x80000000 : 0));
  };
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    float results[2];
    for (unsigned half = 0; half < 2; ++half) {
      results[half] = [&]<size_t... I>(std::index_sequence<I...>) {
        return limit(i.modifiers, F(From(value(lane, I, half))...));
      }(std::index_sequence_for<From...>());
    }
    to[lane] = std::bit_cast<uint32_t>(results[0]);
    to[kLanes + lane] = std::bit_cast<uint32_t>(results[1]);
  }
}

/// Two values of 16 bits. `Type` is Half or an integer.
template <auto F, typename Type, unsigned Count>
static void halves(Wave &wave, const Instruction &i) {
  Source sources[Count];
  for (unsigned s = 0; s < Count; ++s) {
    sources[s] = sourceOf(wave, i.operands[1 + s]);
  }
  auto value = [&](unsigned lane, unsigned s, unsigned half) {
    uint32_t word = sources[s].word(lane);
    uint16_t bits = uint16_t(word >> (selects(i.modifiers, s, half) ? 16 : 0));
    if constexpr (std::is_same_v<Type, Half>) {
      bits ^= negates(i.modifiers, s, half) ? 0x8000 : 0;
      return Half{halfToFloat(bits)};
    } else {
      return Type(bits);
    }
  };
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint32_t result = 0;
    for (unsigned half = 0; half < 2; ++half) {
      Type one = [&]<size_t... I>(std::index_sequence<I...>) {
        return F(value(lane, I, half)...);
      }(std::make_index_sequence<Count>());
      result |= uint32_t(toWords<Type>(i.modifiers, one) & 0xFFFF) << 16 * half;
    }
    to[lane] = result;
  }
}

/// d = one word of each source.
static void movePair(Wave &wave, const Instruction &i) {
  Source a = sourceOf(wave, i.operands[1]), b = sourceOf(wave, i.operands[2]);
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      uint32_t low = a.word(lane, i.modifiers.select & 1);
      uint32_t high = b.word(lane, i.modifiers.select >> 1 & 1);
      to[lane] = low;
      to[kLanes + lane] = high;
    }
  }
}

template <typename T>
static void addIntegers(Meanings &to, llvm::StringRef type) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_pk_" + name + "_" + type).str()] = {run, Kind::Vector, {}};
  };
  add("add", halves<[](T a, T b) { return T(a + b); }, T, 2>);
  add("sub", halves<[](T a, T b) { return T(a - b); }, T, 2>);
  add("min", halves<[](T a, T b) { return std::min(a, b); }, T, 2>);
  add("max", halves<[](T a, T b) { return std::max(a, b); }, T, 2>);
  add("mad", halves<[](T a, T b, T c) { return T(a * b + c); }, T, 3>);
}

void modelc::check::addPackedMeanings(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  using F = float;
  using H = Half;
  add("v_pk_add_f32", pairs<[](F a, F b) { return a + b; }, F, F>);
  add("v_pk_mul_f32", pairs<[](F a, F b) { return a * b; }, F, F>);
  add("v_pk_fma_f32",
      pairs<[](F a, F b, F c) { return std::fma(a, b, c); }, F, F, F>);
  add("v_pk_mov_b32", movePair);
  add("v_pk_add_f16",
      halves<[](H a, H b) { return H{a.value + b.value}; }, H, 2>);
  add("v_pk_mul_f16",
      halves<[](H a, H b) { return H{a.value * b.value}; }, H, 2>);
  add("v_pk_min_f16",
      halves<[](H a, H b) { return H{std::fmin(a.value, b.value)}; }, H, 2>);
  add("v_pk_max_f16",
      halves<[](H a, H b) { return H{std::fmax(a.value, b.value)}; }, H, 2>);
  add("v_pk_fma_f16", halves<[](H a, H b, H c) {
        double sum = double(a.value) * b.value + c.value;
        return H{float(_Float16(sum))};
      },
                             H, 3>);
  addIntegers<uint16_t>(to, "u16");
  addIntegers<int16_t>(to, "i16");
  add("v_pk_mul_lo_u16",
      halves<[](uint16_t a, uint16_t b) { return uint16_t(uint32_t(a) * b); },
             uint16_t, 2>);
  add("v_pk_lshlrev_b16",
      halves<[](uint16_t a, uint16_t b) { return uint16_t(b << (a & 15)); },
             uint16_t, 2>);
  add("v_pk_lshrrev_b16",
      halves<[](uint16_t a, uint16_t b) { return uint16_t(b >> (a & 15)); },
             uint16_t, 2>);
  add("v_pk_ashrrev_i16",
      halves<[](int16_t a, int16_t b) { return int16_t(b >> (a & 15)); },
             int16_t, 2>);
}
