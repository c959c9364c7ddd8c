//===- PrefillTiling.cpp - Tiles of prefill: enumerate, prune, judge ------===//
//
// Where a matrix unit works for four waves, queries and keys lie in shared
// memory and only scores, weights and results in registers; a wave that
// multiplies holds its operands too. More queries ask L2 for fewer keys.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Tiling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// New tokens of the one sequence at which tiles are judged.
static constexpr int64_t kJudgedTokens = 4096;
/// Keys at which heads that share L2 are counted where more may come.
static constexpr int64_t kMostKeysTogether = 16384;

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

static int64_t bitsOf(Type type) { return type.getIntOrFloatBitWidth(); }

/// Queries that a wave which multiplies owns at least.
static constexpr int64_t kWaveQueries = 16;

/// Registers of a lane for scores, weights and results of `queries` in f32,
/// with the queries themselves. Keys and values that are converted are held as
/// they came and as they are read, whole by every wave with queries of its own;
/// waves with the same ones share them.
int64_t Tiling::registersOfAttention(const HeadShape &shape, int64_t queries,
                                     int64_t keys, int64_t waves) const {
  int64_t words = queries * (2 * keys + shape.valueDim + shape.headDim / 2);
  int64_t owners = std::clamp<int64_t>(queries / kWaveQueries, 1, waves);
  words += owners * keys * shape.convertedColumns() *
           (bitsOf(shape.cacheElement) + bitsOf(shape.element)) / 32;
  return words / (waves * target.execution.waveSize);
}

/// So many eighths of a lane's registers, as the vendors' compilers need the
/// others: half of them; five where eight waves share a unit, each with half of
/// what four have (heads of 128 columns: 256 queries, 64 keys); three then
/// where powers have 8 bits, whose instructions take eights of registers.
bool Tiling::holdsAttention(const HeadShape &shape, int64_t queries,
                            int64_t keys, int64_t waves) const {
  bool isNarrow = bitsOf(shape.powerElement()) == 8;
  int64_t eighths = waves < 8 ? 4 : isNarrow ? 3 : 5;
  int64_t bytes = shape.cacheColumns() * keys * bitsOf(shape.cacheElement) / 8;
  // Two slots of keys and of values, and room for exchanges.
  bool fits =
      2 * bytes + queries * keys * 4 <= target.shared.maxBytesPerWorkgroup;
  return fits && 8 * registersOfAttention(shape, queries, keys, waves) <=
                     eighths * target.execution.registersOf(waves);
}

/// The row of a matrix unit that multiplies a tile of queries and keys from
/// shared memory, for four waves at a time or for all, or null.
const MmaRow *Tiling::unitRowFor(const HeadShape &shape,
                                 const PrefillTile &tile) const {
  if (tile.waves % 4 || !target.copy.asyncToShared) {
    return nullptr;
  }
  std::string type;
  llvm::raw_string_ostream(type) << shape.queryElement();
  for (const MmaRow &row : target.mma) {
    bool reads = row.aType == type && row.bType == type && !row.scaled &&
                 row.workgroups == 1 && row.aSpace == OperandSpace::Shared &&
                 row.bSpace == OperandSpace::Shared;
    bool divides = row.scope == MmaScope::Group4
                       ? tile.queries % (row.m * (tile.waves / 4)) == 0
                       : tile.queries == row.m && tile.waves == 4;
    if (reads && divides) {
      return &row;
    }
  }
  return nullptr;
}

HeadShape Tiling::asMultiplied(HeadShape shape, const PrefillTile &tile) const {
  if (!shape.queries) {
    return shape;
  }
  const MmaRow *row = unitRowFor(shape, tile);
  bool reads = row ? row->bTransposed
                   : llvm::is_contained(target.shared.transposedReadBits,
                                        bitsOf(shape.queries));
  shape.powers = reads ? shape.queries : Type();
  return shape;
}

