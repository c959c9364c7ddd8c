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

/// c += a b^T; where `BTransposed`, b is a tile of K rows. If the accumulator's
/// layout is that of the transposed product, the operands are exchanged.
template <class I, bool BTransposed = false, class TA, class TB, class TC, class LA, class LB, class LC>
TILE void mma(Tile<TC, LC> &c, const Tile<TA, LA> &a, const Tile<TB, LB> &b) {
  constexpr int repeatsK = LA::columnCount / I::k;
  constexpr int repeatsM = LA::registers / (I::a * repeatsK), repeatsN = LB::registers / (I::b * repeatsK);
  static_assert((BTransposed ? LB::rowCount : LB::columnCount) == LA::columnCount, "expected equal extents along K");
  static_assert(LC::registers == I::c * repeatsM * repeatsN && LA::registers == I::a * repeatsK * repeatsM &&
                    LB::registers == I::b * repeatsK * repeatsN,
                "expected registers of whole fragments");
  constexpr bool exchanged = LC::OfRegister::image(0) != I::firstStep;
  static_assert(!exchanged || I::a == I::b, "expected operands of one shape where they are exchanged");
  repeat<repeatsK>([&](auto k) INLINE {
    repeat<repeatsM * repeatsN>([&](auto ij) INLINE {
      constexpr int i = ij.value / repeatsN, j = ij.value % repeatsN;
      const TA *x = a.v + (i * repeatsK + k.value) * I::a;
      const TB *y = b.v + (j * repeatsK + k.value) * I::b;
      if constexpr (exchanged) {
        I::multiply(c.v + ij.value * I::c, y, x);
      } else {
        I::multiply(c.v + ij.value * I::c, x, y);
      }
    });
  });
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_MMA_H
