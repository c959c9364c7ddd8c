//===- PtxBits.cpp - Shifts, masks and fields of bits ---------------------===//

#include "lib/Check/Ptx/PtxLanes.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return T(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return T(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return T(a ^ b);
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    return T(~a);
  }
};
struct Reverse {
  template <typename T>
  T operator()(T a) const {
    T result = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
      result = T(uint64_t(result) << 1 | (uint64_t(a) >> bit & 1));
    }
    return result;
  }
};

/// Amounts are 32 bits; those beyond the width give zeros or signs.
template <typename T>
struct ShiftLeft {
  static void run(Warp &warp, const Instruction &i) {
    auto *d = warp.row<Word<T>>(i.operands[0]);
    const auto *a = warp.row<Word<T>>(i.operands[1]);
    const auto *by = warp.row<uint32_t>(i.operands[2]);
    forLanes(warp.active, [&](unsigned lane) {
      bool all = by[lane] >= 8 * sizeof(T);
      d[lane] = toWord<T>(all ? T(0) : T(uint64_t(a[lane]) << by[lane]));
    });
  }
};
template <typename T>
struct ShiftRight {
  static void run(Warp &warp, const Instruction &i) {
    auto *d = warp.row<Word<T>>(i.operands[0]);
    const auto *a = warp.row<Word<T>>(i.operands[1]);
    const auto *by = warp.row<uint32_t>(i.operands[2]);
    constexpr uint32_t kBits = 8 * sizeof(T);
    forLanes(warp.active, [&](unsigned lane) {
      T value = fromWord<T>(a[lane]);
      bool all = by[lane] >= kBits;
      d[lane] =
          toWord<T>(all ? T(value < T(0) ? -1 : 0) : T(value >> by[lane]));
    });
  }
};

/// d = the bits of a from b on, c of them.
template <typename T>
struct Extract {
  static void run(Warp &warp, const Instruction &i) {
    auto *d = warp.row<Word<T>>(i.operands[0]);
    const auto *a = warp.row<Word<T>>(i.operands[1]);
    const auto *from = warp.row<uint32_t>(i.operands[2]);
    const auto *count = warp.row<uint32_t>(i.operands[3]);
    constexpr unsigned kBits = 8 * sizeof(T);
    forLanes(warp.active, [&](unsigned lane) {
      unsigned start = from[lane] & 0xFF, length = count[lane] & 0xFF;
      T value = fromWord<T>(a[lane]);
      unsigned last = std::min(start + length - 1, kBits - 1);
      bool sign = std::is_signed_v<T> && length && (value >> last & 1);
      uint64_t result = sign ? ~uint64_t(0) : 0;
      for (unsigned bit = 0; bit < std::min(length, kBits); ++bit) {
        bool one = start + bit < kBits ? value >> (start + bit) & 1 : sign;
        result = (result & ~(uint64_t(1) << bit)) | uint64_t(one) << bit;
      }
      d[lane] = Word<T>(result);
    });
  }
};

/// d = b with d's bits of a put at c, e of them.
template <typename T>
struct Insert {
  static void run(Warp &warp, const Instruction &i) {
    auto *d = warp.row<Word<T>>(i.operands[0]);
    const auto *a = warp.row<Word<T>>(i.operands[1]);
    const auto *b = warp.row<Word<T>>(i.operands[2]);
    const auto *at = warp.row<uint32_t>(i.operands[3]);
    const auto *count = warp.row<uint32_t>(i.operands[4]);
    constexpr unsigned kBits = 8 * sizeof(T);
    forLanes(warp.active, [&](unsigned lane) {
      unsigned start = at[lane] & 0xFF, length = count[lane] & 0xFF;
      uint64_t field =
          length >= 64 ? ~uint64_t(0) : (uint64_t(1) << length) - 1;
      uint64_t mask = start < kBits ? field << start : 0;
      uint64_t put = start < kBits ? uint64_t(a[lane]) << start : 0;
      d[lane] = Word<T>((uint64_t(b[lane]) & ~mask) | (put & mask));
    });
  }
};
} // namespace

/// d = a truth table of a, b, c.
static void lop3(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const auto *a = warp.row<uint32_t>(i.operands[1]);
  const auto *b = warp.row<uint32_t>(i.operands[2]);
  const auto *c = warp.row<uint32_t>(i.operands[3]);
  uint32_t table = uint32_t(i.operands[4].offset);
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; ++row) {
      uint32_t match = (row & 4 ? a[lane] : ~a[lane]) &
                       (row & 2 ? b[lane] : ~b[lane]) &
                       (row & 1 ? c[lane] : ~c[lane]);
      result |= table >> row & 1 ? match : 0;
    }
    d[lane] = result;
  });
}