/// Waves that copy leave nothing to those that multiply but to read: operands
/// that are converted are stored by all, tensor memory is another thread's.
/// Scores wait for a trip where they take no registers.
static bool canBeCutSo(const HeadShape &shape, const PrefillTile &tile,
                       const MmaRow &row) {
  bool isInRegisters = row.cSpace == OperandSpace::Register;
  return tile.isAhead ? !isInRegisters
                      : !tile.hasRoles ||
                            (isInRegisters && shape.convertedColumns() == 0);
}

/// Whether scores and results fit: in registers together, in seven tenths of
/// them (heads of 256 columns beside 64 keys: with more the vendor's compiler
/// spills); or in tensor memory, from which scores pass through registers at
/// once and results in chunks, as does not spill: 128 keys one trip early
/// beside up to 128 columns in 8 bits.
bool Tiling::holdsSums(const HeadShape &shape, const PrefillTile &tile,
                       const MmaRow &row) const {
  int64_t registers = tile.hasRoles
                          ? target.execution.registersOfRole(tile.waves)
                          : target.execution.registersOf(tile.waves);
  int64_t most = registers * tile.waves * target.execution.waveSize;
  int64_t scores = tile.queries * tile.keys;
  int64_t weights = scores * bitsOf(shape.powerElement()) / 32;
  int64_t results = tile.queries * shape.valueDim;
  if (row.cSpace == OperandSpace::Register) {
    // The weights of the trip before are read while scores are made; the new
    // ones take the registers of either.
    int64_t live = scores + results + (tile.isDelayed ? weights : 0);
    return 10 * live <= 7 * most;
  }
  bool fits =
      tile.isAhead
          ? 4 * (scores + weights + results / 8) <= 3 * most
          : 3 * (scores + (tile.isDelayed ? 2 : 1) * weights) <= 2 * most;
  return fits && tile.keys + shape.valueDim <= target.tensorMemory.columns;
}

/// The queries, the slots of keys and of values, what is converted of them, and
/// the weights where the unit does not read them from registers, in shared
/// memory.
bool Tiling::holdsOperands(const HeadShape &shape, const PrefillTile &tile,
                           const MmaRow &row) const {
  int64_t bits = tile.queries * shape.headDim * bitsOf(shape.queryElement()) +
                 tile.keys * shape.convertedColumns() * bitsOf(shape.element) +
                 tile.slots * tile.keys * shape.cacheColumns() *
                     bitsOf(shape.cacheElement);
  if (row.cSpace == OperandSpace::Tensor) {
    bits += tile.queries * tile.keys * bitsOf(shape.powerElement());
  }
  return bits / 8 < target.shared.maxBytesPerWorkgroup;
}

//===----------------------------------------------------------------------===//
// Prefill
//===----------------------------------------------------------------------===//

/// Of 8 exponentials, beyond half the vector units are the scarcer ones.
static constexpr int64_t kMostFmaExponentials = 4;
/// Exponentials are split where that takes less than this: they are less exact.
static constexpr double kWorthSplitting = 0.98;

/// Tiles that a matrix unit multiplies from shared memory, of so many keys.
SmallVector<PrefillTile> Tiling::unitTiles(const HeadShape &shape,
                                           ArrayRef<int64_t> keysToTry) const {
  SmallVector<PrefillTile> tiles;
  auto consider = [&](PrefillTile tile) {
    const MmaRow *row = unitRowFor(shape, tile);
    HeadShape own = asMultiplied(shape, tile);
    if (row && canBeCutSo(own, tile, *row) && holdsSums(own, tile, *row) &&
        holdsOperands(own, tile, *row)) {
      tiles.push_back(tile);
    }
  };
  for (int64_t queries : {128, 64}) {
    for (int64_t keys : keysToTry) {
      for (int64_t waves : {8, 4}) {
        for (int64_t slots : {3, 2}) {
          consider({queries, keys, waves, slots, /*isDelayed=*/true});
          consider({queries, keys, waves, slots, /*isDelayed=*/true,
                    /*hasRoles=*/false, /*isAhead=*/true});
        }
        consider({queries, keys, waves, 2, /*isDelayed=*/false});
      }
    }
  }
  // Two groups of waves that multiply fill a unit with those that copy: the
  // most slots that fit cost nothing. Ours copy wherever they can: tiles whose
  // waves copy for themselves took 1.14 times as long and more on the GPU, up
  // to 1.25 times of what is estimated (tables in test/gpu).
  size_t alone = tiles.size();
  for (int64_t keys : keysToTry) {
    for (bool isDelayed : {true, false}) {
      size_t before = tiles.size();
      for (int64_t slots = 4; slots >= 2 && tiles.size() == before; --slots) {
        consider({128, keys, 8, slots, isDelayed, /*hasRoles=*/true});
      }
    }
  }
  if (tiles.size() > alone) {
    tiles.erase(tiles.begin(), tiles.begin() + alone);
  }
  return tiles;
}

