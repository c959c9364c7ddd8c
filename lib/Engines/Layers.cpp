//===- Layers.cpp - What layers of engines take beyond kernels ------===//

#include "lib/Engines/Layers.h"

using namespace mlir;
using namespace modelc;

Target modelc::asAlone(Target target) {
  target.launch.startsEarly = false;
  target.launch.graphReplay = 0;
  return target;
}

LayerHabits::LayerHabits(const MeasuredRow &row, const Target &target,
                         const Engines &engines)
    : launch(firstOf(engines.launches, row.source, target.identity.family,
                     row.type)),
      layer(firstOf(engines.layers, row.source, target.identity.family,
                    row.type)) {
  bool isLinear = row.isLayer && row.kind == Measurement::Linear;
  startsEarly = isLinear && layer && layer->startsEarly;
  scalesTensor = isLinear && layer && layer->scalesTensor;
  isOfLibrary = isLinear && row.isUnquantised() && libraryGap() > 0;
}

Target modelc::asEnginesRun(const MeasuredRow &row, Target target,
                            const LayerHabits &habits,
                            const EngineLinear *engine) {
  if (engine && !engine->instructions.empty()) {
    llvm::erase_if(target.mma, [&](const MmaRow &mma) {
      return !llvm::is_contained(engine->instructions, mma.name);
    });
  }
  Launch &launch = target.launch;
  double gap = habits.startsEarly   ? launch.gap
               : habits.isOfLibrary ? habits.libraryGap()
                                    : habits.gap();
  if ((row.isLayer || row.isAttention()) && gap > 0) {
    launch.gap = gap;
    launch.workgroup = 0; // theirs go on from tile to tile
    return asAlone(target);
  }
  return target;
}

bool modelc::staysInCache(const MeasuredRow &row, const Target &target) {
  const Cache &cache = target.cache;
  if (row.kind == Measurement::Experts && !row.isLayer) {
    return false; // each run has copies of its own
  }
  return row.bytesOfTurn(cache.l2Bytes) <=
         std::max<double>(cache.l2Bytes, cache.llcBytes);
}

/// Until what a kernel has asked memory for is there.
static double secondsOfRead(const Target &target) {
  return target.memory.latencyClocks / target.clock.boostHz;
}

/// From `least` to `most`; a most of 0 is none.
static bool isWithin(int64_t number, int64_t least, int64_t most) {
  return number >= least && (most == 0 || number <= most);
}

/// Whether the row of a file is for the heads, and the window, of a measured
/// one.
static bool isForHeads(const EngineAttention &engine, const MeasuredRow &row) {
  bool isInGroups =
      row.heads > (engine.leastGroup - 1) * row.kvHeads &&
      (engine.mostGroup == 0 || row.heads <= engine.mostGroup * row.kvHeads);
  return isInGroups &&
         isWithin(row.headDim, engine.leastColumns, engine.mostColumns) &&
         (!engine.windowed || row.window > 0) &&
         (!engine.seesAll || row.seesAll());
}

const EngineAttention *modelc::attentionOf(const MeasuredRow &row,
                                           const Target &target,
                                           const Engines &engines) {
  if (!row.isAttention() || row.isLatent()) {
    return nullptr;
  }
  StringRef phase = row.kind == Measurement::Prefill ? "prefill" : "decode";
  for (const EngineAttention &engine : engines.attentions) {
    if (engine.phase == phase &&
        engine.scope.holds(row.source, target.identity.family, row.type) &&
        llvm::is_contained(engine.caches, row.cacheType) &&
        isForHeads(engine, row)) {
      return &engine;
    }
  }
  return nullptr;
}

double modelc::secondsOfReplay(const MeasuredRow &row, const Target &target) {
  if (!row.isLayer && !row.isAttention()) {
    return 0;
  }
  const Launch &launch = target.launch;
  double layers = row.isLayer ? row.layersOfTurn(target.cache.l2Bytes) : 1;
  return std::max(0.0, launch.hostLaunch - launch.gap) / layers;
}

namespace {
/// The workgroups of what attends, and the tiles of keys that they walk.
struct Attending {
  const EngineAttention &engine;
  const MeasuredRow &row;
  const Target &target;
  double workgroups = 0, tiles = 0; ///< of all
  double mostTiles = 0;             ///< of one workgroup
  double parts = 1;                 ///< of the keys of a sequence, of decode

