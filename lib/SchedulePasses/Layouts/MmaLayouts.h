//===- MmaLayouts.h - Fragments of matrix instructions as layouts ---------===//
//
// The one place that turns a row of the target's [[mma]] table into layouts of
// whole operands. Bits inside `register`, fastest first:
//   operand:     one fragment, repeats along K, repeats along M (or N)
//   accumulator: one fragment, repeats along N, repeats along M
// Scales are operands whose columns are blocks. Where stored elements are
// packed, the bits that count inside one are gone.
// Exchanged, the fragment of the accumulator is transposed, so that a lane owns
// runs of neighbouring columns, of which `exchanged` become one; those of
// `interleaved` fragments become neighbours one by one. What the columns are to
// B is which of its rows a fragment has. And inside `wave`: the waves of a
// group of four that the row itself spreads over, then the issuers along N,
// then those along M, then waves that repeat the work of others. An issuer is a
// wave, a group of four waves, or the one thread that issues for all.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_LAYOUTS_MMALAYOUTS_H
#define LIB_SCHEDULEPASSES_LAYOUTS_MMALAYOUTS_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"

namespace modelc {

/// How a workgroup shares the M x N x K product of one mma.
struct MmaSplit {
  const MmaRow *row = nullptr;
  int64_t m = 0, n = 0, k = 0;     ///< of the whole workgroup
  int64_t gridM = 1, gridN = 1;    ///< issuers along M and N
  int64_t waves = 1, waveSize = 1; ///< of the workgroup; lanes
  int64_t exchanged = 0; ///< runs of columns that become one; 0: as it is
  /// Fragments whose columns interleave one by one; 0: as it is.
  int64_t interleaved = 0;
  int64_t packedA = 1, packedB = 1; ///< numbers of one stored element

  /// Columns of one instruction: the widest that fits the part of an issuer.
  int64_t width() const;
  /// Why the split is impossible, or empty.
  std::string reasonAgainst() const;
  /// The most runs of columns that a lane owns; 0 where the operands cannot be
  /// exchanged.
  int64_t mostExchanged() const;
  /// The most fragments whose columns can interleave one by one.
  int64_t mostInterleaved() const;
};

/// The split of an mma that has its instruction.
MmaSplit splitOf(schedule::MmaOp mma, const Target &target);

/// Issuers that a workgroup of `waves` has for a row: waves, fours or one.
int64_t issuers(const MmaRow &row, int64_t waves);

/// A is (M, K), B is (N, K), the accumulator (M, N): (register, lane, wave) to
/// (row, column), in stored elements. An accumulator in tensor memory has the
/// layout in which it arrives in registers.
Layout operandALayout(const MmaSplit &split);
Layout operandBLayout(const MmaSplit &split);
Layout accumulatorLayout(const MmaSplit &split);
/// Words of scales of a row that scales blocks: (register, lane, wave) to
/// (word along K, row of A or of B). Lanes whose blocks lie in one word hold
/// the words of as many fragments, from which the product deals out each its
/// own.
Layout scalesALayout(const MmaSplit &split);
Layout scalesBLayout(const MmaSplit &split);
/// Words of scales on their way to tensor memory: (word along K, row of the
/// operand) to the byte in shared memory. One after the other: the words of a
/// trip along K, then the blocks of rows that one copy fetches.
Layout scalesPlaceLayout(const MmaRow &row, schedule::TileType scales);
/// How a part of an accumulator in tensor memory, all rows of neighbouring
/// columns, arrives in registers.
Layout drainLayout(MmaSplit split, schedule::TileType part);

/// Elements of a tile spread over all lanes so that each moves `vector`
/// neighbours of a row at a time: vectors, lanes, waves, then repeats along the
/// columns; then the same along the rows.
Layout blockedLayout(int64_t rows, int64_t columns, int64_t vector,
                     int64_t waveSize, int64_t waves);

/// The layout of an input of a map whose result has `layout`.
Layout layoutOfInput(const Layout &layout, schedule::TileType input,
                     schedule::TileType result);

/// One number for each row of a tile, in the lanes of every wave.
Layout rowNumbersLayout(schedule::TileType numbers, int64_t waveSize,
                        int64_t waves);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_LAYOUTS_MMALAYOUTS_H