/// Tiles that waves multiply. One workgroup has a unit where 8 bits take more
/// than half of the registers that two would share.
SmallVector<PrefillTile> Tiling::waveTiles(const HeadShape &shape) const {
  SmallVector<PrefillTile> tiles;
  auto consider = [&](int64_t queries, int64_t keys, int64_t waves) {
    PrefillTile tile = {queries, keys, waves};
    HeadShape own = asMultiplied(shape, tile);
    if (unitRowFor(shape, tile) || !holdsAttention(own, queries, keys, waves)) {
      return;
    }
    int64_t ofTwo = target.execution.registersOf(2 * waves);
    if (bitsOf(own.powerElement()) == 8 &&
        2 * registersOfAttention(own, queries, keys, waves) > ofTwo) {
      tile.workgroupsOfUnit = 1;
    }
    tiles.push_back(tile);
  };
  for (int64_t queries : {128, 64, 32}) {
    for (int64_t keys : {64, 32}) {
      consider(queries, keys, 4);
    }
  }
  for (int64_t queries : {256, 128}) {
    for (int64_t keys : {64, 32}) {
      consider(queries, keys, 8);
    }
  }
  if (shape.isLatent()) { // results as wide as these leave room for few rows
    for (int64_t queries : {64, 32}) {
      consider(queries, 32, 8);
    }
    for (int64_t queries : {32, 16}) {
      consider(queries, 16, 4);
    }
  }
  return tiles;
}

/// As many heads as leave their keys and values in half of L2, while tiles of
/// all of them are walked; whole heads of each chiplet.
int64_t Tiling::headsTogether(const HeadShape &shape, StepRange sizes) const {
  int64_t chiplets = std::max<int64_t>(target.execution.chiplets, 1);
  if (shape.heads % chiplets != 0) {
    return 0;
  }
  int64_t keys = std::min(sizes.longest.maximum, kMostKeysTogether);
  int64_t bytes = keys * shape.cacheColumns() * bitsOf(shape.cacheElement) / 8;
  int64_t fit =
      target.cache.l2Bytes / chiplets / 2 / std::max<int64_t>(bytes, 1);
  return std::min(shape.heads / chiplets,
                  std::max<int64_t>(fit, 1) * shape.group());
}

SmallVector<PrefillTile> Tiling::candidates(const HeadShape &shape) const {
  SmallVector<PrefillTile> tiles = unitTiles(shape, {128, 64, 32});
  append_range(tiles, waveTiles(shape));
  if (tiles.empty()) {
    tiles.push_back({16, 16, shape.isLatent() ? 4 : 1});
  }
  return tiles;
}

static std::string describe(const PrefillTile &tile) {
  std::string text = llvm::formatv("{0} queries, {1} keys, {2} waves",
                                   tile.queries, tile.keys, tile.waves);
  if (tile.slots) {
    text += ", " + std::to_string(tile.slots) + " slots";
  }
  if (tile.isDelayed) {
    text += ", values one trip late";
  }
  if (tile.isAhead) {
    text += ", keys one trip early";
  }
  if (tile.hasRoles) {
    text += ", waves that copy";
  }
  if (tile.fmaExponentials) {
    text += ", " + std::to_string(tile.fmaExponentials) +
            " of 8 exponentials on the vector units";
  }
  return text;
}

