//===- DecodeTiling.cpp - Tiles of decode attention: enumerate, judge -----===//

#include "lib/Kernels/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Rows that a matrix unit multiplies at least.
static constexpr int64_t kLeastRows = 16;

/// Elements of the parts that a thread of the joining kernel holds at most.
static constexpr int64_t kCombineRegisters = 64;

/// Keys of each sequence at which tiles are judged.
static constexpr int64_t kJudgedKeys = 2048;

/// Tiles that pass while parts are joined, where nobody judges.
static constexpr int64_t kJoinTiles = 4;

/// Waves that share a unit at least, so that some work while others wait, and
/// that are tried on it at most.
static constexpr int64_t kLeastWaves = 8;
static constexpr int64_t kMostWaves = 16;

/// Rows of the tiles that are tried: a whole group, or of the group of a latent
/// cache, whose wide results few registers hold, parts too.
static SmallVector<int64_t> rowsToTry(const HeadShape &shape) {
  int64_t rows =
      std::max(kLeastRows, int64_t(llvm::PowerOf2Ceil(shape.group())));
  SmallVector<int64_t> list = {rows};
  while (shape.isLatent() && rows > kLeastRows) {
    list.push_back(rows /= 2);
  }
  return list;
}

/// Those of so many rows and waves to `tiles`.
void Tiling::addDecodeTiles(SmallVector<DecodeTile> &tiles,
                            const HeadShape &shape, int64_t rows,
                            int64_t waves) const {
  DecodeTile tile;
  tile.queries = rows;
  tile.joinTiles = kJoinTiles;
  tile.waves = waves;
  tile.perUnit = tile.atOnce = kLeastWaves / waves;
  tile.alone = static_cast<double>(tile.perUnit);
  for (int64_t keys : {64, 32, 16}) {
    tile.keys = keys;
    bool isLast = tiles.empty() && keys == 16 &&
                  (!shape.isLatent() || rows == kLeastRows);
    if (!isLast && !holdsAttention(shape, tile.queries, keys, waves)) {
      continue;
    }
    for (int64_t slots : {0, 2}) {
      tile.slots = slots;
      tiles.push_back(tile);
    }
  }
}

SmallVector<DecodeTile> Tiling::decodeTiles(const HeadShape &shape) const {
  SmallVector<DecodeTile> tiles;
  for (int64_t rows : rowsToTry(shape)) {
    for (int64_t waves : {8, 4, 2, 1}) {
      if (waves <= 4 || shape.isLatent()) {
        addDecodeTiles(tiles, shape, rows, waves);
      }
    }
  }
  return tiles;
}

/// Seconds of a unit for each of its workgroups, which walk the judged keys: of
/// one, two ... workgroups on each unit, as far as it runs them at once, which
/// the tile is told.
static SmallVector<double> judge(const Tiling &tiling, Candidates &candidates,
                                 const HeadShape &shape, DecodeTile &tile) {
  const Target &target = tiling.target;
  double pages = std::ceil(double(kJudgedKeys) / double(shape.pageSize));
  SmallVector<SizesOfRun> sizes;
  int64_t sequences = 0;
  for (int64_t perUnit = 1; perUnit <= kMostWaves / tile.waves; ++perUnit) {
    int64_t grid = perUnit * target.execution.units;
    sequences =
        std::max<int64_t>(1, grid / (shape.kvHeads * tile.groupParts(shape)));
    sizes.push_back({{"sequences", double(sequences)},
                     {"context", double(kJudgedKeys)},
                     {"pages_per_sequence", pages}});
  }
  KernelSequence kernel = {candidates.kernel(
      "decode" + identityOf(shape, tile), [&](auto &builder, auto &label) {
        return buildAttentionDecode(builder, label, shape, tile,
                                    {1, sequences});
      })};
  FailureOr<Judgement> judgement = tiling.options.evaluate({kernel}, sizes)[0];
  SmallVector<double> seconds;
  if (succeeded(judgement)) {
    double start = target.startSeconds() + target.launch.ramp;
    for (double all : judgement->seconds) {
      seconds.push_back(std::max(all - start, 0.0) /
                        double(seconds.size() + 1));
    }
    tile.atOnce = judgement->perUnit;
    seconds.truncate(std::min<size_t>(seconds.size(), tile.atOnce));
  }
  return seconds;
}

