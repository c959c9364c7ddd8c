//===- Softmax.h - The running softmax of attention -----------------------===//

#ifndef LIB_KERNELS_SOFTMAX_H
#define LIB_KERNELS_SOFTMAX_H

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

/// Unnormalised result (queries x headDim), largest score and sum of powers of
/// each query, in base 2. One after the other they are what a loop carries.
struct Softmax {
  mlir::Value result, maximum, sum;

  static Softmax start(KernelBuilder &k, int64_t queries, int64_t headDim);
  static Softmax of(mlir::ValueRange carried);
  llvm::SmallVector<Carried> carried() const;
  KernelBuilder::Values values() const { return {result, maximum, sum}; }
};

/// One tile of keys in the cache of a sequence.
struct KeyTile {
  mlir::Value keys, values; ///< buffers
  mlir::Value pages;
  Scalar sequence, kvHead, first, context;
  int64_t count;     ///< keys of the tile
  mlir::Value scale; ///< of scores, in base 2, 1 x 1; null: that of headDim
};

/// The scale of scores of a cache whose keys have one: `keyScale` is
/// k_scale[1].
mlir::Value loadScoreScale(KernelBuilder &k, const HeadShape &shape,
                           mlir::Value keyScale);

/// Whether a query sees a key, from the row and column of the scores.
using Visible = llvm::function_ref<Scalar(Element)>;

/// The softmax after another tile of keys. `queries` is queries x headDim.
Softmax addKeys(KernelBuilder &k, const HeadShape &shape, Softmax softmax,
                mlir::Value queries, const KeyTile &tile, Visible isVisible);

/// result / sum in the element type of the shape, times v_scale[1] if there is
/// one.
mlir::Value finishSoftmax(KernelBuilder &k, const HeadShape &shape,
                          const Softmax &softmax, mlir::Value valueScale);

} // namespace modelc::kernels

#endif // LIB_KERNELS_SOFTMAX_H
