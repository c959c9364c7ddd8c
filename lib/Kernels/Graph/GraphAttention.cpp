//===- GraphAttention.cpp - Launches around the cache of keys and values --===//

#include "lib/Kernels/Graph/GraphLowering.h"
#include "lib/Text/Text.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

Value GraphLowering::starts() {
  Value count = limits[{plan.sizes.sequences, -1}];
  if (!count) {
    count = plan.compute<arith::AddIOp>(plan.sizes.sequences, plan.constant(1));
    limits[{plan.sizes.sequences, -1}] = count;
  }
  return input("starts", plan.builder.getI32Type(), {kDynamic}, count);
}

Value GraphLowering::contexts() {
  return input("contexts", plan.builder.getI32Type(), {kDynamic},
               plan.sizes.sequences);
}

Value GraphLowering::pages() {
  return input("pages", plan.builder.getI32Type(), {kDynamic, kDynamic},
               {plan.sizes.sequences, plan.sizes.pagesPerSequence});
}

/// k_cache, v_cache and the scales that there are; who leaves values in units
/// of theirs takes none of them.
static void appendCache(SmallVectorImpl<Value> &arguments, const Storage &cache,
                        bool scalesValues = true) {
  for (Value value :
       {cache.buffer, cache.values, cache.queryScale, cache.keyScale,
        scalesValues ? cache.valueScale : Value()}) {
    if (value) {
      arguments.push_back(value);
    }
  }
}

model::AttentionOp GraphLowering::narrowReaderOf(Value q) const {
  auto reader = q.hasOneUse()
                    ? dyn_cast<model::AttentionOp>(*q.getUsers().begin())
                    : nullptr;
  bool isKnown =
      reader && reader.getQScale() && storage.contains(reader.getQScale());
  return isKnown ? reader : nullptr;
}

void GraphLowering::narrow(HeadShape &shape, Storage &cache,
                           model::AttentionOp reader) {
  if (reader && reader.getQScale()) {
    shape.queries = shape.cacheElement;
    cache.queryScale = bufferOf(reader.getQScale());
  }
}

Value GraphLowering::ropeTable(model::RopeAppendOp op, int64_t headDim) {
  std::string source;
  llvm::raw_string_ostream os(source);
  auto put = [&](StringRef key, const APFloat &value) {
    os << " " << key << " " << exactNumber(value.convertToDouble());
  };
  os << "rope head_dim " << headDim;
  put("theta", op.getTheta());
  if (auto scaling = op.getScaling()) {
    put("factor", scaling->getFactor());
    put("low_freq_factor", scaling->getLowFreqFactor());
    put("high_freq_factor", scaling->getHighFreqFactor());
    os << " original_context " << scaling->getOriginalContext();
  }
  int64_t positions =
      graph.getMaxContext().value_or(library.options.maxContext);
  return plan.named({StorageRole::Constant,
                     source,
                     {kDynamic, 2, headDim / 2},
                     plan.builder.getF32Type(),
                     {plan.constant(positions)}});
}

model::RopeAppendOp GraphLowering::ropeOf(model::LinearOp op) const {
  Value result = op.getOut();
  auto rope = result.hasOneUse()
                  ? dyn_cast<model::RopeAppendOp>(*result.getUsers().begin())
                  : nullptr;
  bool isAtHand = rope && plan.isDecode && rope->getBlock() == op->getBlock() &&
                  storage.contains(rope.getCache());
  return isAtHand ? rope : nullptr;
}

LogicalResult GraphLowering::lower(model::RopeAppendOp op) {
  if (!storage.contains(op.getQ())) { // else the linear before has launched it
    bindRope(op, rowsOf(op.getQkv()));
    launchRope(op, bufferOf(op.getQkv()), {}, {});
  }
  return success();
}

void GraphLowering::bindRope(model::RopeAppendOp op, Value rows) {
  bind(op.getQ(), rows);
  bindCache(op.getCache(), op.getCacheOut());
}

Storage GraphLowering::bindCache(Value cache, Value cacheOut) {
  const Storage place = storage[cache];
  storage[cacheOut] = place;
  return place;
}

