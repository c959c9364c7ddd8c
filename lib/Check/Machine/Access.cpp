//===- Access.cpp - One lane's bytes; atomics -----------------------------===//

#include "lib/Check/Machine/Access.h"
#include "lib/Check/Formats.h"
#include <cstring>

using namespace modelc::check;

void modelc::check::loadWords(const Shape &shape, const uint8_t *from,
                              uint32_t *words) {
  if (shape.bytes >= 4) {
    std::memcpy(words, from, shape.bytes);
  } else if (shape.bytes == 2) {
    uint16_t value;
    std::memcpy(&value, from, 2);
    words[0] = shape.isSigned ? uint32_t(int32_t(int16_t(value))) : value;
  } else {
    words[0] = shape.isSigned ? uint32_t(int32_t(int8_t(*from))) : *from;
  }
}

uint32_t modelc::check::mergeHalf(const Shape &shape, uint32_t old,
                                  uint32_t loaded) {
  return shape.high ? (old & 0xFFFF) | loaded << 16
                    : (old & 0xFFFF0000) | (loaded & 0xFFFF);
}

void modelc::check::storeWords(const Shape &shape, const Source &data,
                               unsigned lane, uint8_t *to) {
  if (shape.bytes < 4) {
    uint32_t word = data.word(lane) >> (shape.high ? 16 : 0);
    std::memcpy(to, &word, shape.bytes);
    return;
  }
  for (unsigned w = 0; w < shape.bytes / 4u; ++w) {
    uint32_t word = data.word(lane, w);
    std::memcpy(to + 4 * w, &word, 4);
  }
}

static const AtomicName kAtomics[] = {
    {Atomic::Swap, "swap", "swap_x2", "wrxchg", "b32", "b64"},
    {Atomic::CompareSwap, "cmpswap", "cmpswap_x2", "", "", ""},
    {Atomic::CompareStore, "", "", "cmpst", "b32", "b64"},
    {Atomic::Add, "add", "add_x2", "add", "u32", "u64"},
    {Atomic::Sub, "sub", "sub_x2", "sub", "u32", "u64"},
    {Atomic::SignedMin, "smin", "smin_x2", "min", "i32", "i64"},
    {Atomic::UnsignedMin, "umin", "umin_x2", "min", "u32", "u64"},
    {Atomic::SignedMax, "smax", "smax_x2", "max", "i32", "i64"},
    {Atomic::UnsignedMax, "umax", "umax_x2", "max", "u32", "u64"},
    {Atomic::And, "and", "and_x2", "and", "b32", "b64"},
    {Atomic::Or, "or", "or_x2", "or", "b32", "b64"},
    {Atomic::Xor, "xor", "xor_x2", "xor", "b32", "b64"},
    {Atomic::Increment, "inc", "inc_x2", "inc", "u32", "u64"},
    {Atomic::Decrement, "dec", "dec_x2", "dec", "u32", "u64"},
    {Atomic::AddFloat, "add_f32", "add_f64", "add", "f32", "f64"},
    {Atomic::MinFloat, "", "min_f64", "min", "f32", "f64"},
    {Atomic::MaxFloat, "", "max_f64", "max", "f32", "f64"},
    {Atomic::AddHalfPair, "pk_add_f16", "", "pk_add", "f16", ""},
    {Atomic::AddBf16Pair, "pk_add_bf16", "", "pk_add", "bf16", ""},
};

llvm::ArrayRef<AtomicName> modelc::check::atomicNames() { return kAtomics; }

/// F(x, y) of both halves of a word.
template <typename F>
static uint32_t onHalves(uint32_t x, uint32_t y, F f) {
  return f(uint16_t(x), uint16_t(y)) |
         uint32_t(f(uint16_t(x >> 16), uint16_t(y >> 16))) << 16;
}

template <typename Unsigned, typename Signed, typename Real>
static Unsigned newValue(Atomic operation, Unsigned old, Unsigned data,
                         Unsigned second) {
  auto real = [](Unsigned bits) { return std::bit_cast<Real>(bits); };
  auto bits = [](Real value) { return std::bit_cast<Unsigned>(value); };
  switch (operation) {
  case Atomic::Swap:
    return data;
  case Atomic::CompareSwap:
    return old == second ? data : old;
  case Atomic::CompareStore:
    return old == data ? second : old;
  case Atomic::Add:
    return old + data;
  case Atomic::Sub:
    return old - data;
  case Atomic::SignedMin:
    return Unsigned(std::min(Signed(old), Signed(data)));
  case Atomic::UnsignedMin:
    return std::min(old, data);
  case Atomic::SignedMax:
    return Unsigned(std::max(Signed(old), Signed(data)));
  case Atomic::UnsignedMax:
    return std::max(old, data);
  case Atomic::And:
    return old & data;
  case Atomic::Or:
    return old | data;
  case Atomic::Xor:
    return old ^ data;
  case Atomic::Increment:
    return old >= data ? 0 : old + 1;
  case Atomic::Decrement:
    return old == 0 || old > data ? data : old - 1;
  case Atomic::AddFloat:
    return bits(real(old) + real(data));
  case Atomic::MinFloat:
    return bits(std::fmin(real(old), real(data)));
  case Atomic::MaxFloat:
    return bits(std::fmax(real(old), real(data)));
  case Atomic::AddHalfPair:
    return onHalves(uint32_t(old), uint32_t(data), [](uint16_t x, uint16_t y) {
      return floatToHalf(halfToFloat(x) + halfToFloat(y));
    });
  case Atomic::AddBf16Pair:
    return onHalves(uint32_t(old), uint32_t(data), [](uint16_t x, uint16_t y) {
      return floatToBf16(bf16ToFloat(x) + bf16ToFloat(y));
    });
  }
  return old;
}

uint64_t modelc::check::applyAtomic(const Shape &shape, uint8_t *at,
                                    uint64_t data, uint64_t second) {
  Atomic operation = Atomic(shape.operation);
  if (shape.wide) {
    uint64_t old;
    std::memcpy(&old, at, 8);
    uint64_t value =
        newValue<uint64_t, int64_t, double>(operation, old, data, second);
    std::memcpy(at, &value, 8);
    return old;
  }
  uint32_t old;
  std::memcpy(&old, at, 4);
  uint32_t value = newValue<uint32_t, int32_t, float>(
      operation, old, uint32_t(data), uint32_t(second));
  std::memcpy(at, &value, 4);
  return old;
}