  Attending(const EngineAttention &engine, const MeasuredRow &row,
            const Target &target);
  void decode();
  void prefill();
  double tilesOf(int64_t first, int64_t last) const;
  double partsOf(double groups) const;
  double secondsOfTurns() const;
  double secondsOfKeys() const;
  double secondsOfJoining() const;
};
} // namespace

Attending::Attending(const EngineAttention &engine, const MeasuredRow &row,
                     const Target &target)
    : engine(engine), row(row), target(target) {
  if (row.kind == Measurement::Decode) {
    decode();
  } else {
    prefill();
  }
}

/// That the queries `first` to `last` of a sequence see any key of.
double Attending::tilesOf(int64_t first, int64_t last) const {
  int64_t begin = 0;
  if (row.window > 0 && !engine.walksAll) {
    begin = std::max<int64_t>(0, row.past + first + 1 - row.window);
  }
  return double((row.past + last) / engine.keys - begin / engine.keys + 1);
}

/// A workgroup has the new token of a sequence and head, and a part of its
/// tiles.
void Attending::decode() {
  double groups =
      double(row.sequences) * double(engine.isEach ? row.heads : row.kvHeads);
  auto keys = double(row.keysSeen()), tile = double(engine.keys);
  // A window begins anywhere in a tile.
  mostTiles = std::ceil((row.seesAll() ? keys : keys + tile - 1) / tile);
  parts = partsOf(groups);
  mostTiles = std::ceil(mostTiles / parts);
  workgroups = groups * parts;
  tiles = workgroups * mostTiles;
}

/// Of a kernel with a head of queries in each workgroup: as many as all units
/// can share, none with less than a turn of its loop.
double Attending::partsOf(double groups) const {
  auto units = double(target.execution.units), keys = double(row.keysSeen());
  double most = mostTiles, fit = 0;
  if (engine.isEach) {
    double columns = double(llvm::PowerOf2Ceil(row.headDim));
    most = std::ceil(keys * columns / double(engine.partNumbers));
    fit = std::ceil(units / groups);
  } else {
    fit = std::floor(double(engine.mostRounds) * units / groups);
  }
  if (engine.partKeys > 0) {
    double whole = std::floor(keys / double(engine.partKeys));
    most = std::min(whole, std::round(std::sqrt(8 * whole)));
  }
  if (engine.mostParts > 0) {
    most = std::min(most, double(engine.mostParts));
  }
  return std::max(1.0, std::min(most, fit));
}

/// A workgroup has a tile of queries of one head, or of all that share keys.
void Attending::prefill() {
  int64_t group = engine.packs ? row.heads / row.kvHeads : 1;
  int64_t queries = row.newTokens * group;
  double groups = double(row.sequences) * double(row.heads / group);
  for (int64_t begin = 0; begin < queries; begin += engine.rows) {
    int64_t end = std::min(begin + engine.rows, queries);
    double walked = tilesOf(begin / group, (end - 1) / group);
    mostTiles = std::max(mostTiles, walked);
    tiles += groups * walked;
    workgroups += groups;
  }
}

/// Units are busy evenly, but for the longest workgroup. Parts for each head of
/// queries fill a unit, and come in whole rounds.
double Attending::secondsOfTurns() const {
  double tile = double(engine.keys) *
                (engine.key + double(row.headDim) * engine.column) /
                target.clock.boostHz;
  double slots = double(target.execution.units) *
                 double(std::max<int64_t>(engine.workgroups, 1));
  double longest = engine.turn + mostTiles * tile;
  double all = engine.isEach && parts > 1
                   ? std::ceil(workgroups / slots) * longest
                   : (workgroups * engine.turn + tiles * tile) / slots;
  return std::max(all, longest) + double(row.sequences) * engine.sequence;
}

/// Heads of queries that read by themselves have their keys from L2.
double Attending::secondsOfKeys() const {
  double asked = row.cacheBytes(engine.isEach ? row.heads : row.kvHeads);
  double rate = target.memory.bandwidth * target.efficiency.attention;
  double fromMemory =
      staysInCache(row, target) ? 0 : target.launch.ramp + row.bytes() / rate;
  return std::max(asked / target.cache.l2Bandwidth, fromMemory);
}

double Attending::secondsOfJoining() const {
  if (parts == 1) {
    return 0;
  }
  double reads = 2 * secondsOfRead(target);
  return engine.joins ? reads : target.startSeconds() + reads;
}