LogicalResult GraphLowering::lower(model::AppendOp op) {
  model::CacheType cache = op.getCache().getType();
  HeadShape shape = headsOf(cache, cache.getKvHeads(), elementOf(op.getK()));
  const Storage place = bindCache(op.getCache(), op.getOut());
  SmallVector<Value> arguments = {bufferOf(op.getK()), bufferOf(op.getV()),
                                  starts(), contexts(), pages()};
  appendCache(arguments, place);
  llvm::append_values(arguments, plan.sizes.tokens, plan.sizes.sequences,
                      plan.sizes.longest, plan.sizes.pagesPerSequence);
  plan.launch(library.append(shape, plan.isDecode), arguments,
              model::getShortName(op));
  return success();
}

void GraphLowering::launchRope(model::RopeAppendOp op, Value qkv,
                               const SumParts &sums, ValueRange epilogue) {
  model::CacheType cache = op.getCache().getType();
  HeadShape shape = headsOf(cache, op.getHeads(), elementOf(op.getQkv()));
  Storage place = storage[op.getCache()];
  narrow(shape, place, narrowReaderOf(op.getQ()));
  SmallVector<Value> arguments = {qkv};
  llvm::append_range(arguments, epilogue);
  llvm::append_values(arguments, ropeTable(op, shape.headDim), starts(),
                      contexts(), pages(), bufferOf(op.getQ()));
  appendCache(arguments, place);
  llvm::append_values(arguments, plan.sizes.tokens, plan.sizes.sequences,
                      plan.sizes.longest, plan.sizes.pagesPerSequence);
  plan.launch(library.ropeAppend(shape, plan.isDecode, sums), arguments,
              model::getShortName(op));
}

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

  int64_t filling() const { return tile.perUnit * units; }
};
} // namespace

/// Fillings of the machine that are compared: of two or three the last one,
/// where parts of whole sequences leave it half empty, is full.
static constexpr int64_t kMostFillings = 3;

/// The parts of the keys of each sequence that take the least time, and all
/// parts of a step.
std::pair<Value, Value> GraphLowering::splitsOf(const HeadShape &shape) {
  const DecodeTile &tile = library.decodeTile(shape);
  std::pair<Value, Value> &known =
      splits[{shape.kvHeads, shape.pageSize, shape.window, tile.keys,
              tile.joinTiles, tile.perUnit, tile.atOnce, tile.maxSplits,
              std::llround(tile.alone * 1e3)}];
  if (known.first) {
    return known;
  }
  Value keys = plan.compute<arith::MulIOp>(plan.sizes.pagesPerSequence,
                                           plan.constant(shape.pageSize));
  if (shape.window > 0) {
    keys = plan.compute<arith::MinSIOp>(
        keys, plan.constant(walkedKeys(shape, tile, kNoLimit)));
  }
  SplitPlan split = {
      plan, tile, library.tiling.target.execution.units,
      plan.compute<arith::MulIOp>(plan.sizes.sequences,
                                  plan.constant(shape.kvHeads)),
      plan.compute<arith::CeilDivSIOp>(keys, plan.constant(tile.keys))};
  Value best = split.partsThatFill(1), least = split.timeOf(best);
  for (int64_t times = 2; times <= kMostFillings; ++times) {
    Value parts = split.partsThatFill(times), time = split.timeOf(parts);
    Value isLess = plan.isLess(time, least);
    best = plan.select(isLess, parts, best);
    least = plan.select(isLess, time, least);
  }
  best.setLoc(NameLoc::get(plan.builder.getStringAttr("splits")));
  known = {best, plan.compute<arith::MulIOp>(plan.sizes.sequences, best)};
  return known;
}

void GraphLowering::launchPrefill(const HeadShape &shape, const Storage &place,
                                  Value q, Value out, StringRef label) {
  SmallVector<Value> arguments = {q};
  appendCache(arguments, place);
  llvm::append_values(arguments, starts(), contexts(), pages(), out,
                      plan.sizes.tokens, plan.sizes.sequences,
                      plan.sizes.longest, plan.sizes.pagesPerSequence);
  plan.launch(library.prefill(shape), arguments, label);
}

