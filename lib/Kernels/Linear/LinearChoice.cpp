//===- LinearChoice.cpp - The best tile of a linear, and why --------------===//

#include "lib/Kernels/Linear/LinearPreview.h"
#include "lib/Kernels/Tiling.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static std::string describe(const LinearTile &tile) {
  std::string text = llvm::formatv("{0}x{1}x{2}, {3} waves", tile.m, tile.n,
                                   tile.k, tile.waves);
  if (tile.splits > 1) {
    text += llvm::formatv(", {0} parts of the sum", tile.splits);
  }
  if (tile.hasPieces()) {
    text += llvm::formatv(" in {0}x{1} pieces", tile.piecesM, tile.piecesN);
  }
  text += tile.hasRoles ? ", roles" : "";
  if (tile.weightsAhead) {
    text += llvm::formatv(", weights in registers {0} trips ahead",
                          tile.weightsAhead);
  }
  if (tile.sharers > 1) {
    text += llvm::formatv(", {0} workgroups load together", tile.sharers);
  }
  if (tile.cluster > 1) {
    text += llvm::formatv(", {0} workgroups together", tile.cluster);
  }
  return tile.isSwapped ? text + ", weight first" : text;
}

using Judged = SmallVector<std::pair<double, LinearTile>>;

/// The kernels of a tile: of the linear, and what adds its parts or makes its
/// results narrow.
static KernelSequence kernelsOf(const Tiling &tiling, Candidates &candidates,
                                const LinearShape &shape,
                                const LinearTile &tile, Range rows) {
  KernelSequence kernels;
  auto add = [&](const std::string &identity, Candidates::Build build) {
    kernels.push_back(candidates.kernel(identity, build));
  };
  add("linear" + identityOf(shape, tile), [&](auto &builder, auto &label) {
    return buildLinear(builder, label, shape, tile, rows);
  });
  if (tile.splits > 1) {
    LinearTile added;
    added.splits = tile.splits;
    added.reduceM = tile.reduceM;
    added.reduceN = tile.reduceN;
    added.reduceWaves = tile.reduceWaves;
    add("reduce" + identityOf(shape, added), [&](auto &builder, auto &label) {
      return buildLinearReduce(builder, label, shape, added, rows);
    });
  } else if (const auto &quantise = shape.quantise) {
    add("quantise" + identityOf(*quantise), [&](auto &builder, auto &label) {
      return buildQuantiseBlocks(builder, label, *quantise,
                                 tiling.blocksOfRow(quantise->columns,
                                                    quantise->scales,
                                                    quantise->result),
                                 rows);
    });
  }
  return kernels;
}

/// The candidates that can be scheduled, with their seconds by the caller's
/// judgement.
static Judged judge(const Tiling &tiling, Candidates &candidates,
                    const LinearShape &shape, ArrayRef<LinearTile> given,
                    Range rows, const EvaluateKernels &evaluate) {
  SmallVector<LinearTile> tiles(given);
  SmallVector<KernelSequence> kernels;
  for (LinearTile &tile : tiles) {
    tile.early = tiling.earlyColumns(shape, tile, rows);
    kernels.push_back(kernelsOf(tiling, candidates, shape, tile, rows));
  }
  double m = static_cast<double>(std::min(rows.maximum, kJudgedRows));
  std::vector<FailureOr<Judgement>> judgements =
      evaluate(kernels, SizesOfRun{{"m", m}});
  assert(judgements.size() == kernels.size() && "a judgement for each");
  if (tiling.options.count) {
    tiling.options.count->judged += kernels.size();
  }
  Judged judged;
  for (auto [judgement, tile] : llvm::zip_equal(judgements, tiles)) {
    if (succeeded(judgement)) {
      judged.push_back({judgement->seconds[0], tile});
    }
  }
  return judged;
}

/// Less than this is no gain.
static constexpr double kGain = 0.99;

/// The plainest asks L2 for least.
static bool isPlainer(const LinearTile &one, const LinearTile &other) {
  auto order = [](const LinearTile &tile) {
    return std::make_tuple(tile.splits, tile.isSwapped, tile.sharers,
                           tile.hasRoles, -tile.m * tile.n, tile.waves, tile.m,
                           tile.k);
  };
  return order(one) < order(other);
}

