//===- Tiling.cpp - Tiles of the kernels that multiply nothing ------------===//

#include "lib/Kernels/Tiling.h"

#include "lib/Kernels/Rows/SixBits.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Elements of a row that one lane should hold: vectors of 16 bytes, two of
/// them, of 16 bits.
static constexpr int64_t kElementsPerLane = 16;
/// Waves beyond which a rendezvous costs more than the lanes bring.
static constexpr int64_t kMaxRowWaves = 16;

/// Waves for a tile of `elements`.
static int64_t wavesFor(const Execution &execution, int64_t elements) {
  int64_t most = std::min(kMaxRowWaves, execution.maxThreadsPerWorkgroup /
                                            execution.waveSize);
  int64_t wanted =
      llvm::divideCeil(elements, execution.waveSize * kElementsPerLane);
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(wanted), 1, most);
}

RowTile Tiling::wholeRow(int64_t columns) const {
  RowTile tile;
  tile.columns = llvm::PowerOf2Ceil(columns);
  tile.waves = wavesFor(target.execution, tile.columns);
  return tile;
}

RowTile Tiling::chunkedRow(int64_t columns) const {
  RowTile tile;
  if (options.cut && !options.cut->quantise.empty()) {
    ArrayRef<int64_t> of = options.cut->quantise;
    tile.rows = of[0];
    tile.columns = std::min<int64_t>(llvm::PowerOf2Ceil(columns), of[1]);
    tile.waves = std::min(
        of[2], wavesFor(target.execution, tile.rows * 2 * tile.columns));
    return tile;
  }
  int64_t lanes = std::min(kMaxRowWaves * target.execution.waveSize,
                           target.execution.maxThreadsPerWorkgroup);
  tile.columns = std::min<int64_t>(llvm::PowerOf2Ceil(columns),
                                   lanes * kElementsPerLane / 2);
  tile.waves = wavesFor(target.execution, 2 * tile.columns);
  return tile;
}

RowTile Tiling::blocksOfRow(int64_t columns, const BlockScales &scales,
                            Type number) const {
  // A lane holds 16 bytes of each tile, or a whole block.
  int64_t perLane = hasTails(number)
                        ? scales.wordNumbers()
                        : scales.scalesPerWord() * kElementsPerLane / 2;
  RowTile tile;
  tile.waves = std::clamp<int64_t>(llvm::PowerOf2Ceil(columns) /
                                       (target.execution.waveSize * perLane),
                                   1, 4);
  tile.columns = tile.waves * target.execution.waveSize * perLane;
  return tile;
}

RowTile Tiling::blocksOfWholeRow(int64_t columns, const BlockScales &scales,
                                 Type number) const {
  RowTile tile;
  tile.columns =
      llvm::PowerOf2Ceil(scales.words(columns)) * scales.wordNumbers();
  // A lane holds a piece of each of four tiles.
  int64_t perElement = scales.isByKernel() ? 1 : 2;
  if (hasTails(number)) {
    perElement = scales.wordNumbers() / kElementsPerLane;
  }
  tile.waves = wavesFor(target.execution, tile.columns / perElement);
  return tile;
}

RowTile Tiling::headsOfRow(int64_t heads, int64_t columns) const {
  RowTile tile = wholeRow(columns);
  int64_t together =
      4 * target.execution.waveSize * kElementsPerLane / tile.columns;
  tile.rows = std::clamp<int64_t>(llvm::bit_floor<uint64_t>(together), 1,
                                  llvm::PowerOf2Ceil(heads));
  tile.waves = wavesFor(target.execution, tile.rows * tile.columns);
  return tile;
}

RowTile Tiling::piece(int64_t columns) const {
  RowTile tile;
  tile.waves = 4;
  int64_t lanes = tile.waves * target.execution.waveSize;
  tile.columns = std::min<int64_t>(llvm::PowerOf2Ceil(columns),
                                   lanes * kElementsPerLane / 2);
  return tile;
}

/// Of new tokens, or of heads of one token, with so many elements to a lane.
static RopeTile rowsOfStep(const Execution &execution, bool isDecode,
                           int64_t heads, int64_t columns, int64_t perLane) {
  RopeTile tile;
  tile.packsHeads = isDecode;
  tile.tokens = isDecode ? 1 : 16;
  int64_t rows = isDecode ? llvm::PowerOf2Ceil(heads) : tile.tokens;
  tile.waves = llvm::bit_floor<uint64_t>(std::clamp<int64_t>(
      rows * columns / (execution.waveSize * perLane), 1, 4));
  return tile;
}

RopeTile Tiling::rope(const HeadShape &shape, bool isDecode) const {
  return rowsOfStep(target.execution, isDecode, shape.group(),
                    shape.headDim / 2, 4);
}

/// Heads of a token that a workgroup rotates.
static constexpr int64_t kRotatedTogether = 16;

RopeTile Tiling::rotated(const HeadShape &shape, bool isDecode) const {
  int64_t heads = std::min(shape.heads, kRotatedTogether);
  RopeTile tile =
      rowsOfStep(target.execution, isDecode, heads, shape.headDim / 2, 4);
  tile.headsTogether = isDecode ? llvm::PowerOf2Ceil(heads) : 0;
  return tile;
}

RopeTile Tiling::append(const HeadShape &shape, bool isDecode) const {
  return rowsOfStep(target.execution, isDecode, shape.kvHeads, shape.headDim,
                    kElementsPerLane);
}

SampleTile Tiling::sample(const SampleShape &shape) const {
  SampleTile tile;
  tile.waves = std::min(kMaxRowWaves, target.execution.maxThreadsPerWorkgroup /
                                          target.execution.waveSize);
  // A lane of a greedy row loads a vector of 16 bytes, one of a search holds
  // four sums for each element.
  int64_t perLane = shape.isGreedy ? 8 : 4;
  tile.columns =
      std::min<int64_t>(llvm::PowerOf2Ceil(shape.vocabulary),
                        tile.waves * target.execution.waveSize * perLane);
  return tile;
}

PlaceTile Tiling::place(const SlotShape &shape) const {
  // A lane holds 32 of what pairs and experts are compared to at most.
  constexpr int64_t kLanes = 512, kPerLane = 32;
  const auto experts = static_cast<int64_t>(llvm::PowerOf2Ceil(shape.experts));
  PlaceTile tile;
  tile.waves = kLanes / target.execution.waveSize;
  tile.step = std::clamp<int64_t>(kLanes * kPerLane / experts, 16, 64);
  return tile;
}
