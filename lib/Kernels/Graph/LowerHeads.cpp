//===- LowerHeads.cpp - Queries, keys and values, and their cache ---------===//

#include "lib/Kernels/Graph/Launches.h"
#include "lib/Text/Text.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

HeadShape kernels::headsOf(Lowering &in, model::CacheType cache, int64_t heads,
                           Type element) {
  HeadShape shape;
  shape.heads = heads;
  shape.kvHeads = cache.getKvHeads();
  shape.headDim = shape.valueDim = cache.getHeadDim();
  shape.pageSize = cache.getPage();
  shape.element = element;
  shape.cacheElement = in.stored(cache.getElementType());
  return shape;
}

void kernels::appendCache(NamedValues &arguments, const Storage &cache) {
  arguments.append({{"k_cache", cache.buffer},
                    {"v_cache", cache.values},
                    {"q_scale", cache.queryScale},
                    {"k_scale", cache.keyScale},
                    {"v_scale", cache.valueScale}});
}

void kernels::appendSizes(NamedValues &arguments, const PlanSizes &sizes) {
  arguments.append({{"tokens", sizes.tokens},
                    {"sequences", sizes.sequences},
                    {"longest", sizes.longest},
                    {"pages_per_sequence", sizes.pagesPerSequence}});
}

void kernels::narrow(Lowering &in, HeadShape &shape, Storage &cache,
                     Value scale) {
  if (scale) {
    shape.queries = shape.cacheElement;
    cache.queryScale = in.bufferOf(scale);
  }
}

/// A table of the host library, which makes it from that text: so many numbers
/// for each position.
static Value tableOf(Lowering &in, StringRef source, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all = {kDynamic};
  llvm::append_range(all, shape);
  int64_t positions =
      in.graph.getMaxContext().value_or(in.library.options.maxContext);
  return in.plan.named({StorageRole::Constant,
                        source.str(),
                        all,
                        in.plan.builder.getF32Type(),
                        {in.plan.constant(positions)}});
}

/// Words and numbers that targets/host/README.md explains.
static std::string wordsOf(ArrayRef<std::pair<StringRef, double>> words) {
  std::string text;
  for (const auto &[word, number] : words) {
    text += " " + word.str() + " " + exactNumber(number);
  }
  return text;
}

/// How frequencies are stretched; empty: they are not.
template <typename Op>
static std::string stretchOf(Op op) {
  auto number = [](const APFloat &value) { return value.convertToDouble(); };
  if (auto llama = op.getScaling()) {
    return wordsOf({{"factor", number(llama->getFactor())},
                    {"low_freq_factor", number(llama->getLowFreqFactor())},
                    {"high_freq_factor", number(llama->getHighFreqFactor())},
                    {"original_context", llama->getOriginalContext()}});
  }
  if (auto yarn = op.getYarn()) {
    return wordsOf({{"factor", number(yarn->getFactor())},
                    {"beta_fast", number(yarn->getBetaFast())},
                    {"beta_slow", number(yarn->getBetaSlow())},
                    {"original_context", yarn->getOriginalContext()},
                    {"magnitude", number(yarn->getMagnitude())},
                    {"truncate", yarn->getTruncate().getValue()}});
  }
  return op.getStretched()
             ? wordsOf({{"stretched", number(*op.getStretched())}})
             : "";
}

template <typename Op>
static Value ropeTable(Lowering &in, Op op) {
  int64_t columns = op.getRotatedColumns();
  std::string source =
      "rope" + wordsOf({{"columns", columns},
                        {"theta", op.getTheta().convertToDouble()}});
  return tableOf(in, source + stretchOf(op), {2, columns / 2});
}

Value kernels::temperatureTable(Lowering &in, model::TemperatureAttr of) {
  std::string words = wordsOf(
      {{"scale", of.getScale().convertToDouble()}, {"every", of.getEvery()}});
  return tableOf(in, "temperature" + words, {});
}

template <typename Op>
static Rotation rotationOf(Op op) {
  return {static_cast<int64_t>(op.getRotated().value_or(0)),
          static_cast<int64_t>(op.getFirst()), op.getInterleaved()};
}

LogicalResult kernels::lower(Lowering &in, model::RopeOp op) {
  HeadShape shape;
  shape.headDim = shape.valueDim = op.getHeadDim();
  shape.heads = shape.kvHeads = columnsOf(op.getX()) / shape.headDim;
  shape.element = shape.cacheElement = elementOf(op.getX());
  shape.rotation = rotationOf(op);
  in.bind(op.getOut(), in.rowsOf(op.getX()));
  in.plan.launch(in.library.rope(shape, in.plan.isDecode),
                 {{"x", in.bufferOf(op.getX())},
                  {"rope", ropeTable(in, op)},
                  {"starts", in.starts()},
                  {"contexts", in.contexts()},
                  {"out", in.bufferOf(op.getOut())},
                  {"tokens", in.plan.sizes.tokens},
                  {"sequences", in.plan.sizes.sequences},
                  {"longest", in.plan.sizes.longest}},
                 model::getShortName(op));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::RopeAppendOp op) {
  bindRope(in, op, in.rowsOf(op.getQkv()));
  launchRope(in, op, {{"qkv", in.bufferOf(op.getQkv())}}, {});
  return success();
}

void kernels::bindRope(Lowering &in, model::RopeAppendOp op, Value rows) {
  in.bind(op.getQ(), rows);
  in.bindTo(op.getCacheOut(), op.getCache());
}

LogicalResult kernels::lower(Lowering &in, model::AppendOp op) {
  model::CacheType cache = op.getCache().getType();
  HeadShape shape =
      headsOf(in, cache, cache.getKvHeads(), elementOf(op.getK()));
  in.bindTo(op.getOut(), op.getCache());
  launchAppend(in, op, shape,
               {{"k", in.bufferOf(op.getK())}, {"v", in.bufferOf(op.getV())}});
  return success();
}

void kernels::launchAppend(Lowering &in, Operation *op, const HeadShape &shape,
                           NamedValues rows) {
  rows.append({{"starts", in.starts()},
               {"contexts", in.contexts()},
               {"pages", in.pages()}});
  appendCache(rows, in.storage[op->getResult(0)]);
  appendSizes(rows, in.plan.sizes);
  in.plan.launch(in.library.append(shape, in.plan.isDecode), rows,
                 model::getShortName(op));
}

void kernels::launchRope(Lowering &in, model::RopeAppendOp op,
                         ArrayRef<NamedValue> rows, const SumParts &sums) {
  model::CacheType cache = op.getCache().getType();
  HeadShape shape = headsOf(in, cache, op.getHeads(), elementOf(op.getQkv()));
  shape.rotation = rotationOf(op);
  Storage place = in.storage[op.getCache()];
  narrow(in, shape, place, op.getQScale());
  NamedValues arguments(rows);
  if (op.getQNorm()) {
    shape.normWeight = elementOf(op.getQNorm());
    shape.normEpsilon = op.getEps()->convertToDouble();
    shape.isNormOnePlus = op.getOnePlus();
    llvm::append_range(arguments, in.buffersOf({{"q_norm", op.getQNorm()},
                                                {"k_norm", op.getKNorm()}}));
  }
  arguments.append({{"rope", ropeTable(in, op)},
                    {"starts", in.starts()},
                    {"contexts", in.contexts()},
                    {"pages", in.pages()},
                    {"q", in.bufferOf(op.getQ())}});
  appendCache(arguments, place);
  appendSizes(arguments, in.plan.sizes);
  in.plan.launch(in.library.ropeAppend(shape, in.plan.isDecode, sums),
                 arguments, model::getShortName(op));
}
