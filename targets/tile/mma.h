//===- mma.h - Products of tiles in registers -----------------------------===//
//
// An instruction is a struct that each vendor's tiles header defines, named as
// the row of the target's [[mma]] table:
//
//   struct Name {
//     static constexpr int k;                       of one instruction
//     static constexpr int kOfB;                    where b is not packed as a is: the same of b
//     static constexpr int a, b, c;                 elements of a lane's fragments
//     static constexpr int firstStep;               image of register bit 0 of the result: rows(1) or columns(1)
//     multiply(C *c, const A *a, const B *b);       c += a b^T
//     deal<Fragments>(word)                         of blocks: the scales of so many fragments, from a word of a row of
//     one multiply<ByteA, ByteB>(c, a, b, scalesOfA, scalesOfB);    with that byte of what was dealt
//   };
//
// Extents along K are in stored elements, of which packed ones hold several
// numbers. One instruction uses one word of scales of each row.
//
// Registers of an operand: [fragment][repeats along K][repeats along M or N],
// of the accumulator: [fragment][repeats along N][repeats along M], of scales:
// [repeats along K][repeats along M or N that no lanes hold].
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_MMA_H
#define MODELC_TARGETS_TILE_MMA_H

namespace modelc {

template <class A>
constexpr bool kIsWaveOperand = false;
template <class T, class L>
constexpr bool kIsWaveOperand<Tile<T, L>> = true;
template <class S, class L, bool T>
constexpr bool kIsWaveOperand<Fragments<S, L, T>> = true;

/// The registers of a part of the steps along K.
template <int Fragment, int Parts, int Part, int Steps>
struct StepsAlongK {
  TILE_CONSTEXPR static bool has(int r) { return r / (Fragment * Steps) % Parts == Part; }
};
template <class Which, class T, class L>
TILE const Tile<T, L> &operandPart(const Tile<T, L> &tile) {
  return tile;
}
template <class Which, class S, class L, bool T>
TILE Tile<typename S::Element, L> operandPart(const Fragments<S, L, T> &operand) {
  Tile<typename S::Element, L> tile;
  loadShared<T, Which>(tile, operand.from);
  return tile;
}

/// Steps along K that one read from shared memory fills.
template <class A>
struct StepsOfRead {
  static constexpr int registers = 1;
};
template <class S, class L, bool T>
struct StepsOfRead<Fragments<S, L, T>> {
  static constexpr int registers = registersOfRead<SharedAccess<S, L, T>, typename S::Element>();
};

/// If the accumulator's layout is that of the transposed product, the operands
/// of the instruction are exchanged; those of different shapes never are.
template <class I, class LC>
constexpr bool kIsExchanged = I::a == I::b && LC::OfRegister::image(0) != I::firstStep;

/// Stored elements of b along K of one instruction.
template <class I>
TILE_CONSTEXPR int stepOfB() {
  if constexpr (requires { I::kOfB; }) {
    return I::kOfB;
  } else {
    return I::k;
  }
}

/// multiply(c, a, b, i, j) for each instruction: where its fragments begin and
/// the numbers of those of a and b. What lies in shared memory is read a few
/// steps along K at a time.
template <class I, bool BTransposed, class TC, class LC, class A, class B, class F>
TILE void eachProduct(Tile<TC, LC> &c, const A &a, const B &b, F multiply) {
  using LA = typename A::InLayout;
  using LB = typename B::InLayout;
  constexpr int repeatsK = LA::columnCount / I::k;
  constexpr int repeatsM = LA::registers / (I::a * repeatsK), repeatsN = LB::registers / (I::b * repeatsK);
  static_assert((BTransposed ? LB::rowCount : LB::columnCount) == repeatsK * stepOfB<I>(),
                "expected equal extents along K");
  static_assert(LC::registers == I::c * repeatsM * repeatsN && LA::registers == I::a * repeatsK * repeatsM &&
                    LB::registers == I::b * repeatsK * repeatsN,
                "expected registers of whole fragments");
  constexpr int together =
      smaller(repeatsK, larger(1, larger(StepsOfRead<A>::registers / I::a, StepsOfRead<B>::registers / I::b)));
  constexpr int parts = repeatsK / together;
  repeat<parts>([&](auto part) INLINE {
    const auto &x = operandPart<StepsAlongK<I::a, parts, part.value, together>>(a);
    const auto &y = operandPart<StepsAlongK<I::b, parts, part.value, together>>(b);
    repeat<together * repeatsM * repeatsN>([&](auto kij) INLINE {
      constexpr int ij = kij.value % (repeatsM * repeatsN),
                    k = part.value * together + kij.value / (repeatsM * repeatsN);
      constexpr int i = ij / repeatsN, j = ij % repeatsN;
      constexpr int ofA = i * repeatsK + k, ofB = j * repeatsK + k;
      multiply(c.v + ij * I::c, x.v + ofA * I::a, y.v + ofB * I::b, Constant<ofA>{}, Constant<ofB>{});
    });
  });
}

/// c += a b^T; where `BTransposed`, b is a tile of K rows.
template <class I, bool BTransposed = false, class TC, class LC, class A, class B>
  requires(kIsWaveOperand<A> && kIsWaveOperand<B>)
TILE void mma(Tile<TC, LC> &c, const A &a, const B &b) {
  eachProduct<I, BTransposed>(c, a, b, [&](TC *sums, const auto *x, const auto *y, auto, auto) INLINE {
    if constexpr (kIsExchanged<I, LC>) {
      I::multiply(sums, y, x);
    } else {
      I::multiply(sums, x, y);
    }
  });
}

/// The scales of an operand, dealt out to the lanes that give them to instructions. Words are [repeats along K][those
/// of so many fragments along M or N].
template <class I, int RepeatsK, int Fragments, class L>
struct DealtScales {
  int words[L::registers];
  template <class S>
  TILE_MEMBER explicit DealtScales(const Tile<S, L> &scales) {
    repeat<L::registers>([&](auto r) INLINE { words[r.value] = I::template deal<Fragments>(scales.v[r.value]); });
  }
  /// Which byte of which word a fragment [repeats along K][repeats along M or N] has.
  TILE_CONSTEXPR static int byteOf(int fragment) { return fragment / RepeatsK % Fragments; }
  TILE_CONSTEXPR static int wordOf(int fragment) {
    return fragment / RepeatsK / Fragments * RepeatsK + fragment % RepeatsK;
  }
};

/// The same with a scale for each block of K of every row.
template <class I, class TC, class LC, class A, class B, class S, class LA, class LB>
  requires(kIsWaveOperand<A> && kIsWaveOperand<B>)
TILE void mma(Tile<TC, LC> &c, const A &a, const B &b, const Tile<S, LA> &scalesOfA, const Tile<S, LB> &scalesOfB) {
  constexpr int repeatsK = A::InLayout::columnCount / I::k;
  using OfA = DealtScales<I, repeatsK, A::InLayout::registers / I::a / LA::registers, LA>;
  using OfB = DealtScales<I, repeatsK, B::InLayout::registers / I::b / LB::registers, LB>;
  const OfA ofA(scalesOfA);
  const OfB ofB(scalesOfB);
  eachProduct<I, false>(c, a, b, [&](TC *sums, const auto *x, const auto *y, auto i, auto j) INLINE {
    constexpr int byteA = OfA::byteOf(i.value), byteB = OfB::byteOf(j.value);
    const int wordA = ofA.words[OfA::wordOf(i.value)], wordB = ofB.words[OfB::wordOf(j.value)];
    if constexpr (kIsExchanged<I, LC>) {
      I::template multiply<byteB, byteA>(sums, y, x, wordB, wordA);
    } else {
      I::template multiply<byteA, byteB>(sums, x, y, wordA, wordB);
    }
  });
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_MMA_H
