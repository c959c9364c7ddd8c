//===- Tiling.h - How kernels are cut over a target -----------------------===//
//
// For a linear: enumerate tiles, keep those that the target can run, order them
// by a preview of their seconds, let the caller judge the first few on the real
// schedule. The others follow from the width of a row and the size of a unit.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_TILING_H
#define LIB_KERNELS_TILING_H

#include "lib/Kernels/Candidates.h"
#include "lib/Kernels/ExpertFamilies.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Kernels.h"
#include "lib/Kernels/Rows/SampleFamily.h"

namespace modelc::kernels {

/// Slots of the ring that feeds a product, at least.
constexpr int64_t kMinSlots = 2;
/// Of a role that adds products to its sums: two on each scheduler, so that one
/// adds while another reads.
constexpr int64_t kWavesThatAdd = 8;

/// A tile and why it was taken.
template <typename Tile>
struct Chosen {
  Tile tile;
  std::string note;
};

/// How devices add up some rows.
struct SumVariant {
  Range rows;
  std::optional<Exchange> kind = {}; ///< none: by the vendor's library
  bool isFused = false;              ///< in the kernel of the norm
};

/// Sizes at which a range is judged are at most this.
constexpr int64_t kJudgedRows = 16384;

/// Why tiles do not read scales of blocks as these lie, or do not multiply by
/// them; empty: nothing.
std::string reasonAgainstScales(const LinearShape &shape,
                                const LinearTile &tile);

/// Of so many keys, those in tiles that decode walks at most.
inline int64_t walkedKeys(const HeadShape &shape, const DecodeTile &tile,
                          int64_t keys) {
  if (shape.chunk > 0) {
    bool isWhole = shape.chunk % tile.keys == 0;
    keys = std::min(keys, shape.chunk + (isWhole ? 0 : tile.keys));
  }
  return shape.window > 0 ? std::min(keys, shape.window + tile.keys) : keys;
}

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
  /// Tiles with a side that is no power of two, of single workgroups and of
  /// those that multiply together, where the preview says that the grid's last
  /// round is so much fuller that they beat `best`.
  llvm::SmallVector<LinearTile> uneven(const LinearShape &shape, Range rows,
                                       const LinearTile &best) const;
  /// Why the target cannot run the tile, or empty.
  std::string reasonAgainst(const LinearShape &shape,
                            const LinearTile &tile) const;
  /// The best candidate. `candidates` are the kernels built so far to be
  /// judged.
  llvm::FailureOr<Chosen<LinearTile>>
  linear(Candidates &candidates, const LinearShape &shape, Range rows) const;

  /// Stored columns of the weight that the tile's workgroups ask the last cache
  /// for while earlier kernels run.
  int64_t earlyColumns(const LinearShape &shape, const LinearTile &tile,
                       Range rows) const;

  /// Whether an instruction multiplies the types of the shape, and the types
  /// of all that there are.
  bool multiplies(const LinearShape &shape) const;
  llvm::SmallVector<std::string> multiplied() const;

  /// Kernels that own whole rows at once, or walk them in chunks.
  RowTile wholeRow(int64_t columns) const;
  RowTile chunkedRow(int64_t columns) const;
  /// Kernels that own some blocks of a row, a tile for each of a word.
  RowTile blocksOfRow(int64_t columns, const BlockScales &scales,
                      mlir::Type number) const;
  /// Kernels that own all blocks of a row.
  RowTile blocksOfWholeRow(int64_t columns, const BlockScales &scales,
                           mlir::Type number) const;
  /// Kernels that own some heads of a row, each of so many columns.
  RowTile headsOfRow(int64_t heads, int64_t columns) const;
  /// Kernels that own a piece of a matrix.
  RowTile piece(int64_t columns) const;
  /// Kernels that own a slice of such a piece on each of `ranks` devices; no
  /// columns where these do not divide so.
  RowTile sliced(int64_t columns, int64_t ranks) const;
  /// Rows that the buffers of such an exchange hold, whatever the steps.
  int64_t stagingRows(Exchange kind, int64_t ranks) const;
  RowTile tileOf(const ExchangeShape &shape) const;
  RowTile tileOf(const NormShape &shape) const;
  /// How devices add up rows, where a norm is all that reads the sums if one is
  /// given: by range of rows, together all.
  llvm::SmallVector<SumVariant> sums(Candidates &candidates,
                                     const ExchangeShape &shape,
                                     const NormShape *norm) const;
  /// Those by kernels of ours that arithmetic does not reject at every size.
  llvm::SmallVector<SumVariant> possibleSums(const ExchangeShape &shape,
                                             const NormShape *norm) const;

