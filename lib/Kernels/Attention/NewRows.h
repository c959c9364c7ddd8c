//===- NewRows.h - Where the keys and values of new tokens go -------------===//
//
// Inner to lib/Kernels. One row of the cache, whose page is known before it is
// written, or rows of a tile, each behind its own page. Numbers of a cache of 8
// bits are over its scale, rounded once and saturated.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ATTENTION_NEWROWS_H
#define LIB_KERNELS_ATTENTION_NEWROWS_H

#include "lib/Kernels/Attention/HeadColumns.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace modelc::kernels {

struct NewRows {
  KernelBuilder &k;
  const HeadShape &shape;
  const RopeTile &tile;
  SequenceArguments sequences = {};
  CacheArguments cache = {};

  /// Of one token: its row of the cache; else null.
  Scalar cacheRowOf(const Sequence &sequence, Scalar position);
  /// Of one head, or of all heads of the row if `kvHead` is none.
  Place at(mlir::Value buffer, const Sequence &sequence, Scalar position,
           Scalar kvHead, Scalar cacheRow);
  /// 1 / scale of queries, keys and values as tiles of 1 x 1, null where there
  /// is none: all asked for at once.
  struct Factors {
    mlir::Value query, key, value;
  };
  Factors loadFactors();
  /// Declares the sizes of a step and runs `body` for each tile of new tokens:
  /// the first of them and a KV head, none with `ownsAllHeads`.
  void overTokens(StepRange sizes, bool ownsAllHeads,
                  llvm::function_ref<void(const Sequence &sequence,
                                          Scalar first, Scalar kvHead)>
                      body);
  /// As the cache holds it, times `factor`, 1 x 1, where there is one.
  mlir::Value stored(llvm::StringRef name, mlir::Value tile,
                     mlir::Value factor);
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_NEWROWS_H
