//===- PtxFloat.cpp - Arithmetic of floats --------------------------------===//
//
// Approximate functions are those of the host, as on the emulator; the
// machine's own differ in the last bits.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Formats.h"
#include "lib/Check/Ptx/PtxLanes.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
using Add = std::plus<>;
using Subtract = std::minus<>;
using Multiply = std::multiplies<>;
using Divide = std::divides<>;
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::fmin(a, b);
  }
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fmin(std::fmin(a, b), c);
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::fmax(a, b);
  }
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fmax(std::fmax(a, b), c);
  }
};
struct Fused {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
/// The sum to nearest less what it is too large by, which floats hold exactly.
struct AddDown {
  float operator()(float a, float b) const {
    float sum = a + b, part = sum - a;
    float error = (a - (sum - part)) + (b - part);
    return error < 0 ? std::nextafter(sum, -INFINITY) : sum;
  }
};
struct MaximumOrNaN {
  float operator()(float a, float b) const {
    return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
  }
};
using Negate = std::negate<>;
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
struct Root {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct InverseRoot {
  template <typename T>
  T operator()(T a) const {
    return T(1) / std::sqrt(a);
  }
};
struct Inverse {
  template <typename T>
  T operator()(T a) const {
    return T(1) / a;
  }
};
struct Exponential {
  float operator()(float a) const { return std::exp2(a); }
};
struct Logarithm {
  float operator()(float a) const { return std::log2(a); }
};
struct Tangent {
  float operator()(float a) const { return std::tanh(a); }
};
struct Sine {
  float operator()(float a) const { return std::sin(a); }
};
struct Cosine {
  float operator()(float a) const { return std::cos(a); }
};

/// An operation whose operands and result are flushed where `.ftz` says so.
template <typename Op>
struct Flushing {
  template <typename... T>
  auto operator()(T... a) const {
    return flushed(Op()(flushed(a)...));
  }
};
} // namespace

using Modifiers = ArrayRef<StringRef>;

template <typename Op>
static Handler two(const Instruction &i) {
  return i.type == Type::F64 ? binary<double, Op>
         : i.flush           ? binary<float, Flushing<Op>>
                             : binary<float, Op>;
}
template <typename Op>
static Handler one(const Instruction &i) {
  return i.type == Type::F64 ? unary<double, Op>
         : i.flush           ? unary<float, Flushing<Op>>
                             : unary<float, Op>;
}
template <typename Op>
static Handler oneOfFloat(const Instruction &i) {
  return i.flush ? unary<float, Flushing<Op>> : unary<float, Op>;
}
template <typename Op>
static Handler twoOfFloat(const Instruction &i) {
  return i.flush ? binary<float, Flushing<Op>> : binary<float, Op>;
}
template <typename Op>
static Handler three(const Instruction &i) {
  return i.type == Type::F64 ? ternary<double, Op>
         : i.flush           ? ternary<float, Flushing<Op>>
                             : ternary<float, Op>;
}

/// Two values of 16 bits in a word, computed in float and rounded once.
template <typename Op, unsigned Count>
static void onPair(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const uint32_t *from[Count];
  for (unsigned n = 0; n < Count; ++n) {
    from[n] = warp.row<uint32_t>(i.operands[n + 1]);
  }
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t result = 0;
    for (unsigned shift : {0u, 16u}) {
      float in[Count];
      for (unsigned n = 0; n < Count; ++n) {
        in[n] = check::bf16ToFloat(uint16_t(from[n][lane] >> shift));
      }
      float value;
      if constexpr (Count == 3) {
        value = Op()(in[0], in[1], in[2]);
      } else {
        value = Op()(in[0], in[1]);
      }
      result |= uint32_t(check::floatToBf16(value)) << shift;
    }
    d[lane] = result;
  });
}
/// Two floats in 8 bytes.
template <typename Op, unsigned Count>
static void onWidePair(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint64_t>(i.operands[0]);
  const uint64_t *from[3] = {};
  for (unsigned n = 0; n < Count; ++n) {
    from[n] = warp.row<uint64_t>(i.operands[n + 1]);
  }
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t result = 0;
    for (unsigned shift : {0u, 32u}) {
      auto in = [&](unsigned n) {
        return std::bit_cast<float>(uint32_t(from[n][lane] >> shift));
      };
      float value;
      if constexpr (Count == 3) {
        value = Op()(in(0), in(1), in(2));
      } else {
        value = Op()(in(0), in(1));
      }
      result |= uint64_t(std::bit_cast<uint32_t>(value)) << shift;
    }
    d[lane] = result;
  });
}
static Handler widePairHandler(StringRef name) {
  return name == "add"   ? onWidePair<Add, 2>
         : name == "sub" ? onWidePair<Subtract, 2>
         : name == "mul" ? onWidePair<Multiply, 2>
         : name == "fma" ? onWidePair<Fused, 3>
                         : nullptr;
}