/// Of each tile at one long prompt.
static std::vector<FailureOr<Judgement>>
judge(const Tiling &tiling, Candidates &candidates, const HeadShape &shape,
      ArrayRef<PrefillTile> tiles, StepRange sizes) {
  SmallVector<KernelSequence> kernels;
  for (const PrefillTile &tile : tiles) {
    HeadShape own = tiling.asMultiplied(shape, tile);
    kernels.push_back({candidates.kernel(
        "prefill" + identityOf(own, tile), [&](auto &builder, auto &label) {
          return buildAttentionPrefill(builder, label, own, tile, sizes);
        })});
  }
  double tokens =
      static_cast<double>(std::min(sizes.longest.maximum, kJudgedTokens));
  double pages = std::ceil(tokens / static_cast<double>(shape.pageSize));
  const KernelOptions &options = tiling.options;
  const EvaluateKernels &evaluate =
      options.follow ? options.follow : options.evaluate;
  return evaluate(kernels, SizesOfRun{{"tokens", tokens},
                                      {"sequences", 1},
                                      {"longest", tokens},
                                      {"context", tokens},
                                      {"pages_per_sequence", pages}});
}

/// The tile with the share of exponentials on the vector units that makes it
/// fastest, where that is worth the instructions.
static std::pair<double, PrefillTile>
splitExponentials(const Tiling &tiling, Candidates &candidates,
                  const HeadShape &shape, std::pair<double, PrefillTile> best,
                  StepRange sizes) {
  if (!tiling.target.execution.addsRoundingDown) {
    return best;
  }
  SmallVector<PrefillTile> tiles;
  for (int64_t share = 1; share <= kMostFmaExponentials; ++share) {
    tiles.push_back(best.second);
    tiles.back().fmaExponentials = share;
  }
  std::pair<double, PrefillTile> split = {kWorthSplitting * best.first, {}};
  for (auto [judgement, tile] :
       llvm::zip_equal(judge(tiling, candidates, shape, tiles, sizes), tiles)) {
    if (succeeded(judgement) && judgement->seconds[0] < split.first) {
      split = {judgement->seconds[0], tile};
    }
  }
  return split.second.queries ? split : best;
}

bool Tiling::attends(Candidates &built, const HeadShape &shape,
                     StepRange sizes) const {
  return !options.evaluate ||
         (decodes(built, shape) &&
          llvm::any_of(candidates(shape), [&](const PrefillTile &tile) {
            return succeeded(judge(*this, built, shape, tile, sizes)[0]);
          }));
}

FailureOr<Chosen<PrefillTile>> Tiling::prefill(Candidates &built,
                                               const HeadShape &shape,
                                               StepRange sizes) const {
  // A model has one shape of heads: all are judged.
  SmallVector<PrefillTile> tiles = candidates(shape);
  for (PrefillTile &tile : tiles) {
    tile.headsTogether = headsTogether(shape, sizes);
  }
  if (!options.evaluate) {
    return Chosen<PrefillTile>{tiles[0], describe(tiles[0])};
  }
  SmallVector<std::pair<double, PrefillTile>> judged;
  for (auto [judgement, tile] :
       llvm::zip_equal(judge(*this, built, shape, tiles, sizes), tiles)) {
    if (succeeded(judgement)) {
      judged.push_back({judgement->seconds[0], tile});
    }
  }
  if (judged.empty()) {
    return failure();
  }
  // Equals stay in the order of the candidates.
  auto isFaster = [](auto &a, auto &b) { return a.first < b.first; };
  auto *best = llvm::min_element(judged, isFaster);
  std::rotate(judged.begin(), best, best + 1);
  auto timed = [](const auto &entry) {
    return llvm::formatv("{0}: {1:f1} us", describe(entry.second),
                         entry.first * 1e6)
        .str();
  };
  // Shares of one tile: the others would gain as much.
  if (unitRowFor(shape, judged[0].second)) {
    judged[0] = splitExponentials(*this, built, shape, judged[0], sizes);
  }
  std::string note =
      timed(judged[0]) + ", best of " + std::to_string(judged.size());
  if (judged.size() > 1) {
    note += "; next " + timed(*std::min_element(judged.begin() + 1,
                                                judged.end(), isFaster));
  }
  return Chosen<PrefillTile>{judged[0].second, note};
}
