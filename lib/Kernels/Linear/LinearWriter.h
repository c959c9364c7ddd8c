//===- LinearWriter.h - The epilogue of a linear --------------------------===//
//
// Inner to lib/Kernels: what the kernel of a linear and the one that adds its
// parts share.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_LINEAR_LINEARWRITER_H
#define LIB_KERNELS_LINEAR_LINEARWRITER_H

#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Linear/LinearFamily.h"

namespace modelc::kernels {

Scalar sumOf(llvm::ArrayRef<Scalar> values);
/// What an epilogue makes of a sum: scaled, with the bias; null: none of it.
Scalar finishedSum(Scalar sum, Scalar inputScale, Scalar weightScale,
                   Scalar bias);

/// Arguments of the epilogue, and places that know whether tiles are
/// transposed.
struct LinearWriter {
  KernelBuilder &k;
  const LinearShape &shape;
  bool isSwapped;
  int64_t tileM, tileN; ///< of the product that is stored
  bool isRagged;        ///< some tile reaches beyond the last column
  mlir::Value aScale, wScale, bias, residual, d;
  mlir::Value tileExperts;
  Scalar m;
  Scalar expert; ///< whose rows these are; null: of one matrix

  LinearWriter(KernelBuilder &k, const LinearShape &shape,
               const LinearTile &tile)
      : k(k), shape(shape), isSwapped(tile.isSwapped), tileM(tile.m),
        tileN(tile.n), isRagged(shape.columns % tile.columnsOfNeighbours()) {}

  /// Whether the kernel multiplies by the scales of blocks.
  bool isGrouped() const { return shape.blockScales.isByKernel(); }
  void declareEpilogue();
  void declareExperts();
  /// Loads the expert of the tile that begins at row `row`.
  void findExpert(Scalar row);
  /// Of so many rows and columns of d.
  Shape shapeOf(int64_t rows, int64_t columns) const;
  Shape tile() const { return shapeOf(tileM, tileN); }
  /// A tile of a buffer whose rows are those of d: `dims` walk its rows and
  /// columns.
  Place tileAt(mlir::Value buffer, llvm::ArrayRef<Scalar> offsets,
               Scalar columnLimit, int64_t rowDim, int64_t columnDim) const;
  /// Of each row of a, or one of all.
  mlir::Value loadInputScale(Scalar row);
  mlir::Value loadPerRow(llvm::StringRef name, mlir::Value buffer, Scalar row);
  mlir::Value loadPerColumn(llvm::StringRef name, mlir::Value buffer,
                            Scalar column);
  /// The row of w that makes a column of d, or its gate.
  Scalar rowOfWeight(Scalar column) const;
  /// That of up, below all of gate.
  Scalar upRow(Scalar row) const {
    return k.name("up_row", row + static_cast<double>(shape.columns));
  }
  /// Asks the last cache for the first columns of the workgroup's rows of `w`,
  /// from stored column `depth` on, while earlier kernels run.
  void askForWeights(mlir::Value w, Scalar column, Scalar depth,
                     const LinearTile &tile) const;
  void storeResult(mlir::ValueRange sums, Scalar row, Scalar column);
  /// The sums of one part of the walk, where another kernel adds the parts.
  void storeParts(mlir::Value partial, mlir::ValueRange sums, Scalar row,
                  Scalar column, Scalar part);
  /// One element of d in f32. Inputs in order: sums, input scale, then for each
  /// sum its column scale and bias, then the residual.
  Scalar finishElement(Element e) const;

private:
  void addColumnInputs(llvm::SmallVectorImpl<mlir::Value> &inputs, Scalar row);
};

/// The kernel with what its tile asks of the schedule passes.
schedule::KernelOp asScheduled(schedule::KernelOp kernel,
                               const LinearTile &tile);

/// As buildLinearReduce, of a result that is quantised in blocks.
schedule::KernelOp buildLinearReduceBlocks(mlir::OpBuilder &builder,
                                           const Label &label,
                                           const LinearShape &shape,
                                           const LinearTile &tile, Range rows);

} // namespace modelc::kernels

#endif // LIB_KERNELS_LINEAR_LINEARWRITER_H
