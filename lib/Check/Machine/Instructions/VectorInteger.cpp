//===- VectorInteger.cpp - Arithmetic of integers in each lane ------------===//

#include "lib/Check/Machine/Lanes.h"
#include <algorithm>

using namespace modelc::check;

using U = uint32_t;
using S = int32_t;
using L = uint64_t;
using I = int64_t;
using W = uint16_t;
using H = int16_t;

static U low24(U a) { return a & 0xFFFFFF; }
static S signed24(U a) { return S(a << 8) >> 8; }
template <typename T>
static T middle(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// Byte `which` of the eight of a (upper) and b; above 7 signs and constants.
static U permuteByte(U a, U b, U which) {
  L both = L(a) << 32 | b;
  if (which < 8) {
    return U(both >> which * 8) & 0xFF;
  }
  if (which < 12) {
    return both >> ((which - 8) * 16 + 15) & 1 ? 0xFF : 0;
  }
  return which == 12 ? 0 : 0xFF;
}
static U permute(U a, U b, U selector) {
  U result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    result |= permuteByte(a, b, selector >> byte * 8 & 0xFF) << byte * 8;
  }
  return result;
}

static void addArithmetic(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  add("v_add_u32", lanes<[](U a, U b) { return a + b; }, U, U, U>);
  add("v_sub_u32", lanes<[](U a, U b) { return a - b; }, U, U, U>);
  add("v_subrev_u32", lanes<[](U a, U b) { return b - a; }, U, U, U>);
  add("v_add_i32", lanes<[](U a, U b) { return a + b; }, U, U, U>);
  add("v_sub_i32", lanes<[](U a, U b) { return a - b; }, U, U, U>);
  add("v_mul_lo_u32", lanes<[](U a, U b) { return a * b; }, U, U, U>);
  add("v_mul_hi_u32",
      lanes<[](U a, U b) { return U(L(a) * b >> 32); }, U, U, U>);
  add("v_mul_hi_i32",
      lanes<[](S a, S b) { return U(I(a) * b >> 32); }, U, S, S>);
  add("v_mul_u32_u24",
      lanes<[](U a, U b) { return low24(a) * low24(b); }, U, U, U>);
  add("v_mul_i32_i24",
      lanes<[](U a, U b) { return U(signed24(a)) * U(signed24(b)); }, U, U, U>);
  add("v_mul_hi_u32_u24",
      lanes<[](U a, U b) { return U(L(low24(a)) * low24(b) >> 32); }, U, U, U>);
  add("v_mad_u32_u24",
      lanes<[](U a, U b, U c) { return low24(a) * low24(b) + c; }, U, U, U, U>);
  add("v_mad_i32_i24",
      lanes<[](U a, U b, U c) { return U(signed24(a)) * U(signed24(b)) + c; },
            U, U, U, U>);
  add("v_mad_u32_u16",
      lanes<[](W a, W b, U c) { return U(a) * b + c; }, U, W, W, U>);
  add("v_add3_u32", lanes<[](U a, U b, U c) { return a + b + c; }, U, U, U, U>);
  add("v_lshl_add_u32",
      lanes<[](U a, U b, U c) { return (a << (b & 31)) + c; }, U, U, U, U>);
  add("v_add_lshl_u32",
      lanes<[](U a, U b, U c) { return (a + b) << (c & 31); }, U, U, U, U>);
  add("v_xad_u32",
      lanes<[](U a, U b, U c) { return (a ^ b) + c; }, U, U, U, U>);
  add("v_lshl_add_u64",
      lanes<[](L a, U b, L c) { return (a << (b & 7)) + c; }, L, L, U, L>);
  add("v_sad_u32",
      lanes<[](U a, U b, U c) { return (a > b ? a - b : b - a) + c; }, U, U, U,
            U>);
#define EXTREMES(suffix, T)                                                    \
  add("v_min_" suffix,                                                         \
      lanes<[](T a, T b) { return std::min(a, b); }, T, T, T>);                \
  add("v_max_" suffix, lanes<[](T a, T b) { return std::max(a, b); }, T, T, T>)
#define EXTREMES3(suffix, T)                                                   \
  add("v_min3_" suffix,                                                        \
      lanes<[](T a, T b, T c) { return std::min({a, b, c}); }, T, T, T, T>);   \
  add("v_max3_" suffix,                                                        \
      lanes<[](T a, T b, T c) { return std::max({a, b, c}); }, T, T, T, T>);   \
  add("v_med3_" suffix, lanes<middle<T>, T, T, T, T>)
  EXTREMES("u32", U);
  EXTREMES("i32", S);
  EXTREMES("u16", W);
  EXTREMES("i16", H);
  EXTREMES3("u32", U);
  EXTREMES3("i32", S);
#undef EXTREMES
#undef EXTREMES3
}

