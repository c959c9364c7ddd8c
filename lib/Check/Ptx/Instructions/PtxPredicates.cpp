//===- PtxPredicates.cpp - Comparisons and choices ------------------------===//

#include "lib/Check/Ptx/PtxLanes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {
/// The relation that holds between two values: a bit each in `how`.
enum Relation : uint8_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
/// How the result is combined with another predicate.
enum class With : uint16_t { Nothing, And, Or, Xor };

template <typename T>
struct Compare {
  static void run(Warp &warp, const Instruction &i) {
    const auto *a = warp.row<Word<T>>(i.operands[1]);
    const auto *b = warp.row<Word<T>>(i.operands[2]);
    Mask result = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      T x = fromWord<T>(a[lane]), y = fromWord<T>(b[lane]);
      unsigned relation = x < y    ? kLess
                          : x > y  ? kGreater
                          : x == y ? kEqual
                                   : kUnordered;
      result |= Mask((i.how & relation) != 0) << lane;
    }
    finish(warp, i, result);
  }

  static Mask combine(With with, Mask result, Mask other) {
    return with == With::And   ? result & other
           : with == With::Or  ? result | other
           : with == With::Xor ? result ^ other
                               : result;
  }
  static void put(Warp &warp, const Operand &to, Mask result) {
    if (to.place == Operand::Place::Predicate) {
      Mask &d = warp.predicates[to.row];
      d = (d & ~warp.active) | (result & warp.active);
    }
  }
  static void finish(Warp &warp, const Instruction &i, Mask result) {
    auto with = With(i.shape[0]);
    Mask other = with == With::Nothing ? 0 : warp.predicate(i.operands[3]);
    const Operand &to = i.operands[0];
    if (to.place == Operand::Place::Tuple) {
      put(warp, to.parts[0], combine(with, result, other));
      put(warp, to.parts[1], combine(with, ~result, other));
    } else {
      put(warp, to, combine(with, result, other));
    }
  }
};
} // namespace

/// d = predicate ? a : b
template <typename T>
static void select(Warp &warp, const Instruction &i) {
  auto *d = warp.row<T>(i.operands[0]);
  const auto *a = warp.row<T>(i.operands[1]);
  const auto *b = warp.row<T>(i.operands[2]);
  Mask which = warp.predicate(i.operands[3]);
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] = which >> lane & 1 ? a[lane] : b[lane];
  });
}

static uint8_t relationNamed(StringRef name) {
  return llvm::StringSwitch<uint8_t>(name)
      .Case("eq", kEqual)
      .Case("ne", kLess | kGreater)
      .Cases({"lt", "lo"}, kLess)
      .Cases({"le", "ls"}, kLess | kEqual)
      .Cases({"gt", "hi"}, kGreater)
      .Cases({"ge", "hs"}, kGreater | kEqual)
      .Case("equ", kEqual | kUnordered)
      .Case("neu", kLess | kGreater | kUnordered)
      .Case("ltu", kLess | kUnordered)
      .Case("leu", kLess | kEqual | kUnordered)
      .Case("gtu", kGreater | kUnordered)
      .Case("geu", kGreater | kEqual | kUnordered)
      .Case("num", kLess | kEqual | kGreater)
      .Case("nan", kUnordered)
      .Default(0);
}

static bool decodeCompare(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Vector;
  i.how = modifiers.empty() ? 0 : relationNamed(modifiers.front());
  i.shape[0] = uint16_t(has(modifiers, "and")   ? With::And
                        : has(modifiers, "or")  ? With::Or
                        : has(modifiers, "xor") ? With::Xor
                                                : With::Nothing);
  i.handler = i.type == Type::F32   ? Compare<float>::run
              : i.type == Type::F64 ? Compare<double>::run
                                    : forInteger<Compare>(i.type);
  return i.how && i.handler;
}

static bool decodeSelect(Instruction &i, ArrayRef<StringRef>) {
  i.kind = check::Kind::Vector;
  i.handler = bytesOf(i.type) == 8 ? select<uint64_t> : select<uint32_t>;
  return true;
}

void modelc::ptx::addPredicates(Decoders &to) {
  to["setp"] = decodeCompare;
  to["selp"] = decodeSelect;
}
