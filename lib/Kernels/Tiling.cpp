//===- Tiling.cpp - Tiles of the kernels that are not linears -------------===//

#include "lib/Kernels/Tiling.h"
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
  int64_t lanes = std::min(kMaxRowWaves * target.execution.waveSize,
                           target.execution.maxThreadsPerWorkgroup);
  tile.columns = std::min<int64_t>(llvm::PowerOf2Ceil(columns),
                                   lanes * kElementsPerLane / 2);
  tile.waves = wavesFor(target.execution, 2 * tile.columns);
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

RopeTile Tiling::rope(const HeadShape &shape, bool isDecode) const {
  RopeTile tile;
  tile.packsHeads = isDecode;
  tile.tokens = isDecode ? 1 : 16;
  int64_t rows = isDecode ? llvm::PowerOf2Ceil(shape.group()) : tile.tokens;
  int64_t elements = rows * shape.headDim / 2;
  tile.waves =
      std::clamp<int64_t>(elements / (target.execution.waveSize * 4), 1, 4);
  return tile;
}

/// Scores, weights and results of `queries` in f32, spread over the lanes, with
/// the queries themselves, in half of the registers.
bool Tiling::holdsAttention(const HeadShape &shape, int64_t queries,
                            int64_t keys, int64_t waves) const {
  int64_t lanes = waves * target.execution.waveSize;
  int64_t words = queries * (2 * keys + shape.headDim + shape.headDim / 2);
  int64_t bytes =
      shape.headDim * keys * shape.cacheElement.getIntOrFloatBitWidth() / 8;
  // Two slots of keys and of values, and room for exchanges.
  bool fits =
      4 * bytes + queries * keys * 4 <= target.shared.maxBytesPerWorkgroup;
  return fits && words / lanes <= registersPerLane(waves) / 2;
}

PrefillTile Tiling::prefill(const HeadShape &shape) const {
  PrefillTile tile = {16, 16, 1};
  for (int64_t queries : {128, 64, 32}) {
    for (int64_t keys : {64, 32}) {
      if (holdsAttention(shape, queries, keys, 4)) {
        return {queries, keys, 4};
      }
    }
  }
  return tile;
}

DecodeTile Tiling::decode(const HeadShape &shape) const {
  DecodeTile tile;
  tile.queries = std::max<int64_t>(16, llvm::PowerOf2Ceil(shape.group()));
  tile.keys = 16;
  for (int64_t keys : {64, 32}) {
    if (holdsAttention(shape, tile.queries, keys, tile.waves)) {
      tile.keys = keys;
      break;
    }
  }
  tile.maxSplits = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(fullGrid(), shape.kvHeads)), 1,
      std::max<int64_t>(1, options.maxContext / tile.keys));
  tile.combineWaves =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(shape.group()) * shape.headDim /
                              (target.execution.waveSize * 8),
                          1, 4);
  return tile;
}

SampleTile Tiling::sample(const SampleShape &shape) const {
  SampleTile tile;
  tile.waves = std::min(kMaxRowWaves, target.execution.maxThreadsPerWorkgroup /
                                          target.execution.waveSize);
  // A greedy row holds one key of 8 bytes for each element, a search four sums.
  int64_t perLane = shape.isGreedy ? 8 : 4;
  tile.columns =
      std::min<int64_t>(llvm::PowerOf2Ceil(shape.vocabulary),
                        tile.waves * target.execution.waveSize * perLane);
  return tile;
}
