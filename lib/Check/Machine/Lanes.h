//===- Lanes.h - From a function of values to an instruction --------------===//
//
// `lanes<F, To, From...>` is the handler of an instruction that computes F in
// each active lane: it reads sources of the types From, behind the destination,
// and writes a To, with all modifiers of the encodings.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_MACHINE_LANES_H
#define LIB_CHECK_MACHINE_LANES_H

#include "lib/Check/Machine/Machine.h"
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

namespace modelc::check {

/// A 16-bit float, computed with as a float.
struct Half {
  float value;
};
inline float halfToFloat(uint16_t bits) {
  return float(std::bit_cast<_Float16>(bits));
}
inline uint16_t floatToHalf(float value) {
  return std::bit_cast<uint16_t>(_Float16(value));
}

/// Where the words of an operand are: row of a vector register, or one value
/// for all lanes.
struct Source {
  const uint32_t *words = nullptr;
  uint32_t step = 0, stride = 1; // from lane to lane, from word to word
  uint32_t keep = ~0u, flip = 0; // sign bit of the highest word
  unsigned shift = 0;            // of 16-bit values

  uint32_t word(unsigned lane, unsigned which = 0) const {
    return words[lane * step + which * stride];
  }
};

/// The words of an operand, without movement between lanes.
Source sourceOf(Wave &wave, const Operand &operand);

/// Everything that an instruction changes about its sources and its result.
struct Staged {
  Source sources[3];
  uint64_t active = 0;
  uint32_t moved[2][2 * kLanes]; // sources after movement or taking a part
};
/// Prepares `count` sources behind `first`, of which source 0 has `words`.
void stage(Wave &wave, const Instruction &instruction, unsigned first,
           unsigned count, unsigned words, Staged &staged);
/// Puts a narrow result where it belongs in the register.
uint32_t mergeParts(const Instruction &instruction, uint32_t old,
                    uint32_t value);

template <typename T>
T readLane(const Source &source, unsigned lane) {
  uint32_t low = source.word(lane);
  if constexpr (sizeof(T) == 8) {
    uint64_t high = (source.word(lane, 1) & source.keep) ^ source.flip;
    return std::bit_cast<T>(low | high << 32);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>((low & source.keep) ^ source.flip);
  } else if constexpr (std::is_same_v<T, Half>) {
    uint16_t bits = uint16_t(low >> source.shift);
    bits = (bits & source.keep >> 16) ^ source.flip >> 16;
    return Half{halfToFloat(bits)};
  } else if constexpr (sizeof(T) == 2) {
    return T(low >> source.shift);
  } else {
    return T(low);
  }
}

inline float limit(const Modifiers &modifiers, float value) {
  value *= modifiers.multiplier;
  if (modifiers.clamp) {
    value = std::isnan(value) ? 0.0f : std::fmin(std::fmax(value, 0.0f), 1.0f);
  }
  return value;
}

/// The words of a result, 16-bit ones in the lower half.
template <typename To>
uint64_t toWords(const Modifiers &modifiers, To value) {
  if constexpr (std::is_same_v<To, float>) {
    bool plain = modifiers.multiplier == 1 && !modifiers.clamp;
    return std::bit_cast<uint32_t>(plain ? value : limit(modifiers, value));
  } else if constexpr (std::is_same_v<To, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<To, Half>) {
    return floatToHalf(limit(modifiers, value.value));
  } else {
    return uint64_t(std::make_unsigned_t<To>(value));
  }
}

template <auto F, typename To, typename... From>
void lanes(Wave &wave, const Instruction &instruction) {
  using All = std::tuple<From...>;
  constexpr unsigned kFirstWords =
      sizeof(std::tuple_element_t<0, All>) == 8 ? 2 : 1;
  if (std::is_integral_v<To> && instruction.modifiers.clamp) {
    return wave.fail("saturation of integers is not modelled");
  }
  Staged staged;
  stage(wave, instruction, 1, sizeof...(From), kFirstWords, staged);
  uint32_t *to = wave.row(instruction.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(staged.active >> lane & 1)) {
      continue;
    }
    uint64_t words = [&]<size_t... I>(std::index_sequence<I...>) {
      return toWords<To>(instruction.modifiers,
                         F(readLane<From>(staged.sources[I], lane)...));
    }(std::index_sequence_for<From...>());
    if constexpr (sizeof(To) == 8) {
      to[lane] = uint32_t(words);
      to[kLanes + lane] = uint32_t(words >> 32);
    } else if (instruction.parts || sizeof(To) == 2 ||
               std::is_same_v<To, Half>) {
      to[lane] = mergeParts(instruction, to[lane], uint32_t(words));
    } else {
      to[lane] = uint32_t(words);
    }
  }
}

/// Scalar operands and results.
uint32_t scalar32(Wave &wave, const Operand &operand);
uint64_t scalar64(Wave &wave, const Operand &operand);
void setScalar32(Wave &wave, const Operand &operand, uint32_t value);
void setScalar64(Wave &wave, const Operand &operand, uint64_t value);

/// Adds the meanings of one file.
void addScalarMeanings(Meanings &to);
void addScalarMemoryMeanings(Meanings &to);
void addControlMeanings(Meanings &to);
void addFloatMeanings(Meanings &to);
void addIntegerMeanings(Meanings &to);
void addCarryMeanings(Meanings &to);
void addCompareMeanings(Meanings &to);
void addPackedMeanings(Meanings &to);
void addConvertMeanings(Meanings &to);
void addMovementMeanings(Meanings &to);
void addMatrixMeanings(Meanings &to);
void addSharedMeanings(Meanings &to);
void addGlobalMeanings(Meanings &to);
void addAtomicMeanings(Meanings &to);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_LANES_H
