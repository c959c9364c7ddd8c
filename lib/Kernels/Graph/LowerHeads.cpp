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

static Value ropeTable(Lowering &in, model::RopeAppendOp op, int64_t headDim) {
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
      in.graph.getMaxContext().value_or(in.library.options.maxContext);
  return in.plan.named({StorageRole::Constant,
                        source,
                        {kDynamic, 2, headDim / 2},
                        in.plan.builder.getF32Type(),
                        {in.plan.constant(positions)}});
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
  NamedValues arguments = {{"k", in.bufferOf(op.getK())},
                           {"v", in.bufferOf(op.getV())},
                           {"starts", in.starts()},
                           {"contexts", in.contexts()},
                           {"pages", in.pages()}};
  appendCache(arguments, in.storage[op.getOut()]);
  appendSizes(arguments, in.plan.sizes);
  in.plan.launch(in.library.append(shape, in.plan.isDecode), arguments,
                 model::getShortName(op));
  return success();
}

void kernels::launchRope(Lowering &in, model::RopeAppendOp op,
                         ArrayRef<NamedValue> rows, const SumParts &sums) {
  model::CacheType cache = op.getCache().getType();
  HeadShape shape = headsOf(in, cache, op.getHeads(), elementOf(op.getQkv()));
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
  arguments.append({{"rope", ropeTable(in, op, shape.headDim)},
                    {"starts", in.starts()},
                    {"contexts", in.contexts()},
                    {"pages", in.pages()},
                    {"q", in.bufferOf(op.getQ())}});
  appendCache(arguments, place);
  appendSizes(arguments, in.plan.sizes);
  in.plan.launch(in.library.ropeAppend(shape, in.plan.isDecode, sums),
                 arguments, model::getShortName(op));
}
