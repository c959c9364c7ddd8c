//===- Scalar.cpp - Instructions of the scalar unit -----------------------===//

#include "lib/Check/Machine/Lanes.h"

using namespace modelc::check;

namespace {
/// A result and whether the condition code is to be set.
template <typename T>
struct Result {
  T value;
  bool scc;
};
} // namespace

template <typename T>
static T get(Wave &wave, const Operand &operand) {
  if constexpr (sizeof(T) == 8) {
    return T(scalar64(wave, operand));
  } else {
    return T(scalar32(wave, operand));
  }
}
template <typename T>
static void set(Wave &wave, const Operand &operand, T value) {
  if constexpr (sizeof(T) == 8) {
    setScalar64(wave, operand, uint64_t(value));
  } else {
    setScalar32(wave, operand, uint32_t(value));
  }
}

/// F(sources...) leaves the condition code alone.
template <auto F, typename To, typename... From>
static void compute(Wave &wave, const Instruction &i) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    set<To>(wave, i.operands[0], F(get<From>(wave, i.operands[I + 1])...));
  }(std::index_sequence_for<From...>());
}
/// The condition code says whether the result is not zero.
template <auto F, typename To, typename... From>
static void test(Wave &wave, const Instruction &i) {
  compute<F, To, From...>(wave, i);
  wave.scc = get<To>(wave, i.operands[0]) != 0;
}
/// F gives a Result; it may look at the condition code.
template <auto F, typename To, typename... From>
static void carry(Wave &wave, const Instruction &i) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    Result<To> r = F(wave.scc, get<From>(wave, i.operands[I + 1])...);
    set<To>(wave, i.operands[0], r.value);
    wave.scc = r.scc;
  }(std::index_sequence_for<From...>());
}
template <auto F, typename From>
static void compare(Wave &wave, const Instruction &i) {
  wave.scc = F(get<From>(wave, i.operands[0]), get<From>(wave, i.operands[1]));
}
/// d = exec; exec = F(source, exec).
template <auto F>
static void saveExec(Wave &wave, const Instruction &i) {
  uint64_t old = wave.exec(), source = scalar64(wave, i.operands[1]);
  wave.setPair(kExec, F(source, old));
  setScalar64(wave, i.operands[0], old);
  wave.scc = wave.exec() != 0;
}

/// Short constants: s_movk_i32 d, k and its like.
template <auto F>
static void constantOperation(Wave &wave, const Instruction &i) {
  int32_t constant = int16_t(i.operands[1].constant[0]);
  F(wave, i.operands[0], constant);
}

using U = uint32_t;
using S = int32_t;
using L = uint64_t;

static L wideMask(L bits, L from) {
  return ((L(1) << (bits & 63)) - 1) << (from & 63);
}
template <typename T, typename Wide>
static T extract(T value, U control) {
  unsigned from = control & (sizeof(T) * 8 - 1), bits = control >> 16 & 0x7F;
  if (bits == 0) {
    return 0;
  }
  bits = std::min<unsigned>(bits, sizeof(T) * 8 - from);
  unsigned left = sizeof(T) * 8 - bits;
  return T(Wide(value >> from) << left) >> left;
}

static void addLogic(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run32, Handler run64) {
    to[(name + "_b32").str()] = {run32, Kind::Scalar, {}};
    to[(name + "_b64").str()] = {run64, Kind::Scalar, {}};
  };
#define LOGIC(name, expression)                                                \
  add(name, test<[](U a, U b) -> U { return expression; }, U, U, U>,           \
      test<[](L a, L b) -> L { return expression; }, L, L, L>)
  LOGIC("s_and", a & b);
  LOGIC("s_or", a | b);
  LOGIC("s_xor", a ^ b);
  LOGIC("s_andn2", a & ~b);
  LOGIC("s_orn2", a | ~b);
  LOGIC("s_nand", ~(a & b));
  LOGIC("s_nor", ~(a | b));
  LOGIC("s_xnor", ~(a ^ b));
#undef LOGIC
  add("s_not", test<[](U a) -> U { return ~a; }, U, U>,
      test<[](L a) -> L { return ~a; }, L, L>);
  add("s_mov", compute<[](U a) { return a; }, U, U>,
      compute<[](L a) { return a; }, L, L>);
  add("s_brev", compute<[](U a) { return __builtin_bitreverse32(a); }, U, U>,
      compute<[](L a) { return __builtin_bitreverse64(a); }, L, L>);
  add(
      "s_bitset0",
      [](Wave &w, const Instruction &i) {
        setScalar32(w, i.operands[0],
                    scalar32(w, i.operands[0]) &
                        ~(1u << (scalar32(w, i.operands[1]) & 31)));
      },
      nullptr);
  add(
      "s_bitset1",
      [](Wave &w, const Instruction &i) {
        setScalar32(w, i.operands[0],
                    scalar32(w, i.operands[0]) |
                        1u << (scalar32(w, i.operands[1]) & 31));
      },
      nullptr);
  to.erase("s_bitset0_b64");
  to.erase("s_bitset1_b64");
  auto exec = [&](llvm::StringRef name, Handler run) {
    to[(name + "_saveexec_b64").str()] = {run, Kind::Scalar, {}};
  };
  exec("s_and", saveExec<[](L s, L e) { return s & e; }>);
  exec("s_or", saveExec<[](L s, L e) { return s | e; }>);
  exec("s_xor", saveExec<[](L s, L e) { return s ^ e; }>);
  exec("s_andn2", saveExec<[](L s, L e) { return s & ~e; }>);
  exec("s_orn2", saveExec<[](L s, L e) { return s | ~e; }>);
  exec("s_andn1", saveExec<[](L s, L e) { return ~s & e; }>);
  exec("s_orn1", saveExec<[](L s, L e) { return ~s | e; }>);
}

