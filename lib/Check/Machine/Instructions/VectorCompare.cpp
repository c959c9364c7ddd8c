//===- VectorCompare.cpp - Instructions with a bit for each lane ----------===//

#include "lib/Check/Machine/Lanes.h"

using namespace modelc::check;

using U = uint32_t;
using L = uint64_t;

/// mask = F(a, b) in each active lane, 0 in the others.
template <auto F, typename A, typename B = A>
static void compare(Wave &wave, const Instruction &i) {
  Staged staged;
  stage(wave, i, 1, 2, sizeof(A) == 8 ? 2 : 1, staged);
  L mask = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (staged.active >> lane & 1) {
      bool is = F(readLane<A>(staged.sources[0], lane),
                  readLane<B>(staged.sources[1], lane));
      mask |= L(is) << lane;
    }
  }
  setScalar64(wave, i.operands[0], mask);
}

/// d = mask ? b : a
static void choose(Wave &wave, const Instruction &i) {
  Staged staged;
  stage(wave, i, 1, 2, 1, staged);
  L mask = scalar64(wave, i.operands[3]);
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (staged.active >> lane & 1) {
      const Source &from = staged.sources[mask >> lane & 1];
      U value = std::bit_cast<U>(readLane<float>(from, lane));
      to[lane] = i.parts ? mergeParts(i, to[lane], value) : value;
    }
  }
}

namespace {
struct CarryResult {
  U value;
  bool carry;
};
} // namespace

/// d, carry out, a, b, [carry in]
template <auto F>
static void withCarry(Wave &wave, const Instruction &i) {
  Staged staged;
  stage(wave, i, 2, 2, 1, staged);
  L in = i.operands.size() > 4 ? scalar64(wave, i.operands[4]) : 0, out = 0;
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (staged.active >> lane & 1) {
      CarryResult r = F(L(staged.sources[0].word(lane)),
                        L(staged.sources[1].word(lane)), L(in >> lane & 1));
      to[lane] = r.value;
      out |= L(r.carry) << lane;
    }
  }
  setScalar64(wave, i.operands[1], out);
}

/// d (64 bits), carry out, a, b, c (64 bits)
template <typename Narrow, typename Wide>
static void multiplyAddWide(Wave &wave, const Instruction &i) {
  Source a = sourceOf(wave, i.operands[2]), b = sourceOf(wave, i.operands[3]);
  Source c = sourceOf(wave, i.operands[4]);
  uint32_t *to = wave.row(i.operands[0].index);
  L out = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      Wide product = Wide(Narrow(a.word(lane))) * Wide(Narrow(b.word(lane)));
      Wide sum;
      bool over =
          __builtin_add_overflow(product, Wide(readLane<L>(c, lane)), &sum);
      to[lane] = U(L(sum));
      to[kLanes + lane] = U(L(sum) >> 32);
      out |= L(over) << lane;
    }
  }
  setScalar64(wave, i.operands[1], out);
}

template <typename T>
static void addOrdered(Meanings &to, llvm::StringRef type) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_cmp_" + name + "_" + type).str()] = {run, Kind::Vector, {}};
  };
  add("eq", compare<[](T a, T b) { return a == b; }, T>);
  add("lt", compare<[](T a, T b) { return a < b; }, T>);
  add("le", compare<[](T a, T b) { return a <= b; }, T>);
  add("gt", compare<[](T a, T b) { return a > b; }, T>);
  add("ge", compare<[](T a, T b) { return a >= b; }, T>);
  if constexpr (std::is_integral_v<T>) {
    add("ne", compare<[](T a, T b) { return a != b; }, T>);
  } else {
    add("lg", compare<[](T a, T b) { return a < b || a > b; }, T>);
    add("o", compare<[](T a, T b) { return a == a && b == b; }, T>);
    add("u", compare<[](T a, T b) { return a != a || b != b; }, T>);
    add("nge", compare<[](T a, T b) { return !(a >= b); }, T>);
    add("nlg", compare<[](T a, T b) { return !(a < b || a > b); }, T>);
    add("ngt", compare<[](T a, T b) { return !(a > b); }, T>);
    add("nle", compare<[](T a, T b) { return !(a <= b); }, T>);
    add("neq", compare<[](T a, T b) { return !(a == b); }, T>);
    add("nlt", compare<[](T a, T b) { return !(a < b); }, T>);
  }
}

/// A bit for each kind of number: signalling and quiet NaN, -inf, -normal,
/// -denormal, -0, and the positive ones.
static bool isOfClass(float value, U classes) {
  U bits = std::bit_cast<U>(value);
  unsigned number;
  switch (std::fpclassify(value)) {
  case FP_NAN:
    return classes >> (bits & 0x400000 ? 1 : 0) & 1;
  case FP_INFINITE:
    number = 0;
    break;
  case FP_NORMAL:
    number = 1;
    break;
  case FP_SUBNORMAL:
    number = 2;
    break;
  default:
    number = 3;
  }
  return classes >> (std::signbit(value) ? 2 + number : 9 - number) & 1;
}

static void addHalfCompares(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_cmp_" + name + "_f16").str()] = {run, Kind::Vector, {}};
  };
  using H = Half;
  add("eq", compare<[](H a, H b) { return a.value == b.value; }, H>);
  add("lt", compare<[](H a, H b) { return a.value < b.value; }, H>);
  add("le", compare<[](H a, H b) { return a.value <= b.value; }, H>);
  add("gt", compare<[](H a, H b) { return a.value > b.value; }, H>);
  add("ge", compare<[](H a, H b) { return a.value >= b.value; }, H>);
  add("neq", compare<[](H a, H b) { return a.value != b.value; }, H>);
  add("u", compare<[](H a, H b) {
        return std::isnan(a.value) || std::isnan(b.value);
      },
                   H>);
}

void modelc::check::addCompareMeanings(Meanings &to) {
  addHalfCompares(to);
  addOrdered<float>(to, "f32");
  addOrdered<double>(to, "f64");
  addOrdered<uint32_t>(to, "u32");
  addOrdered<int32_t>(to, "i32");
  addOrdered<uint64_t>(to, "u64");
  addOrdered<int64_t>(to, "i64");
  addOrdered<uint16_t>(to, "u16");
  addOrdered<int16_t>(to, "i16");
  to["v_cmp_class_f32"] = {compare<isOfClass, float, U>, Kind::Vector, {}};
  to["v_cndmask_b32"] = {choose, Kind::Vector, {}};
}

void modelc::check::addCarryMeanings(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  using C = CarryResult;
  Handler sum = withCarry<[](L a, L b, L c) -> C {
    return {U(a + b + c), (a + b + c) >> 32 != 0};
  }>;
  Handler difference =
      withCarry<[](L a, L b, L c) -> C { return {U(a - b - c), a < b + c}; }>;
  Handler reverse =
      withCarry<[](L a, L b, L c) -> C { return {U(b - a - c), b < a + c}; }>;
  add("v_add_co_u32", sum);
  add("v_addc_co_u32", sum);
  add("v_sub_co_u32", difference);
  add("v_subb_co_u32", difference);
  add("v_subrev_co_u32", reverse);
  add("v_subbrev_co_u32", reverse);
  add("v_mad_u64_u32", multiplyAddWide<uint32_t, uint64_t>);
  add("v_mad_i64_i32", multiplyAddWide<int32_t, int64_t>);
}
