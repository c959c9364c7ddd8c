//===- LinearCandidates.cpp - Tiles of linears: enumerate and order -------===//
//
// All that the target can run are enumerated and put in the order of their
// preview, which only decides which few are scheduled and judged.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearPieces.h"
#include "lib/Kernels/Linear/LinearPreview.h"
#include "lib/Kernels/Tiling.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>
#include <tuple>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Parts that the kernel which adds them reads at once, at most.
static constexpr int64_t kMaxSplits = 64;

/// Each tile is best where its grid fills whole rounds of the machine: a range
/// ends at most an eighth above the last one, beyond the rows of a few tiles.
SmallVector<Range> Tiling::ranges(int64_t most) {
  SmallVector<Range> list;
  for (int64_t last = 0; last < most;) {
    int64_t step = last < 16    ? 16
                   : last < 64  ? 48
                   : last < 512 ? 64
                                : llvm::PowerOf2Ceil(last + 1) / 16;
    int64_t first = last + 1;
    last += step;
    list.push_back({first, std::min(last, most)});
  }
  return list;
}

/// The kernel that adds the parts: enough workgroups, whole vectors.
static void chooseReduce(LinearTile &tile, const LinearShape &shape,
                         int64_t waveSize) {
  tile.reduceM = 1;
  tile.reduceWaves = 4;
  int64_t perLane = 4; // numbers of 4 bytes
  if (shape.quantise) {
    // A wave of its own waits for no other, and a lane has some of each block.
    tile.reduceWaves = 1;
    perLane *= shape.quantise->scales.scalesPerWord();
  }
  tile.reduceN = std::min<int64_t>(llvm::PowerOf2Ceil(shape.columns),
                                   perLane * tile.reduceWaves * waveSize);
}

/// Rows that a tile has at least, whichever operand they are of.
static int64_t fewestRows(ArrayRef<const MmaRow *> rows) {
  int64_t fewest = 256;
  for (const MmaRow *row : rows) {
    fewest = std::min({fewest, row->m, row->nMin});
  }
  return std::max<int64_t>(fewest, 16);
}

/// Parts of the sum of a tile, at most: more would only add work once the grid
/// fills the machine twice, and parts that leave the last cache before they are
/// added cost more than they can win.
static int64_t mostSplits(const Target &target, const LinearShape &shape,
                          const LinearTile &tile, Range rows) {
  int64_t judged = std::min(rows.maximum, kJudgedRows);
  int64_t grid = llvm::divideCeil(judged, tile.m) *
                 llvm::divideCeil(shape.columns, tile.n);
  int64_t cache = std::max(target.cache.l2Bytes, target.cache.llcBytes);
  int64_t partBytes = rows.maximum * shape.weightRows() * 4;
  int64_t splits = 1;
  while (splits < kMaxSplits && grid * splits < 2 * target.execution.units &&
         2 * partBytes * splits * 2 <= cache) {
    splits *= 2;
  }
  return splits;
}

/// Parts that are tried: 1, 2, 3, 4, 6, 8, 12, ...
static int64_t nextSplits(int64_t splits) {
  if (splits == 1) {
    return 2;
  }
  return splits + splits / (llvm::isPowerOf2_64(splits) ? 2 : 3);
}

/// Whether accumulators in turns leave no tensor memory to another workgroup.
static bool fillsTensorMemory(const Target &target, const LinearShape &shape,
                              const LinearTile &tile, const MmaRow &row) {
  constexpr int64_t kTurns = 2;
  int64_t sums = tile.m * tile.n * (shape.isSwiglu ? 2 : 1);
  return tile.hasRoles && row.cSpace == OperandSpace::Tensor &&
         2 * kTurns * sums > target.tensorMemory.columns * row.m;
}

/// Where every workgroup has a unit of its own, its ring takes all there is and
/// its trips need.
static void deepenRing(const Target &target, const LinearShape &shape,
                       LinearTile &tile, Range rows, const MmaRow &row) {
  constexpr int64_t kMostSlots = 8;
  int64_t grid = llvm::divideCeil(rows.maximum, tile.m) *
                 llvm::divideCeil(shape.columns, tile.n) * tile.splits;
  bool isAlone = grid <= target.execution.units ||
                 fillsTensorMemory(target, shape, tile, row);
  if (isAlone && !tile.hasPieces()) {
    int64_t trips = llvm::divideCeil(shape.inputs, tile.k * tile.splits);
    tile.slots = std::clamp(trips, kMinSlots, kMostSlots);
  }
}

