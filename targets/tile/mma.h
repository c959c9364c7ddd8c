//===- mma.h - Products of tiles in registers -----------------------------===//
//
// An instruction is a struct that each vendor's tiles header defines, named as
// the row of the target's [[mma]] table:
//
//   struct Name {
//     static constexpr int k;                       of one instruction
//     static constexpr int a, b, c;                 elements of a lane's fragments
//     static constexpr int firstStep;               image of register bit 0 of the result: rows(1) or columns(1)
//     multiply(C *c, const A *a, const B *b);       c += a b^T
//   };
//
// Registers of an operand: [fragment][repeats along K][repeats along M or N],
// of the accumulator: [fragment][repeats along N][repeats along M].
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

/// c += a b^T; where `BTransposed`, b is a tile of K rows. If the accumulator's
/// layout is that of the transposed product, the operands are exchanged. What
/// lies in shared memory is read a few steps along K at a time.
template <class I, bool BTransposed = false, class TC, class LC, class A, class B>
  requires(kIsWaveOperand<A> && kIsWaveOperand<B>)
TILE void mma(Tile<TC, LC> &c, const A &a, const B &b) {
  using LA = typename A::InLayout;
  using LB = typename B::InLayout;
  constexpr int repeatsK = LA::columnCount / I::k;
  constexpr int repeatsM = LA::registers / (I::a * repeatsK), repeatsN = LB::registers / (I::b * repeatsK);
  static_assert((BTransposed ? LB::rowCount : LB::columnCount) == LA::columnCount, "expected equal extents along K");
  static_assert(LC::registers == I::c * repeatsM * repeatsN && LA::registers == I::a * repeatsK * repeatsM &&
                    LB::registers == I::b * repeatsK * repeatsN,
                "expected registers of whole fragments");
  constexpr bool exchanged = LC::OfRegister::image(0) != I::firstStep;
  static_assert(!exchanged || I::a == I::b, "expected operands of one shape where they are exchanged");
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
      if constexpr (exchanged) {
        I::multiply(c.v + ij * I::c, y.v + (j * repeatsK + k) * I::b, x.v + (i * repeatsK + k) * I::a);
      } else {
        I::multiply(c.v + ij * I::c, x.v + (i * repeatsK + k) * I::a, y.v + (j * repeatsK + k) * I::b);
      }
    });
  });
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_MMA_H
