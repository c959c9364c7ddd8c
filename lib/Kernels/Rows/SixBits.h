//===- SixBits.h - Numbers of six bits, blocks of 24 bytes ----------------===//
//
// A lane of the matrix unit takes a block of 32 neighbours along K, 192 bits,
// the first number in the lowest ones. No power of two divides a row into such
// blocks, which layouts want, and no copy or read moves 24 bytes. So a row
// holds the first 16 bytes of all its blocks, the heads, and behind them the
// last 8 bytes of all, the tails:
//
//   | head 0 | head 1 | head 2 | ... | head 7 |t0|t1|t2|...|t7|    192 bytes
//
// Rows are padded to whole 256 numbers, so that they begin at 64 bytes.
//
// Copies move 16 bytes, which hold one head or two tails; a lane reads its head
// and its tail by one wide access each, as fast for a byte as those of other
// types. (Reads of 12 bytes twice would take shared memory 16 phases for a wave
// where these take 6.)
//
// Kernels see a buffer twice, as heads and as tails: rows of the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ROWS_SIXBITS_H
#define LIB_KERNELS_ROWS_SIXBITS_H

#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

/// Whether numbers of the type lie as heads and tails.
bool hasTails(mlir::Type number);

/// What a buffer holds of such numbers: a block of them.
mlir::Type blockOfSixBits(mlir::Type number);

/// Bytes of the tails of so many numbers, whole blocks.
int64_t tailBytes(int64_t numbers);
/// Blocks that a row of so many numbers has room for.
int64_t blocksOfRow(int64_t columns);
/// The element of the view of tails where those of a row begin.
int64_t firstTail(int64_t columns);

/// The name of the view of tails beside that of heads.
std::string tailsOf(llvm::StringRef name);

/// One buffer, seen twice; other types of numbers have no tails.
struct Views {
  mlir::Value heads = {}, tails = {};
};

/// Declares the two views of a matrix of so many numbers a row; its elements in
/// groups of extents `inner`.
Views declareViews(KernelBuilder &k, llvm::StringRef name, int64_t rows,
                   int64_t columns, llvm::ArrayRef<int64_t> inner = {});

/// Blocks of `number` from tiles of their heads and tails.
mlir::Value join(KernelBuilder &k, llvm::StringRef name, mlir::Type number,
                 mlir::Value heads, mlir::Value tails);
/// The heads and the tails of a tile of blocks.
Views separate(KernelBuilder &k, mlir::Value blocks);

} // namespace modelc::kernels

#endif // LIB_KERNELS_ROWS_SIXBITS_H