static Handler pairHandler(StringRef name) {
  return name == "add"   ? onPair<Add, 2>
         : name == "sub" ? onPair<Subtract, 2>
         : name == "mul" ? onPair<Multiply, 2>
         : name == "fma" ? onPair<Fused, 3>
         : name == "max" ? onPair<Maximum, 2>
         : name == "min" ? onPair<Minimum, 2>
                         : nullptr;
}

static Handler handlerOf(StringRef name, const Instruction &i) {
  if (i.type == Type::Bf16Pair) {
    return pairHandler(name);
  }
  if (i.type != Type::F32 && i.type != Type::F64) {
    return nullptr;
  }
  switch (i.operands.size()) {
  case 2:
    return name == "neg"   ? one<Negate>(i)
           : name == "abs" ? one<Absolute>(i)
                           : nullptr;
  case 3:
    return name == "add"   ? two<Add>(i)
           : name == "sub" ? two<Subtract>(i)
           : name == "mul" ? two<Multiply>(i)
           : name == "div" ? two<Divide>(i)
           : name == "min" ? two<Minimum>(i)
           : name == "max" ? two<Maximum>(i)
                           : nullptr;
  case 4:
    return name == "fma" || name == "mad" ? three<Fused>(i)
           : name == "min"                ? three<Minimum>(i)
           : name == "max"                ? three<Maximum>(i)
                                          : nullptr;
  default:
    return nullptr;
  }
}

/// Sums that are rounded down and maxima that keep what is not a number.
static Handler specialHandler(StringRef name, const Instruction &i,
                              Modifiers modifiers) {
  if (i.type != Type::F32 || i.operands.size() != 3) {
    return nullptr;
  }
  if (name == "add" && has(modifiers, "rm")) {
    return twoOfFloat<AddDown>(i);
  }
  return name == "max" && has(modifiers, "NaN") ? twoOfFloat<MaximumOrNaN>(i)
                                                : nullptr;
}

bool modelc::ptx::decodeFloat(Instruction &i, Modifiers modifiers) {
  i.kind = check::Kind::Vector;
  StringRef name = StringRef(i.name).split('.').first;
  if (has(modifiers, "sat") || has(modifiers, "rz") || has(modifiers, "rp") ||
      has(modifiers, "relu")) {
    return false;
  }
  if (has(modifiers, "rm") || has(modifiers, "NaN")) {
    i.handler = specialHandler(name, i, modifiers);
    return i.handler;
  }
  i.handler = has(modifiers, "f32x2") && !i.flush ? widePairHandler(name)
                                                  : handlerOf(name, i);
  return i.handler;
}

template <Handler (*Make)(const Instruction &)>
static bool decodeOf(Instruction &i, Modifiers) {
  i.kind = check::Kind::Transcendental;
  i.handler = i.type == Type::F32 || i.type == Type::F64 ? Make(i) : nullptr;
  return i.handler;
}

void modelc::ptx::addFloat(Decoders &to) {
  to["fma"] = decodeFloat;
  to["sqrt"] = decodeOf<one<Root>>;
  to["rsqrt"] = decodeOf<one<InverseRoot>>;
  to["rcp"] = decodeOf<one<Inverse>>;
  to["ex2"] = decodeOf<oneOfFloat<Exponential>>;
  to["lg2"] = decodeOf<oneOfFloat<Logarithm>>;
  to["tanh"] = decodeOf<oneOfFloat<Tangent>>;
  to["sin"] = decodeOf<oneOfFloat<Sine>>;
  to["cos"] = decodeOf<oneOfFloat<Cosine>>;
}
