//===- VectorFloat.cpp - Arithmetic of floats in each lane ----------------===//

#include "lib/Check/Machine/Lanes.h"
#include <algorithm>

using namespace modelc::check;

using F = float;
using D = double;
using U = uint32_t;
using S = int32_t;

static F median(F a, F b, F c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
    return std::fmin(std::fmin(a, b), c);
  }
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

static int exponentOf(F value) {
  return int(std::bit_cast<U>(value) >> 23 & 0xFF);
}

/// The last step of a division: d = quotient of numerator by denominator, with
/// the special cases that scaling and Newton's steps get wrong.
static F divideFixup(F quotient, F denominator, F numerator) {
  bool negative = std::signbit(denominator) != std::signbit(numerator);
  auto sign = [negative](F value) { return negative ? -value : value; };
  if (std::isnan(numerator) || std::isnan(denominator)) {
    return std::isnan(numerator) ? numerator : denominator;
  }
  bool zero = denominator == 0, infinite = std::isinf(denominator);
  if ((zero && numerator == 0) || (infinite && std::isinf(numerator))) {
    return std::bit_cast<F>(0xFFC00000);
  }
  if (zero || std::isinf(numerator)) {
    return sign(INFINITY);
  }
  if (infinite || numerator == 0) {
    return sign(0);
  }
  if (exponentOf(numerator) - exponentOf(denominator) < -150) {
    return sign(0);
  }
  return sign(std::fabs(quotient));
}

/// d, vcc, value, denominator, numerator: scales what a division works with.
static F divideScale(F value, F denominator, F numerator, bool &flag) {
  auto isDenormal = [](F x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  flag = false;
  if (numerator == 0 || denominator == 0) {
    return NAN;
  }
  if (exponentOf(numerator) - exponentOf(denominator) >= 96) {
    flag = true;
    return value == denominator ? std::ldexp(value, 64) : value;
  }
  if (isDenormal(denominator)) {
    return std::ldexp(value, 64);
  }
  bool smallInverse = isDenormal(1 / denominator);
  bool smallQuotient = isDenormal(numerator / denominator);
  if (smallInverse && smallQuotient) {
    flag = true;
    return value == denominator ? std::ldexp(value, 64) : value;
  }
  if (smallInverse) {
    return std::ldexp(value, -64);
  }
  if (smallQuotient) {
    flag = true;
    return value == numerator ? std::ldexp(value, 64) : value;
  }
  return exponentOf(numerator) <= 23 ? std::ldexp(value, 64) : value;
}

static void divScale(Wave &wave, const Instruction &i) {
  Source sources[3];
  for (unsigned s = 0; s < 3; ++s) {
    sources[s] = sourceOf(wave, i.operands[2 + s]);
  }
  uint64_t flags = 0;
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      bool flag;
      F result = divideScale(readLane<F>(sources[0], lane),
                             readLane<F>(sources[1], lane),
                             readLane<F>(sources[2], lane), flag);
      to[lane] = std::bit_cast<U>(result);
      flags |= uint64_t(flag) << lane;
    }
  }
  setScalar64(wave, i.operands[1], flags);
}

static void divFmas(Wave &wave, const Instruction &i) {
  uint64_t vcc = wave.pair(kVcc);
  Source addend = sourceOf(wave, i.operands[3]);
  F sums[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    sums[lane] = readLane<F>(addend, lane);
  }
  lanes<[](F a, F b, F c) { return std::fma(a, b, c); }, F, F, F, F>(wave, i);
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane) && (vcc >> lane & 1)) {
      int by = exponentOf(sums[lane]) > 127 ? 64 : -64;
      to[lane] = std::bit_cast<U>(std::ldexp(std::bit_cast<F>(to[lane]), by));
    }
  }
}

static void addSingle(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  add("v_add_f32", lanes<[](F a, F b) { return a + b; }, F, F, F>);
  add("v_sub_f32", lanes<[](F a, F b) { return a - b; }, F, F, F>);
  add("v_subrev_f32", lanes<[](F a, F b) { return b - a; }, F, F, F>);
  add("v_mul_f32", lanes<[](F a, F b) { return a * b; }, F, F, F>);
  add("v_mul_legacy_f32",
      lanes<[](F a, F b) { return a == 0 || b == 0 ? 0.0f : a * b; }, F, F, F>);
  add("v_min_f32", lanes<[](F a, F b) { return std::fmin(a, b); }, F, F, F>);
  add("v_max_f32", lanes<[](F a, F b) { return std::fmax(a, b); }, F, F, F>);
  Handler fma =
      lanes<[](F a, F b, F c) { return std::fma(a, b, c); }, F, F, F, F>;
  for (llvm::StringRef name :
       {"v_fma_f32", "v_fmac_f32", "v_fmaak_f32", "v_fmamk_f32"}) {
    add(name, fma);
  }
  add("v_min3_f32",
      lanes<[](F a, F b, F c) { return std::fmin(std::fmin(a, b), c); }, F, F,
            F, F>);
  add("v_max3_f32",
      lanes<[](F a, F b, F c) { return std::fmax(std::fmax(a, b), c); }, F, F,
            F, F>);
  // The IEEE 754-2019 forms: NaN wins.
  add("v_minimum3_f32", lanes<[](F a, F b, F c) {
        F sum = a + b + c;
        return std::isnan(sum) &&
                       (std::isnan(a) || std::isnan(b) || std::isnan(c))
                   ? sum
                   : std::fmin(std::fmin(a, b), c);
      },
                              F, F, F, F>);
  add("v_maximum3_f32", lanes<[](F a, F b, F c) {
        F sum = a + b + c;
        return std::isnan(sum) &&
                       (std::isnan(a) || std::isnan(b) || std::isnan(c))
                   ? sum
                   : std::fmax(std::fmax(a, b), c);
      },
                              F, F, F, F>);
  add("v_med3_f32", lanes<median, F, F, F, F>);
  add("v_div_fixup_f32", lanes<divideFixup, F, F, F, F>);
  add("v_div_scale_f32", divScale);
  add("v_div_fmas_f32", divFmas);
}