/// d = bytes of b:a that the selector names.
static void permute(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const auto *a = warp.row<uint32_t>(i.operands[1]);
  const auto *b = warp.row<uint32_t>(i.operands[2]);
  const auto *selector = warp.row<uint32_t>(i.operands[3]);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t both = a[lane] | uint64_t(b[lane]) << 32;
    uint32_t result = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      uint32_t which = selector[lane] >> 4 * byte & 0xF;
      uint32_t value = uint32_t(both >> 8 * (which & 7)) & 0xFF;
      if (which & 8) {
        value = value & 0x80 ? 0xFF : 0;
      }
      result |= value << 8 * byte;
    }
    d[lane] = result;
  });
}

/// d = the upper or lower word of b:a shifted by c.
static void funnelShift(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const auto *a = warp.row<uint32_t>(i.operands[1]);
  const auto *b = warp.row<uint32_t>(i.operands[2]);
  const auto *by = warp.row<uint32_t>(i.operands[3]);
  bool left = i.how & 1, clamps = i.how & 2;
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t both = a[lane] | uint64_t(b[lane]) << 32;
    uint32_t amount = clamps ? std::min(by[lane], 32u) : by[lane] & 31;
    d[lane] = left ? uint32_t(both << amount >> 32) : uint32_t(both >> amount);
  });
}

/// Bits that are set, or leading zeros; the result has 32 bits.
template <typename T, bool Leading>
static void countBits(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  const auto *a = warp.row<T>(i.operands[1]);
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] =
        uint32_t(Leading ? std::countl_zero(a[lane]) : std::popcount(a[lane]));
  });
}

static bool decodeBits(Instruction &i, Handler handler) {
  i.handler = handler;
  i.kind = check::Kind::Vector;
  return handler;
}

/// Logic of predicates is that of their masks.
template <typename Op>
static void onPredicates(Warp &warp, const Instruction &i) {
  Mask a = warp.predicate(i.operands[1]);
  Mask result;
  if constexpr (std::is_same_v<Op, Not>) {
    result = ~a;
  } else {
    result = Op()(a, warp.predicate(i.operands[2]));
  }
  Mask &d = warp.predicates[i.operands[0].row];
  d = (d & ~warp.active) | (result & warp.active);
}

template <typename Op>
static bool decodeLogic(Instruction &i, ArrayRef<StringRef>) {
  if (i.type == Type::Predicate) {
    return decodeBits(i, onPredicates<Op>);
  }
  return decodeBits(i, forInteger<Two<Op>::template Of>(i.type));
}
static bool decodeNot(Instruction &i, ArrayRef<StringRef>) {
  if (i.type == Type::Predicate) {
    return decodeBits(i, onPredicates<Not>);
  }
  return decodeBits(i, forInteger<One<Not>::Of>(i.type));
}
template <template <typename> typename Family>
static bool decodeFamily(Instruction &i, ArrayRef<StringRef>) {
  return decodeBits(i, forInteger<Family>(i.type));
}
template <bool Leading>
static bool decodeCount(Instruction &i, ArrayRef<StringRef>) {
  return decodeBits(i, bytesOf(i.type) == 8 ? countBits<uint64_t, Leading>
                                            : countBits<uint32_t, Leading>);
}

void modelc::ptx::addBits(Decoders &to) {
  to["and"] = decodeLogic<And>;
  to["or"] = decodeLogic<Or>;
  to["xor"] = decodeLogic<Xor>;
  to["not"] = decodeNot;
  to["shl"] = decodeFamily<ShiftLeft>;
  to["shr"] = decodeFamily<ShiftRight>;
  to["bfe"] = decodeFamily<Extract>;
  to["bfi"] = decodeFamily<Insert>;
  to["popc"] = decodeCount<false>;
  to["clz"] = decodeCount<true>;
  to["brev"] = [](Instruction &i, ArrayRef<StringRef>) {
    return decodeBits(i, forInteger<One<Reverse>::Of>(i.type));
  };
  to["lop3"] = [](Instruction &i, ArrayRef<StringRef>) {
    return decodeBits(i, lop3);
  };
  to["prmt"] = [](Instruction &i, ArrayRef<StringRef> modifiers) {
    return decodeBits(i, modifiers.size() == 1 ? permute : nullptr);
  };
  to["shf"] = [](Instruction &i, ArrayRef<StringRef> modifiers) {
    i.how = uint8_t(has(modifiers, "l") | has(modifiers, "clamp") << 1);
    return decodeBits(i, funnelShift);
  };
}
