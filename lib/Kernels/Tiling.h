//===- Tiling.h - How kernels are cut over a target -----------------------===//
//
// For a linear: enumerate tiles, keep those that the target can run, order them
// by a preview of their seconds, let the caller judge the first few on the real
// schedule. The others follow from the width of a row and the size of a unit.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_TILING_H
#define LIB_KERNELS_TILING_H

#include "lib/Kernels/Families.h"
#include "lib/Kernels/Kernels.h"

namespace modelc::kernels {

/// A tile and why it was taken.
template <typename Tile>
struct Chosen {
  Tile tile;
  std::string note;
};

/// Sizes at which a range is judged are at most this.
constexpr int64_t kJudgedRows = 4096;

class Tiling {
public:
  Tiling(const Target &target, const KernelOptions &options)
      : target(target), options(options) {}

  /// Ranges of rows that get kernels of their own; together 1 to `most`.
  static llvm::SmallVector<Range> ranges(int64_t most);

  /// Candidates in order, best preview first.
  llvm::SmallVector<LinearTile> candidates(const LinearShape &shape,
                                           Range rows) const;
  /// Tiles that the workgroups of a cluster multiply together, each its own
  /// rows of them, where an instruction does; widest first.
  llvm::SmallVector<LinearTile> paired(const LinearShape &shape,
                                       Range rows) const;
  /// Why the target cannot run the tile, or empty.
  std::string reasonAgainst(const LinearShape &shape,
                            const LinearTile &tile) const;
  /// The best candidate. `builder` is where kernels may be built for a moment.
  llvm::FailureOr<Chosen<LinearTile>>
  linear(mlir::OpBuilder &builder, const LinearShape &shape, Range rows) const;

  /// Whether an instruction multiplies the types of the shape, and the types
  /// of all that there are.
  bool multiplies(const LinearShape &shape) const;
  llvm::SmallVector<std::string> multiplied() const;

  /// Kernels that own whole rows at once, or walk them in chunks.
  RowTile wholeRow(int64_t columns) const;
  RowTile chunkedRow(int64_t columns) const;
  /// Kernels that own some blocks of a row, four tiles of pairs.
  RowTile blocksOfRow(int64_t columns) const;
  /// Kernels that own all blocks of a row, four tiles of pairs.
  RowTile blocksOfWholeRow(int64_t columns, const BlockScales &scales) const;
  /// Kernels that own a piece of a matrix.
  RowTile piece(int64_t columns) const;
  /// Kernels that own a slice of such a piece on each of `ranks` devices; no
  /// columns where these do not divide so.
  RowTile sliced(int64_t columns, int64_t ranks) const;
  /// Rows up to which devices reduce between themselves in one step, and in
  /// two; beyond the vendor's library is faster. 0: none. A preview by
  /// arithmetic, as that of linears: times of steps come from their kernels.
  struct ExchangeRows {
    int64_t inOne = 0, inTwo = 0;
  };
  ExchangeRows exchangeRows(const ExchangeShape &shape) const;

  RopeTile rope(const HeadShape &shape, bool isDecode) const;
  /// Candidates in order, most queries first.
  llvm::SmallVector<PrefillTile> candidates(const HeadShape &shape) const;
  /// The best candidate. `builder` is where kernels may be built for a moment.
  Chosen<PrefillTile> prefill(mlir::OpBuilder &builder, const HeadShape &shape,
                              StepRange sizes) const;
  /// Candidates in order, most keys first.
  llvm::SmallVector<DecodeTile> decodeTiles(const HeadShape &shape) const;
  DecodeTile decode(mlir::OpBuilder &builder, const HeadShape &shape) const;
  SampleTile sample(const SampleShape &shape) const;

  /// Workgroups that fill the machine twice.
  int64_t fullGrid() const { return 2 * target.execution.units; }

  const Target &target;
  const KernelOptions &options;

private:
  llvm::SmallVector<LinearTile> withRoles(const LinearShape &shape,
                                          LinearTile tile) const;
  using MmaRows = llvm::SmallVector<const MmaRow *>;
  /// The rows of the table that multiply the elements of a shape.
  MmaRows rowsFor(const LinearShape &shape) const;
  std::string reasonAgainst(const LinearShape &shape, const LinearTile &tile,
                            const MmaRow *row) const;
  /// Whether the instruction of the tile runs beside the waves that ask for it.
  bool multipliesBeside(const LinearShape &shape, const LinearTile &tile) const;
  /// Registers of 4 bytes that a lane of such a workgroup can have.
  int64_t registersPerLane(int64_t waves) const;
  /// Whether the sums of a tile and its epilogue fit into registers.
  bool holdsSums(const LinearShape &shape, const LinearTile &tile,
                 const MmaRow &row) const;
  /// Whether scores, results and queries of so many queries and keys fit.
  bool holdsAttention(const HeadShape &shape, int64_t queries, int64_t keys,
                      int64_t waves) const;
  const MmaRow *unitRowFor(const HeadShape &shape,
                           const PrefillTile &tile) const;
  bool holdsSums(const HeadShape &shape, const PrefillTile &tile,
                 const MmaRow &row) const;
  bool holdsOperands(const HeadShape &shape, const PrefillTile &tile,
                     const MmaRow &row) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_TILING_H
