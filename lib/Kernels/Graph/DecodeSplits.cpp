//===- DecodeSplits.cpp - Into how many parts keys of a sequence are cut --===//

#include "lib/Kernels/Graph/Launches.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

namespace {
/// What splitting the keys of all sequences takes, in sizes of the plan: time
/// in tiles that a workgroup passes where as many as fill the machine share it,
/// times that many.
struct SplitPlan {
  Plan &plan;
  const DecodeTile &tile;
  int64_t units;
  Value groups; ///< workgroups where nothing is split
  Value tiles;  ///< of keys, of the longest sequence

  /// Parts of each sequence that fill the machine so many times, each no faster
  /// than the launch that joins them.
  Value partsThatFill(int64_t times) {
    Value slots = plan.constant(times * filling());
    Value share = plan.compute<arith::DivSIOp>(slots, groups);
    Value most =
        plan.compute<arith::DivSIOp>(tiles, plan.constant(tile.joinTiles));
    Value parts =
        plan.compute<arith::MinSIOp>(plan.compute<arith::MinSIOp>(share, most),
                                     plan.constant(tile.maxSplits));
    return plan.compute<arith::MaxSIOp>(parts, plan.constant(1));
  }

  /// Rounds of what runs at once; one that is not full takes as long as one
  /// workgroup on each unit at least. Each starts in the time of a tile.
  Value timeOf(Value parts) {
    Value grid = plan.compute<arith::MulIOp>(groups, parts);
    Value rest =
        plan.compute<arith::RemSIOp>(grid, plan.constant(units * tile.atOnce));
    Value least = plan.constant(std::llround(tile.alone * double(units)));
    Value missing = plan.compute<arith::MaxSIOp>(
        plan.compute<arith::SubIOp>(least, rest), plan.constant(0));
    Value idle = plan.compute<arith::RemSIOp>(missing, least);
    Value each = plan.compute<arith::AddIOp>(
        plan.compute<arith::CeilDivSIOp>(tiles, parts), plan.constant(1));
    Value pass = plan.compute<arith::MulIOp>(
        plan.compute<arith::AddIOp>(grid, idle), each);
    Value isSplit = plan.compute<arith::MinSIOp>(
        plan.compute<arith::SubIOp>(parts, plan.constant(1)), plan.constant(1));
    return plan.compute<arith::AddIOp>(
        pass, plan.compute<arith::MulIOp>(
                  isSplit, plan.constant(tile.joinTiles * filling())));
  }

  int64_t filling() { return tile.perUnit * units; }
};
} // namespace

/// Fillings of the machine that are compared: of two or three the last one,
/// where parts of whole sequences leave it half empty, is full.
static constexpr int64_t kMostFillings = 3;

/// The parts of the keys of each sequence that take the least time, and all
/// parts of a step.
std::pair<Value, Value> kernels::splitsOf(Lowering &in,
                                          const HeadShape &shape) {
  const DecodeTile &tile = in.library.decodeTile(shape);
  std::pair<Value, Value> &known = in.splits[{
      shape.kvHeads * tile.groupParts(shape), shape.pageSize, shape.window,
      shape.chunk, tile.keys, tile.joinTiles, tile.perUnit, tile.atOnce,
      tile.maxSplits, std::llround(tile.alone * 1e3)}];
  if (known.first) {
    return known;
  }
  Value keys = in.plan.compute<arith::MulIOp>(in.plan.sizes.pagesPerSequence,
                                              in.plan.constant(shape.pageSize));
  if (!shape.seesAllKeys()) {
    keys = in.plan.compute<arith::MinSIOp>(
        keys, in.plan.constant(walkedKeys(shape, tile, kNoLimit)));
  }
  SplitPlan split = {
      in.plan, tile, in.library.tiling.target.execution.units,
      in.plan.compute<arith::MulIOp>(
          in.plan.sizes.sequences,
          in.plan.constant(shape.kvHeads * tile.groupParts(shape))),
      in.plan.compute<arith::CeilDivSIOp>(keys, in.plan.constant(tile.keys))};
  Value best = split.partsThatFill(1), least = split.timeOf(best);
  for (int64_t times = 2; times <= kMostFillings; ++times) {
    Value parts = split.partsThatFill(times), time = split.timeOf(parts);
    Value isLess = in.plan.isLess(time, least);
    best = in.plan.select(isLess, parts, best);
    least = in.plan.select(isLess, time, least);
  }
  best.setLoc(NameLoc::get(in.plan.builder.getStringAttr("splits")));
  known = {best, in.plan.compute<arith::MulIOp>(in.plan.sizes.sequences, best)};
  return known;
}
