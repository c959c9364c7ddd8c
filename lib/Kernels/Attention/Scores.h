//===- Scores.h - What scores of attention are beside products ------------===//
//
// A score is the product of a query and a key, times a scale, of which
// temperatures of positions and scales of numbers of 8 bits are a part, and
// maybe held below a cap. The softmax takes scores in base 2.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ATTENTION_SCORES_H
#define LIB_KERNELS_ATTENTION_SCORES_H

#include "lib/Kernels/Attention/Sequences.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

inline constexpr double kLog2E = 1.4426950408889634;

/// Of the keys that a query sees, the first; `end`: it sees none from there on.
Scalar firstKeySeen(KernelBuilder &k, const HeadShape &shape, Scalar end);
/// The tile of so many keys that it lies in.
Scalar firstTileSeen(KernelBuilder &k, const HeadShape &shape, Scalar end,
                     int64_t keys);

/// What scores depend on beside queries and keys: numbers of heads and of
/// positions.
struct ScoreArguments {
  mlir::Value sink = {}, temperature = {}; ///< maybe null

  /// Declares [sink[heads]] and [temperature[position]].
  static ScoreArguments declare(KernelBuilder &k, const HeadShape &shape);
  /// The scale of scores, of each of `queries` from `position` to `limit` or 1
  /// x 1; null: it is that of the shape.
  mlir::Value loadScale(KernelBuilder &k, const HeadShape &shape,
                        const CacheArguments &cache, int64_t queries,
                        Scalar position, Scalar limit) const;
};

/// Makes scores of products, in base 2.
struct ScoreScale {
  KernelBuilder &k;
  const HeadShape &shape;
  mlir::Value scale; ///< as of ScoreArguments::loadScale

  /// The products where scores have no cap; else the scores.
  mlir::Value capped(mlir::Value products) const;
  /// Inputs of a map that makes scores of what `capped` returns.
  llvm::SmallVector<mlir::Value>
  with(std::initializer_list<mlir::Value> values) const;
  /// There, the score of input `i`, and that plus a number.
  Scalar times(Element e, unsigned i) const;
  Scalar timesPlus(Element e, unsigned i, Scalar addend) const;

private:
  Scalar factor(Element e) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_SCORES_H
