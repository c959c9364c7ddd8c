//===- Pairs.h - Pairs of tokens and experts, counted by their expert -----===//

#ifndef LIB_KERNELS_EXPERTS_PAIRS_H
#define LIB_KERNELS_EXPERTS_PAIRS_H

#include "lib/Kernels/Experts/Slots.h"

namespace modelc::kernels {

/// All pairs of a step, of which a workgroup walks a chunk. Experts are
/// counted from the first of this rank; those of other ranks are -1.
struct Pairs {
  KernelBuilder &k;
  const PlaceShape &shape;
  const PlaceTile &tile;
  mlir::Value chosen;
  Scalar tokens;
  StepSlots sizes;
  mlir::Value numbers = {}; ///< of the experts, 1 x columns

  static Pairs of(KernelBuilder &k, const PlaceShape &shape,
                  const PlaceTile &tile, mlir::Value chosen, Scalar tokens) {
    return {k,      shape,  tile,
            chosen, tokens, StepSlots::of(k, shape.slots, tokens)};
  }
  int64_t experts() const { return shape.slots.experts; }
  /// Experts of a tile.
  int64_t columns() const { return llvm::PowerOf2Ceil(experts()); }
  Scalar chunkCount() const { return ceilDiv(sizes.pairs, tile.chunk); }
  Scalar firstPair(Scalar chunk) const {
    return chunk * static_cast<double>(tile.chunk);
  }
  /// Of a chunk: so many pairs at a time. One workgroup that owns all of them
  /// goes no further than they do.
  Scalar steps(int64_t together) const {
    Scalar most = k.constant(llvm::divideCeil(tile.chunk, together));
    return shape.isWhole ? minimum(ceilDiv(sizes.pairs, together), most) : most;
  }

  /// Makes the numbers of experts.
  void numberExperts();
  /// A tile of pairs from that one on, one below the other. They lie one after
  /// the other in memory: the columns of a token go on in the next.
  Place pairsAt(mlir::Value buffer, Scalar pair) const;
  /// The experts of the pairs of a step, one below the other, or of so many
  /// side by side.
  mlir::Value expertsBelow(Scalar pair) const;
  mlir::Value expertsBeside(Scalar pair, int64_t count) const;
  /// 1 where a row's number is that of the column's expert, else 0.
  mlir::Value isOf(mlir::Value numberOfRow) const;
  /// How many pairs of a chunk each expert has, 1 x columns.
  mlir::Value countIn(Scalar chunk) const;

private:
  mlir::Value ofThisRank(mlir::Value loaded, Scalar pair, bool isBeside) const;
};

/// 1 or 0, in the type of the numbers.
inline Scalar isEqual(Scalar a, Scalar b) {
  KernelBuilder *k = a.kernel;
  return select(a == b, k->integer(a.type(), 1), k->integer(a.type(), 0));
}

} // namespace modelc::kernels

#endif // LIB_KERNELS_EXPERTS_PAIRS_H