static void addShifts(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Scalar, {}};
  };
  add("s_lshl_b32", test<[](U a, U b) -> U { return a << (b & 31); }, U, U, U>);
  add("s_lshr_b32", test<[](U a, U b) -> U { return a >> (b & 31); }, U, U, U>);
  add("s_ashr_i32", test<[](S a, U b) -> S { return a >> (b & 31); }, S, S, U>);
  add("s_lshl_b64", test<[](L a, U b) -> L { return a << (b & 63); }, L, L, U>);
  add("s_lshr_b64", test<[](L a, U b) -> L { return a >> (b & 63); }, L, L, U>);
  add("s_ashr_i64",
      test<[](int64_t a, U b) -> int64_t { return a >> (b & 63); }, int64_t,
           int64_t, U>);
  add("s_bfe_u32", test<extract<U, U>, U, U, U>);
  add("s_bfe_i32",
      test<[](U a, U b) -> S { return extract<S, U>(S(a), b); }, S, U, U>);
  add("s_bfe_i64", test<[](L a, U b) -> int64_t {
        return extract<int64_t, L>(int64_t(a), b);
      },
                        int64_t, L, U>);
  add("s_bfe_u64", test<extract<L, L>, L, L, U>);
  add("s_bfm_b32",
      compute<[](U a, U b) -> U { return U(wideMask(a & 31, b & 31)); }, U, U,
              U>);
  add("s_bfm_b64", compute<wideMask, L, U, U>);
#define LSHL_ADD(n)                                                            \
  add("s_lshl" #n "_add_u32", carry<[](bool, U a, U b) -> Result<U> {          \
        L sum = (L(a) << n) + b;                                               \
        return {U(sum), sum >> 32 != 0};                                       \
      },                                                                       \
                                    U, U, U>)
  LSHL_ADD(1);
  LSHL_ADD(2);
  LSHL_ADD(3);
  LSHL_ADD(4);
#undef LSHL_ADD
  add("s_bcnt1_i32_b32",
      test<[](U a) -> U { return U(__builtin_popcount(a)); }, U, U>);
  add("s_bcnt1_i32_b64",
      test<[](L a) -> U { return U(__builtin_popcountll(a)); }, U, L>);
  add("s_ff1_i32_b32",
      compute<[](U a) -> S { return a ? __builtin_ctz(a) : -1; }, S, U>);
  add("s_ff1_i32_b64",
      compute<[](L a) -> S { return a ? __builtin_ctzll(a) : -1; }, S, L>);
  add("s_flbit_i32_b32",
      compute<[](U a) -> S { return a ? __builtin_clz(a) : -1; }, S, U>);
  add("s_flbit_i32_b64",
      compute<[](L a) -> S { return a ? __builtin_clzll(a) : -1; }, S, L>);
  add("s_sext_i32_i8", compute<[](U a) -> S { return int8_t(a); }, S, U>);
  add("s_sext_i32_i16", compute<[](U a) -> S { return int16_t(a); }, S, U>);
  add("s_pack_ll_b32_b16",
      compute<[](U a, U b) -> U { return (a & 0xFFFF) | b << 16; }, U, U, U>);
  add("s_pack_lh_b32_b16",
      compute<[](U a, U b) -> U { return (a & 0xFFFF) | (b & 0xFFFF0000); }, U,
              U, U>);
  add("s_pack_hh_b32_b16",
      compute<[](U a, U b) -> U { return a >> 16 | (b & 0xFFFF0000); }, U, U,
              U>);
}

