//===- Softmax.h - The running softmax of attention -----------------------===//

#ifndef LIB_KERNELS_ATTENTION_SOFTMAX_H
#define LIB_KERNELS_ATTENTION_SOFTMAX_H

#include "lib/Kernels/Attention/Scores.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

#include <optional>

namespace modelc::kernels {

/// Unnormalised results (queries x valueDim, in parts), largest score and sum
/// of powers of each query, in base 2. One after the other they are what a loop
/// carries.
struct Softmax {
  llvm::SmallVector<mlir::Value, 2> results;
  mlir::Value maximum, sum;
  /// queries x keys, of the tile before, whose values have not been added yet;
  /// null where they are added at once.
  mlir::Value weights = {};
  /// queries x keys, products with the tile before, which have not been weighed
  /// yet; null where they are weighed at once.
  mlir::Value scores = {};

  /// With weights where `keys` > 0, of so many keys.
  static Softmax start(KernelBuilder &k, const HeadShape &shape,
                       int64_t queries, int64_t keys = 0,
                       bool hasScores = false);
  static Softmax of(const HeadShape &shape, mlir::ValueRange carried);
  llvm::SmallVector<Carried> carried() const;
  KernelBuilder::Values values() const;
};

/// One tile of keys in the cache of a sequence.
struct KeyTile {
  mlir::Value keys, values; ///< buffers
  mlir::Value pages;
  Scalar sequence, kvHead, first, context;
  Scalar firstValue; ///< of the values that are added: of the tile before
                     ///< where the softmax has weights
  Scalar valueEnd;   ///< values from here on are not loaded
  int64_t count;     ///< keys of the tile
  mlir::Value scale; ///< of scores, in base 2, of each query or 1 x 1; null:
                     ///< that of the shape
  std::string expectFirst = {}; ///< the part of the trips that is the first
  int64_t fmaExponentials = 0;  ///< as of PrefillTile
};

/// The softmax that begins with the sinks of its queries, of each or 1 x 1,
/// in the first part of the keys; in all where `part` is none.
Softmax withSinks(KernelBuilder &k, const HeadShape &shape,
                  const Softmax &start, mlir::Value sinks, Scalar part = {});

/// Which keys of a tile a query does not see.
struct Mask {
  /// From the row and column of the scores.
  llvm::function_ref<Scalar(Element)> isVisible;
  /// Whether some query of the tile does not see some key; none: always.
  std::optional<Scalar> isNeeded = {};
  std::string expect = {}; ///< in what part of the trips it is needed
};

/// Queries as tiles of the parts of their columns; `place`: the first column.
llvm::SmallVector<mlir::Value, 2>
loadQueries(KernelBuilder &k, const HeadShape &shape, int64_t queries,
            llvm::function_ref<Place(int64_t column)> place);

/// The softmax after another tile of keys. `queries` is queries x headDim, in
/// parts.
/// Where the softmax has weights, the values of the tile before are multiplied
/// beside the exponentials of this one, and results are scaled anew only where
/// the maximum has grown by much. Where it has scores too, those of the tile
/// before are weighed, and `mask` is theirs.
Softmax addKeys(KernelBuilder &k, const HeadShape &shape, Softmax softmax,
                mlir::ValueRange queries, const KeyTile &tile,
                const Mask &mask);

/// 1 / sum of each row, times v_scale[1] if there is one: one division for
/// each.
mlir::Value softmaxFactor(KernelBuilder &k, mlir::Value sum,
                          mlir::Value valueScale);

/// results / sum in the element type of the shape, times v_scale[1] if there is
/// one.
llvm::SmallVector<mlir::Value, 2> finishSoftmax(KernelBuilder &k,
                                                const HeadShape &shape,
                                                const Softmax &softmax,
                                                mlir::Value valueScale);

/// Stores tiles side by side; `place`: the first column.
void storeParts(KernelBuilder &k, mlir::ValueRange parts,
                llvm::function_ref<Place(int64_t column)> place);

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_SOFTMAX_H