/// Tiles of m x n in plain loops, whose waves go in step.
static void addPlainTiles(SmallVectorImpl<LinearTile> &tiles,
                          const Target &target, const LinearShape &shape,
                          Range rows, int64_t m, int64_t n) {
  for (int64_t kBytes : {128, 256}) {
    for (int64_t waves : {4, 8}) {
      LinearTile tile = {m, n, stepOf(kBytes, shape.element), waves};
      int64_t most = mostSplits(target, shape, tile, rows);
      for (; tile.splits <= most; tile.splits = nextSplits(tile.splits)) {
        for (bool isSwapped : {false, true}) {
          tile.isSwapped = isSwapped;
          tiles.push_back(tile);
        }
      }
    }
  }
}

static SmallVector<LinearTile> plainTiles(const Target &target,
                                          const LinearShape &shape, Range rows,
                                          int64_t judged, int64_t fewest) {
  SmallVector<LinearTile> tiles;
  // Where waves add products, the weight as first operand leaves each lane the
  // scales of all rows: more rows than there are may fit better.
  int64_t least =
      shape.blockScales.isByKernel() ? std::max(fewest, kGroup) : fewest;
  int64_t mostM = std::max<int64_t>(
      least, std::min<int64_t>(256, llvm::PowerOf2Ceil(judged)));
  for (int64_t m = 16; m <= mostM; m *= 2) {
    for (int64_t n = 16; n <= 256; n *= 2) {
      addPlainTiles(tiles, target, shape, rows, m, n);
    }
  }
  return tiles;
}

/// Extents that are no power of two: of few products side by side, or where one
/// makes all, any that drains in chunks worth a trip.
static SmallVector<int64_t> unevenExtents(bool isOneProduct) {
  if (!isOneProduct) {
    return {96, 160, 192, 224};
  }
  SmallVector<int64_t> extents;
  for (int64_t extent = 48; extent < 256; extent += 16) {
    if (!llvm::isPowerOf2_64(extent)) {
      extents.push_back(extent);
    }
  }
  return extents;
}

/// The best of `tiles` by the preview, if that is worth judging beside `best`.
static std::optional<LinearTile>
better(const LinearPreview &preview, double secondsOfBest,
       ArrayRef<std::pair<LinearTile, const MmaRow *>> tiles) {
  constexpr double kWorthJudging = 0.95; // as precise as a preview is
  double least = kWorthJudging * secondsOfBest;
  std::optional<LinearTile> found;
  for (const auto &[tile, row] : tiles) {
    double seconds = preview.seconds(tile, *row);
    if (seconds < least) {
      least = seconds;
      found = tile;
    }
  }
  return found;
}

SmallVector<LinearTile> Tiling::uneven(const LinearShape &shape, Range rows,
                                       const LinearTile &best) const {
  MmaRows rowsOfTable = rowsFor(shape);
  const MmaRow *rowOfBest = rowFor(rowsOfTable, shape, best);
  bool intoTensor = rowOfBest->cSpace == OperandSpace::Tensor;
  SmallVector<LinearTile> plain;
  for (int64_t uneven : unevenExtents(intoTensor)) {
    for (int64_t extent : {64, 128, 256}) {
      addPlainTiles(plain, target, shape, rows, extent, uneven);
      addPlainTiles(plain, target, shape, rows, uneven, extent);
    }
  }
  LinearPreview preview(target, shape, std::min(rows.maximum, kJudgedRows));
  double secondsOfBest = preview.seconds(best, *rowOfBest);
  llvm::SmallSetVector<int64_t, 2> clusters;
  clusters.insert(best.cluster);
  for (const MmaRow *row : rowsOfTable) {
    clusters.insert(std::max(row->workgroups, best.cluster));
  }
  SmallVector<LinearTile> found;
  for (int64_t cluster : clusters) {
    SmallVector<std::pair<LinearTile, const MmaRow *>> legal;
    for (LinearTile tile : plain) {
      tile.hasRoles = best.hasRoles || cluster > 1;
      tile.cluster = cluster;
      tile.isOneProduct = intoTensor;
      const MmaRow *row = rowFor(rowsOfTable, shape, tile);
      if (reasonAgainst(shape, tile, row).empty()) {
        chooseReduce(tile, shape, target.execution.waveSize);
        deepenRing(target, shape, tile, rows, *row);
        legal.push_back({tile, row});
      }
    }
    if (auto tile = better(preview, secondsOfBest, legal)) {
      found.push_back(*tile);
    }
  }
  return found;
}

/// Tiles of `m` rows of the first operand and `n` of the other, of workgroups
/// that multiply together.
static SmallVector<LinearTile> togetherTiles(const Target &target,
                                             const LinearShape &shape,
                                             Range rows, const MmaRow &row,
                                             int64_t n, bool isSwapped) {
  SmallVector<LinearTile> tiles;
  for (int64_t kBytes : {128, 256}) {
    LinearTile tile{row.m, n, stepOf(kBytes, shape.element)};
    if (isSwapped) {
      std::swap(tile.m, tile.n);
    }
    tile.isSwapped = isSwapped;
    tile.cluster = row.workgroups;
    tile.hasRoles = true;
    tile.waves = shape.blockScales.isByKernel() ? kWavesThatAdd : tile.waves;
    int64_t most = mostSplits(target, shape, tile, rows);
    for (; tile.splits <= most; tile.splits = nextSplits(tile.splits)) {
      tiles.push_back(tile);
    }
  }
  return tiles;
}

