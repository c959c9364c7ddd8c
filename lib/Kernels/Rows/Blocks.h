//===- Blocks.h - What kernels that write blocks of few bits share --------===//
//
// A workgroup owns a piece of one row: a number of words of scales, each of
// four blocks of neighbours or of one. The first blocks of all words make a
// tile, a block to each of its rows, then the second ones, and so on: so a row
// of the tile has one scale. By OCP MX the scale is the power of two below the
// largest magnitude, over that of the largest number; by NVFP4 the largest
// magnitude over the largest number and over a scale of the tensor, in E4M3; in
// f32 the largest magnitude over the largest number. Numbers over it, and over
// that of the tensor, are rounded to nearest even and saturate. Numbers of four
// bits lie in pairs, of six in blocks (SixBits.h), as do those that they are
// made from.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ROWS_BLOCKS_H
#define LIB_KERNELS_ROWS_BLOCKS_H

#include "lib/Kernels/Rows/BlockScales.h"

namespace modelc::kernels {

/// Rows of `columns` numbers and their blocks of few bits.
struct BlockWriter {
  KernelBuilder &k;
  int64_t columns;
  BlockScales scales;
  mlir::Type result;            ///< of one number
  int64_t words;                ///< of a tile
  mlir::Value out = {};         ///< numbers of `result`
  mlir::Value tails = {};       ///< of those of six bits
  mlir::Value scale = {};       ///< words of scales
  mlir::Value tensorScale = {}; ///< [1, 1] in f32; null: 1

  /// Numbers of a stored element.
  int64_t together() const;
  /// A stored element of these numbers.
  mlir::Type stored(mlir::Type number) const;
  /// One number of such an element in f32.
  Scalar numberIn(Scalar element, int64_t index) const;
  /// Words, blocks of a word, stored elements of a block.
  llvm::SmallVector<int64_t> vectorShape() const {
    return {scales.words(columns), scales.scalesPerWord(),
            scales.block / together()};
  }
  /// The same of each row of the run.
  llvm::SmallVector<int64_t> matrixShape() const;
  /// A block of every word, in stored elements.
  Shape tile() const { return {words, scales.block / together()}; }
  /// Declares `out` and `scale`.
  void declareResults();
  /// Loads `tensorScale` from a buffer of one number.
  void loadTensorScale(mlir::Value buffer);
  /// Of every word from `word` on the block of that number, a row for each,
  /// behind coordinates of the buffer's own. Of one without rows: `row` is
  /// null.
  Place blocksAt(mlir::Value buffer, Scalar row, Scalar word, int64_t block,
                 llvm::ArrayRef<Scalar> lead = {}) const;
  /// The elements there.
  mlir::Value load(llvm::StringRef name, mlir::Value buffer, Scalar row,
                   Scalar word, int64_t block) const;
  /// Stores one block of every word, given each number of its elements in f32,
  /// and returns their scales.
  mlir::Value quantise(mlir::ValueRange numbers, Scalar row, Scalar word,
                       int64_t block) const;
  /// Stores the scales of the blocks of every word, in their order.
  void storeScales(mlir::ValueRange ofBlocks, Scalar row, Scalar word) const;

private:
  bool isPower() const;
  mlir::Value powerOver(mlir::Value largest) const;
  mlir::Value fractionOver(mlir::Value largest) const;
  mlir::Value wholeOver(mlir::Value largest) const;
  void store(mlir::Value quantised, Scalar row, Scalar word,
             int64_t block) const;
  Scalar inverseOf(Scalar scale, Scalar ofTensor) const;
  Place limited(Place place, int64_t first = 0) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_ROWS_BLOCKS_H
