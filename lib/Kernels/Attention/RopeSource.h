//===- RopeSource.h - Queries, keys and values before they are rotated ----===//
//
// Inner to lib/Kernels: rows that the linear before has made, or the parts of
// its sums, which are added here and finished as its epilogue would. What one
// asks for is on its way until it is `finished`.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ATTENTION_ROPESOURCE_H
#define LIB_KERNELS_ATTENTION_ROPESOURCE_H

#include "lib/Kernels/Attention/HeadColumns.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

struct RopeSource {
  KernelBuilder &k;
  const HeadShape &shape;
  const SumParts &sums;
  mlir::Value numbers = {}; ///< [tokens, parts of sums, heads of all, headDim]
  mlir::Value inputScale = {}, weightScale = {}, bias = {}; ///< maybe null

  /// What numbers are made of: one tile, or the parts of sums, then the scale
  /// of the input, scales and biases of columns.
  using Asked = llvm::SmallVector<mlir::Value>;

  void declare();
  /// The tile from a row and a head on: its rows are heads, or else tokens.
  Place at(Scalar row, Scalar head, bool areHeads, Scalar limit) const;
  Asked load(llvm::StringRef name, Shape tile, Place from, HeadColumn column);
  /// The numbers of which all that was asked for is there.
  mlir::Value finished(llvm::StringRef name, const Asked &asked);

private:
  Asked loadParts(Shape tile, Place &from);
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_ROPESOURCE_H
