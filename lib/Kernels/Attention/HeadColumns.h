//===- HeadColumns.h - Columns of heads, and which of them RoPE turns -----===//
//
// Inner to lib/Kernels. Columns of a head are loaded in pieces: both sides of
// pairs that turn together, others as they lie. Where pairs are neighbours a
// buffer is seen pair by pair, with a dimension more, so that each side of many
// pairs is a tile.
//
// A pair (a, b) becomes (a cos - b sin, b cos + a sin).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ATTENTION_HEADCOLUMNS_H
#define LIB_KERNELS_ATTENTION_HEADCOLUMNS_H

#include "lib/Kernels/Attention/Sequences.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

/// Where a tile of columns begins: at a column, or at a pair of neighbours with
/// one side of it.
struct HeadColumn {
  int64_t column = 0, side = 0;
};

/// Columns of a head that are loaded together.
struct HeadPiece {
  int64_t columns = 0; ///< of a tile
  llvm::SmallVector<HeadColumn, 2> sides;
  /// The part of the table that turns both sides; none: they are handed on.
  std::optional<size_t> part = {};
};

/// Extents of a buffer of heads of so many columns, behind `lead`.
llvm::SmallVector<int64_t> headExtents(const HeadShape &shape,
                                       llvm::ArrayRef<int64_t> lead,
                                       int64_t columns);
/// The place of heads behind `lead`, at their first columns.
Place headsAt(KernelBuilder &k, const HeadShape &shape, mlir::Value buffer,
              llvm::ArrayRef<Scalar> lead);
/// The same place from other columns on.
Place fromColumn(KernelBuilder &k, const HeadShape &shape, Place place,
                 HeadColumn column);

/// All columns of a head of queries or keys.
llvm::SmallVector<HeadPiece> turnedPieces(const HeadShape &shape);
/// Those of a head that does not turn.
llvm::SmallVector<HeadPiece> plainPieces(const HeadShape &shape,
                                         int64_t columns);

/// Cosines and sines of tokens, in parts.
struct RopeTable {
  mlir::Value buffer = {};
  llvm::SmallVector<mlir::Value, 2> cosines = {}, sines = {};

  /// Declares rope[position, 2, pairs].
  static RopeTable declare(KernelBuilder &k, const HeadShape &shape);
  void load(KernelBuilder &k, const HeadShape &shape, int64_t tokens,
            const Sequence &sequence, Scalar position);
};

/// One of the sides of a piece turned, or as it is, as `type` and times
/// `factor`, 1 x 1, where there is one.
mlir::Value turned(KernelBuilder &k, const RopeTable &table,
                   const HeadPiece &piece, mlir::ValueRange sides, size_t side,
                   mlir::Type type, mlir::Value factor);

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_HEADCOLUMNS_H
