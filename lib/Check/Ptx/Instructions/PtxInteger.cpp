//===- PtxInteger.cpp - Arithmetic of integers ----------------------------===//

#include "lib/Check/Ptx/PtxLanes.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  }
};
struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return T(std::make_unsigned_t<T>(a) - std::make_unsigned_t<T>(b));
  }
};
struct MultiplyLow {
  template <typename T>
  T operator()(T a, T b) const {
    return T(uint64_t(a) * uint64_t(b));
  }
};
struct MultiplyHigh {
  template <typename T>
  T operator()(T a, T b) const {
    using Wide =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T(Wide(a) * Wide(b) >> (8 * sizeof(T)));
  }
};
struct MultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return T(uint64_t(a) * uint64_t(b) + uint64_t(c));
  }
};
struct MultiplyHighAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add()(MultiplyHigh()(a, b), c);
  }
};
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) {
      return T(~T(0)); // as the machine does
    }
    return b == T(-1) && std::is_signed_v<T> ? Subtract()(T(0), a) : T(a / b);
  }
};
struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) {
      return a;
    }
    return b == T(-1) && std::is_signed_v<T> ? T(0) : T(a % b);
  }
};
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct Negate {
  template <typename T>
  T operator()(T a) const {
    return Subtract()(T(0), a);
  }
};
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    return a < T(0) ? Subtract()(T(0), a) : a;
  }
};

/// d = a * b or a * b + c with a result of twice the size.
template <typename T>
struct Wide {
  static void run(Warp &warp, const Instruction &i) {
    using Long = std::conditional_t<
        sizeof(T) == 2,
        std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
    auto *d = warp.row<Word<Long>>(i.operands[0]);
    const auto *a = warp.row<Word<T>>(i.operands[1]);
    const auto *b = warp.row<Word<T>>(i.operands[2]);
    const auto *c =
        i.operands.size() > 3 ? warp.row<Word<Long>>(i.operands[3]) : nullptr;
    forLanes(warp.active, [&](unsigned lane) {
      auto product = uint64_t(Long(fromWord<T>(a[lane]))) *
                     uint64_t(Long(fromWord<T>(b[lane])));
      d[lane] = Word<Long>(product + (c ? c[lane] : 0));
    });
  }
};
} // namespace

template <typename Op>
static bool decodeTwo(Instruction &i, ArrayRef<StringRef>) {
  i.handler = forInteger<Two<Op>::template Of>(i.type);
  i.kind = check::Kind::Vector;
  return i.handler && i.operands.size() == 3;
}
template <typename Op>
static bool decodeOne(Instruction &i, ArrayRef<StringRef>) {
  i.handler = forInteger<One<Op>::template Of>(i.type);
  i.kind = check::Kind::Vector;
  return i.handler && i.operands.size() == 2;
}

static bool decodeMultiply(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Vector;
  bool adds = i.operands.size() > 3;
  if (has(modifiers, "wide")) {
    i.handler = forInteger<Wide>(i.type);
  } else if (has(modifiers, "hi")) {
    i.handler = adds ? forInteger<Three<MultiplyHighAdd>::Of>(i.type)
                     : forInteger<Two<MultiplyHigh>::Of>(i.type);
  } else if (has(modifiers, "lo")) {
    i.handler = adds ? forInteger<Three<MultiplyAdd>::Of>(i.type)
                     : forInteger<Two<MultiplyLow>::Of>(i.type);
  }
  return i.handler;
}

/// Names that floats share: their family decodes those.
template <Decoder Integer>
static bool either(Instruction &i, ArrayRef<StringRef> modifiers) {
  return isFloat(i.type) || has(modifiers, "f32x2")
             ? modelc::ptx::decodeFloat(i, modifiers)
             : Integer(i, modifiers);
}

void modelc::ptx::addInteger(Decoders &to) {
  to["add"] = either<decodeTwo<Add>>;
  to["sub"] = either<decodeTwo<Subtract>>;
  to["mul"] = either<decodeMultiply>;
  to["mad"] = either<decodeMultiply>;
  to["div"] = either<decodeTwo<Divide>>;
  to["rem"] = decodeTwo<Remainder>;
  to["min"] = either<decodeTwo<Minimum>>;
  to["max"] = either<decodeTwo<Maximum>>;
  to["neg"] = either<decodeOne<Negate>>;
  to["abs"] = either<decodeOne<Absolute>>;
}