void GraphLowering::launchDecode(const HeadShape &shape, const Storage &place,
                                 Value q, Value out, model::QuantiseOp quantise,
                                 StringRef label) {
  auto whole = [&] {
    SmallVector<Value> arguments = {q};
    appendCache(arguments, place);
    llvm::append_values(arguments, contexts(), pages(), out,
                        plan.sizes.sequences, plan.sizes.pagesPerSequence);
    plan.launch(library.decodeWhole(shape), arguments, label);
    if (quantise) {
      launchQuantise(quantise, out);
    }
  };
  if (library.decodeTile(shape).maxSplits == 1) {
    return whole();
  }
  SmallVector<Value> results = {out};
  if (quantise) {
    results = resultsOf(quantise);
  }
  Value splits = splitsOf(shape).first;
  plan.when(splits, {1, 1}, whole);
  plan.when(splits, {2, kNoLimit},
            [&] { launchParts(shape, place, q, results, label); });
}

void GraphLowering::launchParts(const HeadShape &shape, const Storage &place,
                                Value q, ValueRange results, StringRef label) {
  Value sequences = plan.sizes.sequences;
  auto [splits, parts] = splitsOf(shape);
  Type f32 = plan.builder.getF32Type();
  Value part = plan.workspace(parts, {shape.heads, shape.valueDim}, f32);
  Value stat = plan.workspace(parts, {shape.heads, 2}, f32);
  SmallVector<Value> arguments = {q}, combine = {part, stat};
  appendCache(arguments, place, /*scalesValues=*/false);
  if (place.valueScale) {
    combine.push_back(place.valueScale);
  }
  llvm::append_values(arguments, contexts(), pages(), part, stat, sequences,
                      splits, plan.sizes.pagesPerSequence);
  llvm::append_range(combine, results);
  llvm::append_values(combine, sequences, splits);
  plan.launch(library.decodePart(shape), arguments, label);
  plan.launch(library.combine(shape), combine, label.str() + "_combine");
  plan.release(part);
  plan.release(stat);
}

/// Scales of blocks are stored in words: a head must have whole ones.
model::QuantiseOp GraphLowering::quantiseInParts(model::AttentionOp op,
                                                 const HeadShape &shape) {
  model::QuantiseOp quantise = quantiseOf(op);
  bool isPossible =
      quantise && library.decodeTile(shape).maxSplits > 1 &&
      shape.valueDim % quantiseShapeOf(quantise).scales.wordNumbers() == 0;
  return isPossible ? quantise : nullptr;
}

void GraphLowering::launchAttention(model::AttentionOp op,
                                    const HeadShape &from, const Storage &cache,
                                    Value q) {
  HeadShape shape = from;
  Value out = bufferOf(op.getOut());
  if (!plan.isDecode) {
    return launchPrefill(shape, cache, q, out, model::getShortName(op));
  }
  model::QuantiseOp quantise = quantiseInParts(op, shape);
  if (quantise) {
    shape.quantise = quantiseShapeOf(quantise);
    bind(quantise.getOut(), rowsOf(op.getQ()));
    bind(quantise.getScale(), rowsOf(op.getQ()));
  }
  launchDecode(shape, cache, q, out, quantise, model::getShortName(op));
}

LogicalResult GraphLowering::lower(model::AttentionOp op) {
  HeadShape shape =
      headsOf(op.getCache().getType(), op.getHeads(), elementOf(op.getQ()));
  shape.window = op.getWindow().value_or(0);
  Value rows = rowsOf(op.getQ()), q = bufferOf(op.getQ());
  bind(op.getOut(), rows);
  Storage cache = storage[op.getCache()];
  narrow(shape, cache, op);
  if (failed(library.chooseTile(op, shape, plan.isDecode))) {
    return failure();
  }
  bool isThere =
      cast<BufferType>(q.getType()).getElementType() == shape.queryElement();
  if (isThere) {
    launchAttention(op, shape, cache, q);
    return success();
  }
  Value narrow =
      plan.workspace(rows, {shape.heads * shape.headDim}, shape.queries);
  plan.launch(
      library.elementwise({Elementwise::Narrow, shape.heads * shape.headDim,
                           shape.element, shape.queries}),
      {q, cache.queryScale, narrow, rows},
      model::getShortName(op) + "_queries");
  launchAttention(op, shape, cache, narrow);
  plan.release(narrow);
  return success();
}
