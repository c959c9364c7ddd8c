//===- LinearTiling.cpp - Tiles of linears: enumerate, prune, judge -------===//
//
// All that the target can run are enumerated and put in the order of their
// preview, which only decides which few are scheduled and judged.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Formats.h"
#include "lib/Kernels/LinearPreview.h"
#include "lib/Kernels/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Slots of the ring that feeds a product, and trips that pay for a part of the
/// sum: at least.
static constexpr int64_t kMinSlots = 2, kMinTrips = 4;
/// Parts that the kernel which adds them reads at once, at most.
static constexpr int64_t kMaxSplits = 64;

SmallVector<Range> Tiling::ranges(int64_t most) {
  SmallVector<Range> list;
  int64_t first = 1;
  for (int64_t last : {16, 64, 128, 256, 512, 1024, 2048}) {
    if (first <= most) {
      list.push_back({first, std::min(last, most)});
      first = last + 1;
    }
  }
  if (first <= most) {
    list.push_back({first, most});
  }
  return list;
}

/// Rows and columns of one product as the instruction sees them.
static std::pair<int64_t, int64_t> orient(const LinearTile &tile) {
  return tile.isSwapped ? std::pair(tile.pieceN(), tile.pieceM())
                        : std::pair(tile.pieceM(), tile.pieceN());
}

static int64_t products(const LinearShape &shape) {
  return shape.isSwiglu ? 2 : 1;
}

/// Whether `waves` waves can share an m x n tile by a row of the table.
static bool canShare(const MmaRow &row, int64_t m, int64_t n, int64_t waves) {
  int64_t width = std::max<int64_t>(row.nStep, 1);
  switch (row.scope) {
  case MmaScope::Wave:
    return m % row.m == 0 && n % row.n == 0 &&
           (m / row.m) * (n / row.n) >= waves;
  case MmaScope::Group4:
    return waves % 4 == 0 && m % (row.m * (waves / 4)) == 0 && n % width == 0 &&
           n >= row.nMin && n <= row.nMax;
  case MmaScope::Single:
    return waves % 4 == 0 && m % row.m == 0 && n % width == 0 &&
           n >= row.nMin && n <= row.nMax;
  }
  return false;
}

Tiling::MmaRows Tiling::rowsFor(const LinearShape &shape) const {
  std::string type = spelling(shape.element);
  std::string ofWeight = spelling(shape.weightElement());
  MmaRows rows;
  for (const MmaRow &row : target.mma) {
    const BlockScales &scales = shape.blockScales;
    bool isSwapped = row.aType == ofWeight && row.bType == type;
    bool reads = (isSwapped || (row.aType == type && row.bType == ofWeight)) &&
                 row.scaleBlock == scales.block &&
                 row.scaleOrder() == scales.order;
    bool fed = row.aSpace == row.bSpace && row.aSpace != OperandSpace::Tensor;
    if (reads && fed) {
      rows.push_back(&row);
    }
  }
  return rows;
}

bool Tiling::multiplies(const LinearShape &shape) const {
  return !rowsFor(shape).empty();
}

SmallVector<std::string> Tiling::multiplied() const {
  SmallVector<std::string> types;
  for (const MmaRow &row : target.mma) {
    if (!llvm::is_contained(types, row.aType)) {
      types.push_back(row.aType);
    }
  }
  return types;
}

/// The first of `rows` that can share the tile among its waves, with its first
/// operand first, or null.
static const MmaRow *rowFor(ArrayRef<const MmaRow *> rows,
                            const LinearShape &shape, const LinearTile &tile) {
  auto [m, n] = orient(tile);
  auto isFirst = [&](const MmaRow &row) {
    Type first = tile.isSwapped ? shape.weightElement() : shape.element;
    return row.aType == row.bType || row.aType == spelling(first);
  };
  for (const MmaRow *row : rows) {
    if (row->workgroups == tile.cluster && tile.k % row->k == 0 &&
        canShare(*row, m, n, tile.waves) && isFirst(*row)) {
      return row;
    }
  }
  return nullptr;
}

bool Tiling::multipliesBeside(const LinearShape &shape,
                              const LinearTile &tile) const {
  const MmaRow *row = rowFor(rowsFor(shape), shape, tile);
  return row && row->scope != MmaScope::Wave;
}

int64_t Tiling::registersPerLane(int64_t waves) const {
  const Execution &execution = target.execution;
  int64_t lanes = waves * execution.waveSize;
  return std::min(execution.maxRegistersPerThread,
                  execution.registerBytesPerUnit / 4 / lanes);
}