static void addLogic(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  add("v_and_b32", lanes<[](U a, U b) { return a & b; }, U, U, U>);
  add("v_or_b32", lanes<[](U a, U b) { return a | b; }, U, U, U>);
  add("v_xor_b32", lanes<[](U a, U b) { return a ^ b; }, U, U, U>);
  add("v_xnor_b32", lanes<[](U a, U b) { return ~(a ^ b); }, U, U, U>);
  add("v_not_b32", lanes<[](U a) { return ~a; }, U, U>);
  add("v_and_or_b32",
      lanes<[](U a, U b, U c) { return (a & b) | c; }, U, U, U, U>);
  add("v_or3_b32", lanes<[](U a, U b, U c) { return a | b | c; }, U, U, U, U>);
  add("v_bfi_b32",
      lanes<[](U a, U b, U c) { return (a & b) | (~a & c); }, U, U, U, U>);
  add("v_bfrev_b32",
      lanes<[](U a) { return __builtin_bitreverse32(a); }, U, U>);
  add("v_bcnt_u32_b32",
      lanes<[](U a, U b) { return U(__builtin_popcount(a)) + b; }, U, U, U>);
  add("v_ffbh_u32",
      lanes<[](U a) { return a ? U(__builtin_clz(a)) : ~0u; }, U, U>);
  add("v_ffbl_b32",
      lanes<[](U a) { return a ? U(__builtin_ctz(a)) : ~0u; }, U, U>);
  add("v_ffbh_i32", lanes<[](U a) {
        U turned = S(a) < 0 ? ~a : a;
        return turned ? U(__builtin_clz(turned)) : ~0u;
      },
                          U, U>);
  add("v_perm_b32", lanes<permute, U, U, U, U>);
  add("v_alignbit_b32",
      lanes<[](U a, U b, U c) { return U((L(a) << 32 | b) >> (c & 31)); }, U, U,
            U, U>);
  add("v_alignbyte_b32",
      lanes<[](U a, U b, U c) { return U((L(a) << 32 | b) >> (c & 3) * 8); }, U,
            U, U, U>);
}

static void addShifts(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  add("v_lshlrev_b32", lanes<[](U a, U b) { return b << (a & 31); }, U, U, U>);
  add("v_lshrrev_b32", lanes<[](U a, U b) { return b >> (a & 31); }, U, U, U>);
  add("v_ashrrev_i32", lanes<[](U a, S b) { return b >> (a & 31); }, S, U, S>);
  add("v_lshlrev_b64", lanes<[](U a, L b) { return b << (a & 63); }, L, U, L>);
  add("v_lshrrev_b64", lanes<[](U a, L b) { return b >> (a & 63); }, L, U, L>);
  add("v_ashrrev_i64", lanes<[](U a, I b) { return b >> (a & 63); }, I, U, I>);
  add("v_lshlrev_b16",
      lanes<[](W a, W b) { return W(b << (a & 15)); }, W, W, W>);
  add("v_lshrrev_b16",
      lanes<[](W a, W b) { return W(b >> (a & 15)); }, W, W, W>);
  add("v_ashrrev_i16",
      lanes<[](W a, H b) { return H(b >> (a & 15)); }, H, W, H>);
  add("v_add_u16", lanes<[](W a, W b) { return W(a + b); }, W, W, W>);
  add("v_sub_u16", lanes<[](W a, W b) { return W(a - b); }, W, W, W>);
  add("v_subrev_u16", lanes<[](W a, W b) { return W(b - a); }, W, W, W>);
  add("v_mul_lo_u16", lanes<[](W a, W b) { return W(U(a) * b); }, W, W, W>);
  add("v_mad_u16",
      lanes<[](W a, W b, W c) { return W(U(a) * b + c); }, W, W, W, W>);
  add("v_mad_legacy_u16",
      lanes<[](W a, W b, W c) { return W(U(a) * b + c); }, W, W, W, W>);
  add("v_lshl_or_b32",
      lanes<[](U a, U b, U c) { return a << (b & 31) | c; }, U, U, U, U>);
  add("v_bfe_u32", lanes<[](U a, U b, U c) {
        U bits = c & 31;
        return bits ? (a >> (b & 31)) & ((1u << bits) - 1) : 0u;
      },
                         U, U, U, U>);
  add("v_bfe_i32", lanes<[](U a, U b, U c) -> S {
        U from = b & 31, bits = std::min(c & 31, 32 - from);
        return bits ? S(a >> from << (32 - bits)) >> (32 - bits) : 0;
      },
                         S, U, U, U>);
  add("v_bfm_b32",
      lanes<[](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); }, U, U,
            U>);
  add("v_mov_b32", lanes<[](U a) { return a; }, U, U>);
  add("v_mov_b64", lanes<[](L a) { return a; }, L, L>);
  add("v_accvgpr_read_b32", lanes<[](U a) { return a; }, U, U>);
  add("v_accvgpr_write_b32", lanes<[](U a) { return a; }, U, U>);
  add("v_accvgpr_mov_b32", lanes<[](U a) { return a; }, U, U>);
}

/// Any function of three bits: the table's bit 4 a + 2 b + c.
static void bitOperation(Wave &wave, const Instruction &i) {
  Source s[3];
  for (unsigned o = 0; o < 3; ++o) {
    s[o] = sourceOf(wave, i.operands[1 + o]);
  }
  bool narrow = llvm::StringRef(i.name).contains("_b16");
  if (narrow && i.modifiers.select) {
    return wave.fail("op_sel is not modelled here");
  }
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    U a = s[0].word(lane), b = s[1].word(lane), c = s[2].word(lane), result = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if (i.modifiers.truth >> row & 1) {
        result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
      }
    }
    to[lane] = narrow ? result & 0xFFFF : result;
  }
}

void modelc::check::addIntegerMeanings(Meanings &to) {
  addArithmetic(to);
  addLogic(to);
  addShifts(to);
  to["v_bitop3_b32"] = {bitOperation, Kind::Vector, {}};
  to["v_bitop3_b16"] = {bitOperation, Kind::Vector, {}};
}