/// Puts first, of all that are as good as the first, the plainest: the same one
/// for neighbouring ranges of rows, which share a kernel then.
static void preferPlain(Judged &judged) {
  auto *best = judged.begin();
  double enough = best->first / kGain;
  for (auto *entry = judged.begin(); entry != judged.end(); ++entry) {
    if (entry->first < enough && isPlainer(entry->second, best->second)) {
      best = entry;
    }
  }
  std::rotate(judged.begin(), best, best + 1);
}

/// The fastest first, equals as they stand.
static Judged inOrder(const Judged &judged) {
  SmallVector<std::pair<double, size_t>> order;
  for (auto [i, entry] : llvm::enumerate(judged)) {
    order.push_back({entry.first, i});
  }
  llvm::sort(order);
  Judged sorted;
  for (auto [seconds, i] : order) {
    sorted.push_back(judged[i]);
  }
  return sorted;
}

/// The plainest of the best and the next few that are close to it, by who meets
/// whom on a unit.
static Judged followBest(const Tiling &tiling, Candidates &candidates,
                         const LinearShape &shape, Judged judged, Range rows) {
  constexpr double kClose = 1.15;
  constexpr size_t kFew = 3;
  preferPlain(judged);
  SmallVector<LinearTile> close = {judged.front().second};
  for (const auto &[seconds, tile] : inOrder(judged)) {
    if (seconds < kClose * judged.front().first && close.size() < kFew &&
        !llvm::is_contained(close, tile)) {
      close.push_back(tile);
    }
  }
  if (close.size() < 2 || !tiling.options.follow) {
    return judged;
  }
  Judged followed =
      judge(tiling, candidates, shape, close, rows, tiling.options.follow);
  return followed.empty() ? judged : inOrder(followed);
}

/// The best few without roles.
static SmallVector<LinearTile> bestOf(const Judged &judged, size_t count) {
  SmallVector<std::pair<double, size_t>> order;
  for (auto [i, entry] : llvm::enumerate(judged)) {
    if (!entry.second.hasRoles) {
      order.push_back({entry.first, i});
    }
  }
  llvm::sort(order);
  SmallVector<LinearTile> tiles;
  for (auto [seconds, i] : ArrayRef(order).take_front(count)) {
    tiles.push_back(judged[i].second);
  }
  return tiles;
}

/// In words, with the seconds of the judgement.
static std::string timed(const Judged::value_type &entry) {
  return llvm::formatv("{0}: {1:f1} us", describe(entry.second),
                       entry.first * 1e6);
}

/// Why the first was taken.
static std::string noteOf(const Judged &judged, Range rows) {
  std::string note =
      llvm::formatv("{0} at {1} rows, best of {2}", timed(judged[0]),
                    std::min(rows.maximum, kJudgedRows), judged.size());
  if (judged.size() > 1) {
    const auto *next =
        std::min_element(judged.begin() + 1, judged.end(),
                         [](auto &a, auto &b) { return a.first < b.first; });
    note += "; next " + timed(*next);
  }
  return note;
}

/// The tile with waves of their own for copies and products, if products run
/// beside the waves that ask for them.
SmallVector<LinearTile> Tiling::withRoles(const LinearShape &shape,
                                          LinearTile tile) const {
  tile.hasRoles = true;
  bool isPossible =
      multipliesBeside(shape, tile) && reasonAgainst(shape, tile).empty();
  return isPossible ? SmallVector<LinearTile>{tile} : SmallVector<LinearTile>();
}

/// Where waves add products, tiles with roles from those that are the best
/// without, whose waves all wait for each product: with waves that take turns,
/// and with another product beside the same rows.
SmallVector<LinearTile> Tiling::adding(const LinearShape &shape,
                                       ArrayRef<LinearTile> bases,
                                       Range rows) const {
  SmallVector<LinearTile> tiles;
  auto add = [&](ArrayRef<LinearTile> more) {
    for (const LinearTile &tile : more) {
      if (!llvm::is_contained(tiles, tile)) {
        tiles.push_back(tile);
      }
    }
    return !more.empty();
  };
  for (LinearTile tile : bases) {
    LinearTile own = tile;
    tile.waves = kWavesThatAdd;
    if (add(withRoles(shape, tile))) {
      own = tile;
    } else {
      add(withRoles(shape, own));
    }
    add(withSharers(shape, own, rows));
    tile.n *= 2;
    add(withRoles(shape, tile));
  }
  return tiles;
}