/// A quarter of the registers is left to operands and addresses, and where
/// waves of their own copy, to those. Where waves multiply from registers, a
/// residual arrives in a register for each element while the sums are still
/// there, and SwiGLU makes an exponential and a product of each pair; else
/// SwiGLU replaces sums one by one, and a residual arrives in pairs. Sums in
/// tensor memory pass through registers in chunks of columns, as many as there
/// is room for.
bool Tiling::holdsSums(const LinearShape &shape, const LinearTile &tile,
                       const MmaRow &row) const {
  int64_t accumulator = tile.m * tile.n * products(shape);
  int64_t lanes = tile.waves * target.execution.waveSize;
  int64_t registers = registersPerLane(tile.waves) * lanes;
  // Sums in half of what a lane can have leave too few to scales of blocks: a
  // tile of 256 x 256 on 4 waves spilled five.
  if (shape.blockScales &&
      2 * accumulator >= target.execution.maxRegistersPerThread * lanes) {
    return false;
  }
  int64_t piece = tile.pieceM() * tile.pieceN();
  if (row.scope == MmaScope::Wave) {
    int64_t epilogue =
        piece * ((shape.hasResidual ? 1 : 0) + (shape.isSwiglu ? 2 : 0));
    return 4 * accumulator <= 3 * registers &&
           accumulator + epilogue < registers;
  }
  int64_t all = accumulator + (shape.hasResidual ? piece / 2 : 0);
  return 4 * accumulator <= 3 * registers &&
         (tile.hasRoles ? 4 * all < 3 * registers : all < registers);
}

/// Workgroups that multiply together load a part of the weight each.
static int64_t ringBytes(const LinearShape &shape, const LinearTile &tile) {
  auto bits = [](Type type) -> int64_t { return type.getIntOrFloatBitWidth(); };
  int64_t ofWeight = products(shape) * tile.n / tile.cluster;
  int64_t column =
      tile.m * bits(shape.element) + ofWeight * bits(shape.weightElement());
  int64_t scales =
      shape.blockScales.order.empty() ? 0 : tile.k / shape.blockScales.block;
  return tile.k * column / 8 + (tile.m + ofWeight) * scales;
}

/// Whether two groups of waves can take turns at the matrix unit: each has a
/// wave for every pipe, and copies complete in order.
static bool canTakeTurns(const Target &target, const MmaRow &row,
                         const LinearTile &tile) {
  return row.scope == MmaScope::Wave && row.aSpace == OperandSpace::Register &&
         target.copy.asyncToShared &&
         target.copy.completion == Completion::Counted &&
         tile.waves == 2 * target.execution.matrixPipesPerUnit;
}

/// Why tiles do not read scales of blocks as these lie, or empty.
static std::string reasonAgainstScales(const LinearShape &shape,
                                       const LinearTile &tile) {
  return shape.blockScales && tile.isStaggered()
             ? "scales of blocks are fewer than two groups of waves copy at "
               "once"
             : "";
}

std::string Tiling::reasonAgainst(const LinearShape &shape,
                                  const LinearTile &tile) const {
  return reasonAgainst(shape, tile, rowFor(rowsFor(shape), shape, tile));
}

std::string Tiling::reasonAgainst(const LinearShape &shape,
                                  const LinearTile &tile,
                                  const MmaRow *row) const {
  if (!row) {
    return "no matrix instruction has such a shape";
  }
  bool areAlike = row->aType == row->bType;
  if (tile.isSwapped && areAlike && row->scope == MmaScope::Wave) {
    return "both orders are alike where operands lie in registers";
  }
  if (tile.isSwapped && areAlike && tile.m == tile.n) {
    return "both orders are alike where tiles are square";
  }
  if (tile.isStaggered() && !canTakeTurns(target, *row, tile)) {
    return "no two groups of waves share the matrix unit";
  }
  if (row->cSpace == OperandSpace::Tensor) {
    auto [m, n] = orient(tile);
    int64_t columns = m / row->m * n * products(shape);
    if (const BlockScales &scales = shape.blockScales) {
      // Words of 32 rows share a column; every product has its own.
      columns += (m + n) / target.execution.waveSize * products(shape) *
                 (tile.k / scales.wordNumbers());
    }
    if (columns > target.tensorMemory.columns) {
      return "the accumulators exceed tensor memory";
    }
  } else if (!holdsSums(shape, tile, *row)) {
    return "the accumulators exceed the registers";
  }
  if (kMinSlots * ringBytes(shape, tile) > target.shared.maxBytesPerWorkgroup) {
    return "two slots of operands exceed shared memory";
  }
  if (std::string reason = reasonAgainstScales(shape, tile); !reason.empty()) {
    return reason;
  }
  int64_t steps = llvm::divideCeil(shape.inputs, tile.k);
  return tile.splits > 1 && steps / tile.splits < kMinTrips
             ? "a part of the sum is too short"
             : "";
}