/// More workgroups, and with them parts to join, take less than this for each.
static constexpr double kWorthIt = 0.95;

/// The tile whose workgroups take the least time where they fill a unit, as
/// few as are fast, and where they half fill it, as in the last round of a
/// grid. `tiles` begin with those of the fewest workgroups. Those of which a
/// unit runs less than fill it count where it runs enough of none.
static std::optional<DecodeTile> judged(const Tiling &tiling,
                                        Candidates &candidates,
                                        const HeadShape &shape,
                                        ArrayRef<DecodeTile> tiles) {
  std::optional<DecodeTile> best;
  auto least = std::make_pair(true, std::numeric_limits<double>::infinity());
  for (DecodeTile tile : tiles) {
    SmallVector<double> seconds = judge(tiling, candidates, shape, tile);
    if (seconds.empty()) {
      continue;
    }
    auto runs = static_cast<int64_t>(seconds.size());
    bool isShort = runs < tile.perUnit;
    tile.perUnit = std::min(tile.perUnit, runs);
    double enough = *llvm::min_element(seconds) / kWorthIt;
    while (seconds[tile.perUnit - 1] > enough) {
      ++tile.perUnit;
    }
    double full = seconds[tile.perUnit - 1];
    auto time = std::make_pair(isShort, full + seconds[(tile.perUnit - 1) / 2]);
    if (time < least) {
      least = time;
      best = tile;
      best->alone = seconds[0] / full;
      const Target &target = tiling.target;
      double trip = full * double(tile.perUnit * tile.keys) /
                    double(walkedKeys(shape, tile, kJudgedKeys));
      double start = target.startSeconds() + target.launch.ramp;
      best->joinTiles = static_cast<int64_t>(
          trip > 0 ? std::clamp(std::ceil(start / trip), 1.0,
                                double(kJudgedKeys))
                   : double(kJudgedKeys)); // the start hides all of it
    }
  }
  return best;
}

bool Tiling::decodes(Candidates &candidates, const HeadShape &shape) const {
  return llvm::any_of(decodeTiles(shape), [&](DecodeTile tile) {
    return !judge(*this, candidates, shape, tile).empty();
  });
}

FailureOr<DecodeTile> Tiling::decode(Candidates &candidates,
                                     const HeadShape &shape) const {
  SmallVector<DecodeTile> tiles = decodeTiles(shape);
  DecodeTile best = tiles.front();
  if (options.evaluate) {
    std::optional<DecodeTile> fastest = judged(*this, candidates, shape, tiles);
    if (!fastest) {
      return failure();
    }
    best = *fastest;
  }
  int64_t grid = best.perUnit * target.execution.units;
  int64_t groups = shape.kvHeads * best.groupParts(shape);
  best.maxSplits =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(grid, groups)), 1,
                          std::max<int64_t>(1, options.maxContext / best.keys));
  if (!shape
           .seesAllKeys()) { // else the context says how many are worth joining
    int64_t joined = walkedKeys(shape, best, options.maxContext) / best.keys /
                     best.joinTiles;
    best.maxSplits = std::clamp<int64_t>(llvm::bit_floor<uint64_t>(joined), 1,
                                         best.maxSplits);
  }
  best.combineParts = std::min(best.combineParts, best.maxSplits);
  int64_t lanes = best.combineParts * shape.valueDim / kCombineRegisters;
  best.combineWaves = llvm::bit_floor<uint64_t>(
      std::clamp<int64_t>(lanes / target.execution.waveSize, 1, 4));
  return best;
}
