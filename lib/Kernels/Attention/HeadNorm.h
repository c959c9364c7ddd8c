//===- HeadNorm.h - Heads of queries and keys are normed ------------------===//
//
// Inner to lib/Kernels: RMS norm of rows that are heads, whose columns lie in
// several tiles of registers.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ATTENTION_HEADNORM_H
#define LIB_KERNELS_ATTENTION_HEADNORM_H

#include "lib/Kernels/Attention/HeadColumns.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

struct HeadNorm {
  KernelBuilder &k;
  const HeadShape &shape;
  mlir::Value queries = {}, keys = {}; ///< weights; null: nothing is normed

  using Tiles = llvm::SmallVector<mlir::Value, 4>;

  void declare();
  /// So many weights from a column on, for each row alike.
  mlir::Value load(mlir::Value weights, HeadColumn column,
                   int64_t columns) const;
  /// All columns of some heads, times their weights, in f32.
  Tiles normed(llvm::ArrayRef<mlir::Value> columns,
               llvm::ArrayRef<mlir::Value> weights) const;

private:
  mlir::Value factorOf(llvm::ArrayRef<mlir::Value> columns) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_HEADNORM_H