  /// Candidates for up to so many rows.
  llvm::SmallVector<HeadLinearTile> candidates(const HeadLinearShape &shape,
                                               int64_t rows) const;
  /// The best candidate for each of the ranges.
  llvm::FailureOr<llvm::SmallVector<HeadLinearTile>>
  headLinear(Candidates &candidates, const HeadLinearShape &shape,
             llvm::ArrayRef<Range> ranges) const;

  RopeTile rope(const HeadShape &shape, bool isDecode) const;
  RopeTile rotated(const HeadShape &shape, bool isDecode) const;
  RopeTile append(const HeadShape &shape, bool isDecode) const;
  /// Candidates in order, most queries first.
  llvm::SmallVector<PrefillTile> candidates(const HeadShape &shape) const;
  int64_t headsTogether(const HeadShape &shape, StepRange sizes) const;
  /// Heads with what a tile multiplies: powers and values have 8 bits as
  /// queries do where the matrix unit reads such values as they lie, or shared
  /// memory transposes them.
  HeadShape asMultiplied(HeadShape shape, const PrefillTile &tile) const;
  /// The best candidate.
  llvm::FailureOr<Chosen<PrefillTile>> prefill(Candidates &candidates,
                                               const HeadShape &shape,
                                               StepRange sizes) const;
  /// Candidates in order, most keys first.
  llvm::SmallVector<DecodeTile> decodeTiles(const HeadShape &shape) const;
  llvm::FailureOr<DecodeTile> decode(Candidates &candidates,
                                     const HeadShape &shape) const;
  /// Whether prompts and decode steps have a tile that the target can run; yes
  /// where nobody judges.
  bool attends(Candidates &candidates, const HeadShape &shape,
               StepRange sizes) const;
  SampleTile sample(const SampleShape &shape) const;
  PlaceTile place(const SlotShape &shape) const;

  /// Workgroups that fill the machine twice.
  int64_t fullGrid() const { return 2 * target.execution.units; }

  const Target &target;
  const KernelOptions &options;

private:
  llvm::SmallVector<LinearTile> withSharers(const LinearShape &shape,
                                            llvm::ArrayRef<LinearTile> tiles,
                                            Range rows) const;
  llvm::SmallVector<LinearTile> withRoles(const LinearShape &shape,
                                          LinearTile tile) const;
  llvm::SmallVector<LinearTile> adding(const LinearShape &shape,
                                       llvm::ArrayRef<LinearTile> bases,
                                       Range rows) const;
  using MmaRows = llvm::SmallVector<const MmaRow *>;
  /// The rows of the table that multiply the elements of a shape.
  MmaRows rowsFor(const LinearShape &shape) const;
  /// The first of `rows` that can share the tile among its waves, with its
  /// first operand first, or null.
  static const MmaRow *rowFor(llvm::ArrayRef<const MmaRow *> rows,
                              const LinearShape &shape, const LinearTile &tile);
  std::string reasonAgainst(const LinearShape &shape, const LinearTile &tile,
                            const MmaRow *row) const;
  /// Whether the instruction of the tile runs beside the waves that ask for it.
  bool multipliesBeside(const LinearShape &shape, const LinearTile &tile) const;
  /// Whether the sums of a tile and its epilogue fit into registers.
  bool holdsSums(const LinearShape &shape, const LinearTile &tile,
                 const MmaRow &row) const;
  /// The same where a product of each trip is added to the sums, scaled.
  bool holdsProducts(const LinearShape &shape, const LinearTile &tile,
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
  bool decodes(Candidates &candidates, const HeadShape &shape) const;
  void addDecodeTiles(llvm::SmallVector<DecodeTile> &tiles,
                      const HeadShape &shape, int64_t rows,
                      int64_t waves) const;
  int64_t registersOfAttention(const HeadShape &shape, int64_t queries,
                               int64_t keys, int64_t waves) const;
  llvm::SmallVector<PrefillTile> waveTiles(const HeadShape &shape) const;
  llvm::SmallVector<PrefillTile>
  unitTiles(const HeadShape &shape, llvm::ArrayRef<int64_t> keysToTry) const;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_TILING_H