SmallVector<LinearTile> Tiling::paired(const LinearShape &shape,
                                       Range rows) const {
  int64_t judged = std::min(rows.maximum, kJudgedRows);
  LinearPreview preview(target, shape, judged);
  SmallVector<LinearTile> tiles;
  auto addBest = [&](const MmaRow &row, SmallVector<LinearTile> alike) {
    std::optional<std::pair<double, LinearTile>> best;
    for (LinearTile &tile : alike) {
      if (reasonAgainst(shape, tile, &row).empty()) {
        chooseReduce(tile, shape, target.execution.waveSize);
        deepenRing(target, shape, tile, rows, row);
        double seconds = preview.seconds(tile, row);
        if (!best || seconds < best->first) {
          best = {seconds, tile};
        }
      }
    }
    if (best) {
      tiles.push_back(best->second);
    }
  };
  for (const MmaRow *row : rowsFor(shape)) {
    if (row->workgroups == 1) {
      continue;
    }
    int64_t together = row->workgroups * row->m;
    for (int64_t n = row->nMax; n >= std::max(row->nMin, row->m); n /= 2) {
      if (judged >= together) {
        addBest(*row, togetherTiles(target, shape, rows, *row, n, false));
      }
      if (shape.columns >= together) {
        addBest(*row, togetherTiles(target, shape, rows, *row, n, true));
      }
    }
  }
  return tiles;
}

/// The tiles that are asked for, in all parts that these can be cut into.
static SmallVector<LinearTile> tilesOf(const LinearCut &cut,
                                       const Execution &execution) {
  constexpr size_t kInPieces = 6;
  SmallVector<LinearTile> tiles;
  for (const std::vector<int64_t> &extents : cut.tiles) {
    LinearTile tile{extents[0], extents[1], extents[2], extents[3]};
    tile.isSwapped = cut.weightFirst;
    tile.hasRoles = cut.hasRoles;
    tile.sharers = cut.sharers;
    tile.weightsAhead = cut.weightsAhead;
    tile.turns = cut.turns;
    tile.resultPiece = cut.resultPiece;
    tile.copiesFirst = cut.copiesFirst;
    if (extents.size() == kInPieces) {
      tile.piecesM = extents[4];
      tile.piecesN = extents[5];
      tile.groups =
          std::max<int64_t>(1, tile.waves / execution.matrixPipesPerUnit);
    }
    for (; tile.splits <= cut.mostParts;
         tile.splits = nextSplits(tile.splits)) {
      if (tile.splits >= cut.leastParts) {
        tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

SmallVector<LinearTile> Tiling::candidates(const LinearShape &shape,
                                           Range rows) const {
  int64_t judged = std::min(rows.maximum, kJudgedRows);
  LinearPreview preview(target, shape, judged);
  MmaRows rowsOfTable = rowsFor(shape);
  SmallVector<LinearTile> tiles;
  const LinearCut *cut = options.tiled();
  if (cut) {
    tiles = tilesOf(*cut, target.execution);
  } else {
    tiles = plainTiles(target, shape, rows, judged, fewestRows(rowsOfTable));
    tiles.append(
        tilesInPieces(shape, target.execution.matrixPipesPerUnit, judged));
  }
  // Equals stay in the order of enumeration: fewest waves and parts first.
  SmallVector<std::tuple<double, size_t, LinearTile>> legal;
  for (LinearTile &tile : tiles) {
    const MmaRow *row = rowFor(rowsOfTable, shape, tile);
    if (reasonAgainst(shape, tile, row).empty()) {
      chooseReduce(tile, shape, target.execution.waveSize);
      if (cut) {
        tile.slots = cut->slots;
        tile.groupRows = cut->groupRows;
        tile.workgroupsOfUnit = cut->workgroups;
      } else {
        deepenRing(target, shape, tile, rows, *row);
      }
      tile.early = earlyColumns(shape, tile, rows);
      legal.push_back({preview.seconds(tile, *row), legal.size(), tile});
    }
  }
  if (options.count) {
    options.count->rejected += tiles.size() - legal.size();
    options.count->previewed += legal.size();
  }
  llvm::sort(legal, [](auto &a, auto &b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b));
  });
  tiles.clear();
  for (auto &entry : legal) {
    tiles.push_back(std::get<2>(entry));
  }
  return tiles;
}
