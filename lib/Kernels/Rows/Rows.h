//===- Rows.h - What kernels that own whole rows have in common -----------===//

#ifndef LIB_KERNELS_ROWS_ROWS_H
#define LIB_KERNELS_ROWS_ROWS_H

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

/// Places and 8-bit scales of `tile.rows` rows of `columns` columns, of which
/// `m` exist.
struct RowWriter {
  KernelBuilder &k;
  int64_t columns;
  const RowTile &tile;
  Scalar m;

  /// A tile of a [m, columns] buffer, behind coordinates of its own.
  Place tileAt(mlir::Value buffer, Scalar row, Scalar column,
               llvm::ArrayRef<Scalar> lead = {}) const;
  /// As many columns of a [columns] buffer.
  Place vectorAt(mlir::Value buffer, Scalar column) const;
  /// The largest magnitude of each row of an f32 tile.
  mlir::Value largest(mlir::Value tile) const;
  /// As `scaleOver`, of each row.
  mlir::Value scaleOf(mlir::Value largest, mlir::Type type) const;
  void storeScale(mlir::Value scale, mlir::Value buffer, Scalar row) const;
  mlir::Value loadScale(mlir::Value buffer, Scalar row) const;
  /// An f32 tile over its rows' scales, in 8 bits.
  mlir::Value quantise(mlir::Value tile, mlir::Value scale,
                       mlir::Type type) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_ROWS_ROWS_H