static void addRounding(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  add("v_floor_f32", lanes<[](F a) { return std::floor(a); }, F, F>);
  add("v_ceil_f32", lanes<[](F a) { return std::ceil(a); }, F, F>);
  add("v_trunc_f32", lanes<[](F a) { return std::trunc(a); }, F, F>);
  add("v_rndne_f32", lanes<[](F a) { return std::nearbyint(a); }, F, F>);
  add("v_fract_f32",
      lanes<[](F a) { return std::fmin(a - std::floor(a), 0x1.fffffep-1f); }, F,
            F>);
  add("v_ldexp_f32", lanes<[](F a, S b) { return std::ldexp(a, b); }, F, F, S>);
  add("v_frexp_mant_f32", lanes<[](F a) {
        int exponent;
        return std::isfinite(a) ? std::frexp(a, &exponent) : a;
      },
                                F, F>);
  add("v_frexp_exp_i32_f32", lanes<[](F a) -> S {
        int exponent = 0;
        (void)(std::isfinite(a) ? std::frexp(a, &exponent) : a);
        return exponent;
      },
                                   S, F>);
}

/// The units are within one in the last place; these are rounded correctly or
/// nearly so, as on the emulator.
static void addTranscendental(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Transcendental, {}};
  };
  constexpr F kTurn = 6.28318530717958647692f;
  add("v_exp_f32", lanes<[](F a) { return std::exp2(a); }, F, F>);
  add("v_log_f32", lanes<[](F a) { return std::log2(a); }, F, F>);
  add("v_rcp_f32", lanes<[](F a) { return 1 / a; }, F, F>);
  add("v_rcp_iflag_f32", lanes<[](F a) { return 1 / a; }, F, F>);
  add("v_rsq_f32", lanes<[](F a) { return 1 / std::sqrt(a); }, F, F>);
  add("v_sqrt_f32", lanes<[](F a) { return std::sqrt(a); }, F, F>);
  add("v_sin_f32", lanes<[](F a) { return std::sin(a * kTurn); }, F, F>);
  add("v_cos_f32", lanes<[](F a) { return std::cos(a * kTurn); }, F, F>);
  add("v_exp_f16",
      lanes<[](Half a) { return Half{std::exp2(a.value)}; }, Half, Half>);
  add("v_log_f16",
      lanes<[](Half a) { return Half{std::log2(a.value)}; }, Half, Half>);
  add("v_rcp_f16", lanes<[](Half a) { return Half{1 / a.value}; }, Half, Half>);
  add("v_rsq_f16",
      lanes<[](Half a) { return Half{1 / std::sqrt(a.value)}; }, Half, Half>);
  add("v_sqrt_f16",
      lanes<[](Half a) { return Half{std::sqrt(a.value)}; }, Half, Half>);
  add("v_rcp_f64", lanes<[](D a) { return 1 / a; }, D, D>);
  add("v_rsq_f64", lanes<[](D a) { return 1 / std::sqrt(a); }, D, D>);
}

static void addDouble(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  add("v_add_f64", lanes<[](D a, D b) { return a + b; }, D, D, D>);
  add("v_mul_f64", lanes<[](D a, D b) { return a * b; }, D, D, D>);
  add("v_min_f64", lanes<[](D a, D b) { return std::fmin(a, b); }, D, D, D>);
  add("v_max_f64", lanes<[](D a, D b) { return std::fmax(a, b); }, D, D, D>);
  Handler fma =
      lanes<[](D a, D b, D c) { return std::fma(a, b, c); }, D, D, D, D>;
  add("v_fma_f64", fma);
  add("v_fmac_f64", fma);
  add("v_floor_f64", lanes<[](D a) { return std::floor(a); }, D, D>);
  add("v_ceil_f64", lanes<[](D a) { return std::ceil(a); }, D, D>);
  add("v_trunc_f64", lanes<[](D a) { return std::trunc(a); }, D, D>);
  add("v_rndne_f64", lanes<[](D a) { return std::nearbyint(a); }, D, D>);
  add("v_ldexp_f64", lanes<[](D a, S b) { return std::ldexp(a, b); }, D, D, S>);
}

static void addHalf(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Vector, {}};
  };
  using H = Half;
  add("v_add_f16",
      lanes<[](H a, H b) { return H{a.value + b.value}; }, H, H, H>);
  add("v_sub_f16",
      lanes<[](H a, H b) { return H{a.value - b.value}; }, H, H, H>);
  add("v_subrev_f16",
      lanes<[](H a, H b) { return H{b.value - a.value}; }, H, H, H>);
  add("v_mul_f16",
      lanes<[](H a, H b) { return H{a.value * b.value}; }, H, H, H>);
  add("v_min_f16",
      lanes<[](H a, H b) { return H{std::fmin(a.value, b.value)}; }, H, H, H>);
  add("v_max_f16",
      lanes<[](H a, H b) { return H{std::fmax(a.value, b.value)}; }, H, H, H>);
  // The product of two is exact in a double, and so is nearly every sum.
  Handler fma = lanes<[](H a, H b, H c) {
    return H{F(_Float16(D(a.value) * b.value + c.value))};
  },
                      H, H, H, H>;
  add("v_fma_f16", fma);
  add("v_fmac_f16", fma);
}

void modelc::check::addFloatMeanings(Meanings &to) {
  addSingle(to);
  addRounding(to);
  addTranscendental(to);
  addDouble(to);
  addHalf(to);
}