/// The first tile that can have neighbours that load the weight together, as
/// boxes land in several workgroups.
SmallVector<LinearTile> Tiling::withSharers(const LinearShape &shape,
                                            ArrayRef<LinearTile> tiles,
                                            Range rows) const {
  for (LinearTile tile : tiles) {
    tile.hasRoles = true;
    tile.sharers = 2;
    const MmaRow *row = rowFor(rowsFor(shape), shape, tile);
    bool isPossible = target.copy.multicast && tile.cluster == 1 &&
                      tile.splits == 1 &&
                      rows.maximum >= tile.sharers * tile.m && row &&
                      row->scope == MmaScope::Group4 &&
                      row->cSpace == OperandSpace::Register &&
                      reasonAgainst(shape, tile, row).empty();
    if (isPossible) {
      return {tile};
    }
  }
  return {};
}

/// The first and its equals, the plainest first.
static SmallVector<LinearTile> asGoodAsFirst(const Judged &judged) {
  SmallVector<LinearTile> tiles;
  for (const auto &[seconds, tile] : judged) {
    if (kGain * seconds < judged.front().first) {
      tiles.push_back(tile);
    }
  }
  llvm::sort(tiles, isPlainer);
  return tiles;
}

/// The first that has no parts: what loads together adds none.
static LinearTile firstWhole(ArrayRef<LinearTile> list) {
  return *llvm::min_element(
      list, [](auto &a, auto &b) { return a.splits == 1 && b.splits > 1; });
}

FailureOr<Chosen<LinearTile>>
Tiling::linear(Candidates &built, const LinearShape &shape, Range rows) const {
  SmallVector<LinearTile> list = candidates(shape, rows);
  if (list.empty()) {
    return failure();
  }
  if (options.count) {
    ++options.count->choices;
  }
  if (!options.evaluate) {
    std::string note = describe(list[0]) + ": best preview of " +
                       std::to_string(list.size()) + " tiles";
    if (list.size() > 1) {
      note += "; next " + describe(list[1]);
    }
    return Chosen<LinearTile>{list[0], note};
  }
  const LinearTile whole = firstWhole(list);
  list.truncate(std::min<size_t>(list.size(), options.maxCandidates));
  Judged judged = judge(*this, built, shape, list, rows, options.evaluate);
  if (judged.empty()) {
    return failure();
  }
  // Equals stay in the order of the preview.
  auto *best = llvm::min_element(
      judged, [](auto &a, auto &b) { return a.first < b.first; });
  std::rotate(judged.begin(), best, best + 1);
  // Workgroups that multiply together, or else roles, and then other extents,
  // where they gain enough.
  auto challenge = [&](ArrayRef<LinearTile> tiles) {
    for (auto &entry :
         judge(*this, built, shape, tiles, rows, options.evaluate)) {
      judged.insert(entry.first < kGain * judged[0].first ? judged.begin()
                                                          : judged.end(),
                    entry);
    }
  };
  LinearPreview preview(target, shape, std::min(rows.maximum, kJudgedRows));
  constexpr double kBoundByMemory = 1.05; // then nothing helps
  constexpr size_t kBases = 2;
  double bound = kBoundByMemory * preview.memorySeconds(judged[0].second);
  if (!options.tiled() && judged[0].first > bound) {
    challenge(paired(shape, rows));
    if (shape.blockScales.isByKernel()) {
      challenge(adding(shape, bestOf(judged, kBases), rows));
    } else {
      if (!judged[0].second.hasRoles) {
        challenge(withRoles(shape, judged[0].second));
      }
      challenge(uneven(shape, rows, judged[0].second));
      challenge(withSharers(shape, asGoodAsFirst(judged), rows));
      if (judged[0].second.splits > 1) {
        challenge(withSharers(shape, whole, rows));
      }
    }
  }
  judged = followBest(*this, built, shape, judged, rows);
  preferPlain(judged);
  return Chosen<LinearTile>{judged[0].second, noteOf(judged, rows)};
}
