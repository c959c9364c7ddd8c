//===- PtxLanes.h - The same for each active lane -------------------------===//

#ifndef LIB_CHECK_PTX_PTXLANES_H
#define LIB_CHECK_PTX_PTXLANES_H

#include "lib/Check/Ptx/PtxMachine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace modelc::ptx {

/// Completes an instruction from its modifiers; false: not modelled.
using Decoder = bool (*)(Instruction &, llvm::ArrayRef<llvm::StringRef>);
/// By the name before the first dot.
using Decoders = llvm::StringMap<Decoder>;
void addInteger(Decoders &to);
void addBits(Decoders &to);
void addFloat(Decoders &to);
void addConvert(Decoders &to);
void addPredicates(Decoders &to);
void addMovement(Decoders &to);
void addControl(Decoders &to);
void addAccess(Decoders &to);
void addAtomics(Decoders &to);
void addCopies(Decoders &to);
void addBarriers(Decoders &to);
void addMatrix(Decoders &to);
void addGroupMatrix(Decoders &to);
void addTensor(Decoders &to);

/// Of names that integers have too.
bool decodeFloat(Instruction &i, llvm::ArrayRef<llvm::StringRef> modifiers);

inline bool has(llvm::ArrayRef<llvm::StringRef> modifiers,
                llvm::StringRef one) {
  return std::find(modifiers.begin(), modifiers.end(), one) != modifiers.end();
}

/// Register words of a type.
template <typename T>
using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
T fromWord(Word<T> word) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(word);
  } else {
    return T(word);
  }
}
template <typename T>
Word<T> toWord(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<Word<T>>(value);
  } else {
    return Word<T>(std::make_unsigned_t<T>(value));
  }
}

/// Subnormal numbers become zero of their sign.
inline float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, value)
             : value;
}
inline double flushed(double value) { return value; }

/// Calls visit(lane) for the active lanes.
template <typename Visit>
void forLanes(Mask active, Visit visit) {
  if (active == kAllLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      visit(lane);
    }
    return;
  }
  for (; active; active &= active - 1) {
    visit(unsigned(std::countr_zero(active)));
  }
}

/// d = Op(a), Op(a, b) or Op(a, b, c) in a type.
template <typename T, typename Op>
void unary(Warp &warp, const Instruction &i) {
  auto *d = warp.row<Word<T>>(i.operands[0]);
  const auto *a = warp.row<Word<T>>(i.operands[1]);
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] = toWord<T>(T(Op()(fromWord<T>(a[lane]))));
  });
}
template <typename T, typename Op>
void binary(Warp &warp, const Instruction &i) {
  auto *d = warp.row<Word<T>>(i.operands[0]);
  const auto *a = warp.row<Word<T>>(i.operands[1]);
  const auto *b = warp.row<Word<T>>(i.operands[2]);
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] = toWord<T>(T(Op()(fromWord<T>(a[lane]), fromWord<T>(b[lane]))));
  });
}
template <typename T, typename Op>
void ternary(Warp &warp, const Instruction &i) {
  auto *d = warp.row<Word<T>>(i.operands[0]);
  const auto *a = warp.row<Word<T>>(i.operands[1]);
  const auto *b = warp.row<Word<T>>(i.operands[2]);
  const auto *c = warp.row<Word<T>>(i.operands[3]);
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] = toWord<T>(T(Op()(fromWord<T>(a[lane]), fromWord<T>(b[lane]),
                               fromWord<T>(c[lane]))));
  });
}

/// The handler of a family for an integer type; null if it is none.
template <template <typename> typename Family>
Handler forInteger(Type type) {
  switch (type) {
  case Type::U16:
    return Family<uint16_t>::run;
  case Type::S16:
    return Family<int16_t>::run;
  case Type::U32:
    return Family<uint32_t>::run;
  case Type::S32:
    return Family<int32_t>::run;
  case Type::U64:
    return Family<uint64_t>::run;
  case Type::S64:
    return Family<int64_t>::run;
  default:
    return nullptr;
  }
}
/// Integer handlers of an operation that takes two or three values.
template <typename Op>
struct Two {
  template <typename T>
  struct Of {
    static void run(Warp &warp, const Instruction &i) {
      binary<T, Op>(warp, i);
    }
  };
};
template <typename Op>
struct One {
  template <typename T>
  struct Of {
    static void run(Warp &warp, const Instruction &i) { unary<T, Op>(warp, i); }
  };
};
template <typename Op>
struct Three {
  template <typename T>
  struct Of {
    static void run(Warp &warp, const Instruction &i) {
      ternary<T, Op>(warp, i);
    }
  };
};

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXLANES_H