static void addArithmetic(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Scalar, {}};
  };
  add("s_add_u32",
      carry<[](bool, U a, U b) -> Result<U> { return {a + b, a + b < a}; }, U,
            U, U>);
  add("s_sub_u32",
      carry<[](bool, U a, U b) -> Result<U> { return {a - b, a < b}; }, U, U,
            U>);
  add("s_addc_u32", carry<[](bool c, U a, U b) -> Result<U> {
        L sum = L(a) + b + c;
        return {U(sum), sum >> 32 != 0};
      },
                          U, U, U>);
  add("s_subb_u32", carry<[](bool c, U a, U b) -> Result<U> {
        return {a - b - c, L(a) < L(b) + c};
      },
                          U, U, U>);
  add("s_add_i32", carry<[](bool, S a, S b) -> Result<S> {
        S sum;
        bool over = __builtin_add_overflow(a, b, &sum);
        return {sum, over};
      },
                         S, S, S>);
  add("s_sub_i32", carry<[](bool, S a, S b) -> Result<S> {
        S difference;
        bool over = __builtin_sub_overflow(a, b, &difference);
        return {difference, over};
      },
                         S, S, S>);
  add("s_min_i32",
      carry<[](bool, S a, S b) -> Result<S> { return {std::min(a, b), a < b}; },
            S, S, S>);
  add("s_max_i32",
      carry<[](bool, S a, S b) -> Result<S> { return {std::max(a, b), a > b}; },
            S, S, S>);
  add("s_min_u32",
      carry<[](bool, U a, U b) -> Result<U> { return {std::min(a, b), a < b}; },
            U, U, U>);
  add("s_max_u32",
      carry<[](bool, U a, U b) -> Result<U> { return {std::max(a, b), a > b}; },
            U, U, U>);
  add("s_abs_i32",
      test<[](S a) -> U { return a < 0 ? 0u - U(a) : U(a); }, U, S>);
  add("s_absdiff_i32",
      test<[](S a, S b) -> U { return U(a > b ? U(a) - U(b) : U(b) - U(a)); },
           U, S, S>);
  add("s_mul_i32", compute<[](U a, U b) -> U { return a * b; }, U, U, U>);
  add("s_mul_hi_u32",
      compute<[](U a, U b) -> U { return U(L(a) * b >> 32); }, U, U, U>);
  add("s_mul_hi_i32",
      compute<[](S a, S b) -> U { return U(int64_t(a) * b >> 32); }, U, S, S>);
}

static void addChoices(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Scalar, {}};
  };
  add("s_cselect_b32", [](Wave &w, const Instruction &i) {
    setScalar32(w, i.operands[0], scalar32(w, i.operands[w.scc ? 1 : 2]));
  });
  add("s_cselect_b64", [](Wave &w, const Instruction &i) {
    setScalar64(w, i.operands[0], scalar64(w, i.operands[w.scc ? 1 : 2]));
  });
  add("s_cmov_b32", [](Wave &w, const Instruction &i) {
    if (w.scc) {
      setScalar32(w, i.operands[0], scalar32(w, i.operands[1]));
    }
  });
  add("s_cmov_b64", [](Wave &w, const Instruction &i) {
    if (w.scc) {
      setScalar64(w, i.operands[0], scalar64(w, i.operands[1]));
    }
  });
}

static void addConstants(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Scalar, {}};
  };
  add("s_movk_i32", constantOperation<[](Wave &w, const Operand &d, S k) {
        setScalar32(w, d, U(k));
      }>);
  add("s_cmovk_i32", constantOperation<[](Wave &w, const Operand &d, S k) {
        if (w.scc) {
          setScalar32(w, d, U(k));
        }
      }>);
  add("s_addk_i32", constantOperation<[](Wave &w, const Operand &d, S k) {
        S sum;
        w.scc = __builtin_add_overflow(S(scalar32(w, d)), k, &sum);
        setScalar32(w, d, U(sum));
      }>);
  add("s_mulk_i32", constantOperation<[](Wave &w, const Operand &d, S k) {
        setScalar32(w, d, scalar32(w, d) * U(k));
      }>);
#define COMPARE(name, op)                                                      \
  add("s_cmp_" name "_i32", compare<[](S a, S b) { return a op b; }, S>);      \
  add("s_cmp_" name "_u32", compare<[](U a, U b) { return a op b; }, U>);      \
  add("s_cmpk_" name "_i32",                                                   \
      constantOperation<[](Wave &w, const Operand &d, S k) {                   \
        w.scc = S(scalar32(w, d)) op k;                                        \
      }>);                                                                     \
  add("s_cmpk_" name "_u32",                                                   \
      constantOperation<[](Wave &w, const Operand &d, S k) {                   \
        w.scc = scalar32(w, d) op U(uint16_t(k));                              \
      }>)
  COMPARE("eq", ==);
  COMPARE("lg", !=);
  COMPARE("gt", >);
  COMPARE("ge", >=);
  COMPARE("lt", <);
  COMPARE("le", <=);
#undef COMPARE
  add("s_cmp_eq_u64", compare<[](L a, L b) { return a == b; }, L>);
  add("s_cmp_lg_u64", compare<[](L a, L b) { return a != b; }, L>);
  add("s_bitcmp0_b32",
      compare<[](U a, U b) { return !(a >> (b & 31) & 1); }, U>);
  add("s_bitcmp1_b32",
      compare<[](U a, U b) { return (a >> (b & 31) & 1) != 0; }, U>);
}

void modelc::check::addScalarMeanings(Meanings &to) {
  addLogic(to);
  addShifts(to);
  addArithmetic(to);
  addChoices(to);
  addConstants(to);
}
