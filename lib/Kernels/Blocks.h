//===- Blocks.h - What kernels that write blocks of few bits share --------===//
//
// A workgroup owns a piece of one row: a number of words of scales, each of
// four blocks of neighbours. The first blocks of all words make a tile, a block
// to each of its rows, then the second ones, and so on: so a row of the tile
// has one scale. By OCP MX the scale is the power of two below the largest
// magnitude, over that of the largest number; by NVFP4 the largest magnitude
// over the largest number and over a scale of the tensor, in E4M3. Numbers over
// it, and over that of the tensor, are rounded to nearest even and saturate.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_BLOCKS_H
#define LIB_KERNELS_BLOCKS_H

#include "lib/Kernels/BlockScales.h"

namespace modelc::kernels {

/// Rows of `columns` numbers, in pairs, and their blocks of four bits.
struct BlockWriter {
  KernelBuilder &k;
  int64_t columns;
  BlockScales scales;
  mlir::Type result;            ///< of one number
  int64_t words;                ///< of a tile
  mlir::Value out = {};         ///< pairs of `result`
  mlir::Value scale = {};       ///< words of scales
  mlir::Value tensorScale = {}; ///< [1, 1] in f32; null: 1

  /// Words, blocks of a word, pairs of a block.
  llvm::SmallVector<int64_t> vectorShape() const {
    return {scales.words(columns), schedule::kScalesPerWord, scales.block / 2};
  }
  /// The same of each row of the run.
  llvm::SmallVector<int64_t> matrixShape() const;
  /// Declares `out` and `scale`.
  void declareResults();
  /// Loads `tensorScale` from a buffer of one number.
  void loadTensorScale(mlir::Value buffer);
  /// Of every word from `word` on the block of that number, a row for each. Of
  /// a buffer without rows: `row` is null.
  Place blocksAt(mlir::Value buffer, Scalar row, Scalar word,
                 int64_t block) const;
  /// The pairs there.
  mlir::Value load(llvm::StringRef name, mlir::Value buffer, Scalar row,
                   Scalar word, int64_t block) const;
  /// Stores one block of every word, given the first and the second numbers of
  /// its pairs in f32, and returns their scales.
  mlir::Value quantise(mlir::Value first, mlir::Value second, Scalar row,
                       Scalar word, int64_t block) const;
  /// Stores the scales of the blocks of every word, in their order.
  void storeScales(mlir::ValueRange ofBlocks, Scalar row, Scalar word) const;

private:
  bool isPower() const;
  mlir::Value powerOver(mlir::Value largest) const;
  mlir::Value fractionOver(mlir::Value largest) const;
  Scalar inverseOf(Element e) const;
  Place limited(Place place) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_BLOCKS_H