/// In place of what ours take that attend and join.
static double secondsOfAttending(const EngineAttention &engine,
                                 const LayerHabits &habits,
                                 const MeasuredRow &row, const StepCost &step,
                                 const Target &target) {
  if (StringRef(step.label).ends_with("combine")) {
    return -step.cost.expectation.seconds;
  }
  Attending attending(engine, row, target);
  bool isEarly = engine.startsEarly && habits.libraryGap() > 0;
  return (isEarly ? habits.libraryGap() : target.startSeconds()) +
         std::max(attending.secondsOfTurns(), attending.secondsOfKeys()) +
         attending.secondsOfJoining() - step.cost.expectation.seconds;
}

/// What comes before, beyond what ours takes: launches, and what kernels do for
/// each column of a query and each token.
static double secondsOfAppend(const EngineAttention &engine,
                              const MeasuredRow &row, const StepCost &step,
                              const Target &target) {
  if (engine.appends) {
    return -step.cost.expectation.seconds;
  }
  auto columns = double(row.heads * row.headDim);
  double token = engine.token + columns * engine.query / target.clock.boostHz;
  return engine.launches * (target.startSeconds() + secondsOfRead(target)) +
         double(row.rows()) * token / double(target.execution.units);
}

double modelc::secondsOfEngine(const EngineAttention &engine,
                               const LayerHabits &habits,
                               const MeasuredRow &row, const StepCost &step,
                               const Target &target) {
  if (StringRef(step.label).ends_with("append")) {
    return secondsOfAppend(engine, row, step, target);
  }
  return secondsOfAttending(engine, habits, row, step, target);
}

StringRef modelc::limitOfEngine(const EngineAttention &engine,
                                const MeasuredRow &row, const Target &target) {
  Attending attending(engine, row, target);
  double keys = attending.secondsOfKeys();
  return keys > attending.secondsOfTurns() ? "what its engine's kernel reads"
                                           : "its engine's workgroups";
}

double modelc::secondsOfPulling(const LayerHabits &habits,
                                const MeasuredRow &row, const StepCost &step,
                                const Target &target) {
  bool isInTwo = StringRef(step.cost.name).contains("in_two");
  if (row.kind != Measurement::AllReduce || row.devices == 2 || !isInTwo ||
      !habits.launch || !habits.launch->pulls) {
    return 0;
  }
  constexpr double kSteps = 2;
  return kSteps * (target.link.messageLatency + secondsOfRead(target));
}

double modelc::secondsOfTensorScale(const LayerHabits &habits,
                                    const MeasuredRow &row,
                                    const Target &target) {
  if (!habits.scalesTensor) {
    return 0;
  }
  double bytes = 2.0 * double(row.m) * double(row.k);
  return 2 * target.startSeconds() + secondsOfRead(target) +
         bytes / (target.memory.bandwidth * target.efficiency.read);
}

double modelc::secondsOfRounding(const EngineLinear &engine,
                                 const LayerHabits &habits,
                                 const MeasuredRow &row, const StepCost &step,
                                 const Target &target) {
  if (engine.cut.quantise.empty() || !habits.launch ||
      !StringRef(step.label).ends_with("quantise")) {
    return 0;
  }
  double clocks = double(row.m) * double(row.k) * habits.launch->rounding /
                  double(target.execution.units);
  double rounded = target.startSeconds() + clocks / target.clock.boostHz;
  return std::max(0.0, rounded - step.cost.expectation.seconds);
}

double modelc::secondsOfAdding(const EngineLinear &engine,
                               const MeasuredRow &row, const StepCost &step) {
  constexpr double kResult = 2; // bytes
  double bytes =
      double(row.m) * double(row.n) * kResult * double(engine.cut.leastParts);
  return engine.join + bytes / engine.addRate - step.cost.expectation.seconds;
}

std::vector<EngineLinear> modelc::linearsOf(const MeasuredRow &row,
                                            const Target &target,
                                            const Engines &engines) {
  std::vector<EngineLinear> linears;
  for (const EngineLinear &engine : engines.linears) {
    bool isForShape = isWithin(row.m, engine.leastRows, engine.mostRows) &&
                      isWithin(row.n, engine.leastColumns, engine.mostColumns);
    if (row.kind != Measurement::Linear || !isForShape ||
        !engine.scope.holds(row.source, target.identity.family, row.type)) {
      continue;
    }
    if (engine.addRate <= 0) {
      linears.push_back(engine);
      continue;
    }
    // What adds parts is not of ours, so that the cost cannot choose their
    // number.
    for (int64_t parts = 1; parts <= engine.cut.mostParts; parts *= 2) {
      linears.push_back(engine);
      LinearCut &cut = linears.back().cut;
      cut.leastParts = cut.mostParts = parts;
    }
  }
  return linears;
}