/// The kernel that adds the parts: enough workgroups, whole vectors.
static void chooseReduce(LinearTile &tile, const LinearShape &shape,
                         int64_t waveSize) {
  tile.reduceM = 1;
  tile.reduceWaves = 4;
  int64_t lanes = tile.reduceWaves * waveSize;
  tile.reduceN =
      std::min<int64_t>(llvm::PowerOf2Ceil(shape.columns), 4 * lanes);
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

/// Where every workgroup has a unit of its own, its ring takes all there is and
/// its trips need.
static void deepenRing(const Target &target, const LinearShape &shape,
                       LinearTile &tile, Range rows) {
  constexpr int64_t kMostSlots = 8;
  int64_t grid = llvm::divideCeil(rows.maximum, tile.m) *
                 llvm::divideCeil(shape.columns, tile.n) * tile.splits;
  if (grid <= target.execution.units && !tile.isStaggered()) {
    int64_t trips = llvm::divideCeil(shape.inputs, tile.k * tile.splits);
    tile.slots = std::clamp(trips, kMinSlots, kMostSlots);
  }
}

/// Tiles of plain loops, whose waves go in step.
static SmallVector<LinearTile> plainTiles(const Target &target,
                                          const LinearShape &shape, Range rows,
                                          int64_t judged, int64_t fewest) {
  SmallVector<LinearTile> tiles;
  int64_t elementBits = shape.element.getIntOrFloatBitWidth();
  int64_t mostM = std::max<int64_t>(
      fewest, std::min<int64_t>(256, llvm::PowerOf2Ceil(judged)));
  for (int64_t m = 16; m <= mostM; m *= 2) {
    for (int64_t n = 16; n <= 256; n *= 2) {
      for (int64_t kBytes : {128, 256}) {
        for (int64_t waves : {4, 8}) {
          LinearTile tile = {m, n, kBytes * 8 / elementBits, waves};
          int64_t most = mostSplits(target, shape, tile, rows);
          for (tile.splits = 1; tile.splits <= most; tile.splits *= 2) {
            for (bool isSwapped : {false, true}) {
              tile.isSwapped = isSwapped;
              tiles.push_back(tile);
            }
          }
        }
      }
    }
  }
  return tiles;
}

SmallVector<LinearTile> Tiling::paired(const LinearShape &shape,
                                       Range rows) const {
  int64_t judged = std::min(rows.maximum, kJudgedRows);
  int64_t elementBits = shape.element.getIntOrFloatBitWidth();
  LinearPreview preview(target, shape, judged);
  SmallVector<LinearTile> tiles;
  for (const MmaRow *row : rowsFor(shape)) {
    if (row->workgroups == 1 || judged < row->workgroups * row->m) {
      continue;
    }
    for (int64_t n = row->nMax; n >= std::max(row->nMin, row->m); n /= 2) {
      std::optional<std::pair<double, LinearTile>> best;
      for (int64_t kBytes : {128, 256}) {
        LinearTile tile{row->m, n, kBytes * 8 / elementBits};
        tile.cluster = row->workgroups;
        tile.hasRoles = true;
        if (reasonAgainst(shape, tile, row).empty()) {
          double seconds = preview.seconds(tile, *row);
          if (!best || seconds < best->first) {
            best = {seconds, tile};
          }
        }
      }
      if (best) {
        tiles.push_back(best->second);
      }
    }
  }
  return tiles;
}

/// Tiles in pieces whose products two groups of waves do in turns.
static SmallVector<LinearTile> staggeredTiles(const LinearShape &shape,
                                              int64_t pipes, int64_t judged) {
  SmallVector<LinearTile> tiles;
  int64_t elementBits = shape.element.getIntOrFloatBitWidth();
  for (int64_t m : {256, 128}) {
    for (int64_t n : {256, 128}) {
      for (int64_t kBytes : {64, 128, 256}) {
        LinearTile tile{m, n, kBytes * 8 / elementBits, 2 * pipes};
        tile.piecesM = 2;
        tile.piecesN = shape.isSwiglu ? 1 : 2;
        if (judged >= m) {
          tiles.push_back(tile);
        }
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
  SmallVector<LinearTile> tiles =
      plainTiles(target, shape, rows, judged, fewestRows(rowsOfTable));
  tiles.append(
      staggeredTiles(shape, target.execution.matrixPipesPerUnit, judged));
  // Equals stay in the order of enumeration: fewest waves and parts first.
  SmallVector<std::tuple<double, size_t, LinearTile>> legal;
  for (LinearTile &tile : tiles) {
    const MmaRow *row = rowFor(rowsOfTable, shape, tile);
    if (reasonAgainst(shape, tile, row).empty()) {
      chooseReduce(tile, shape, target.execution.waveSize);
      deepenRing(target, shape, tile, rows);
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
