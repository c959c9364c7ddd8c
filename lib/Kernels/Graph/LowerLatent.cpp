//===- LowerLatent.cpp - Attention over a latent cache --------------------===//
//
// Absorbed in every phase: queries are multiplied by what makes keys of the
// latent and meet the rows of the cache, one key for all heads; what the
// softmax adds up of latents is multiplied by what makes values of them.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Graph/Launches.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static HeadShape latentHeads(Lowering &in, model::CacheType cache,
                             int64_t heads, int64_t keyDim, Type element) {
  HeadShape shape = headsOf(in, cache, heads, element);
  shape.valueDim = cache.getLatent();
  shape.keyDim = keyDim;
  return shape;
}

LogicalResult kernels::lower(Lowering &in, model::LatentAppendOp op) {
  HeadShape shape =
      latentHeads(in, op.getCache().getType(), 1, 1, elementOf(op.getKv()));
  in.bindTo(op.getOut(), op.getCache());
  launchAppend(in, op, shape, {{"k", in.bufferOf(op.getKv())}});
  return success();
}

/// The linear of each head before attention.
static HeadLinearShape beforeOf(model::LatentAttentionOp op) {
  model::CacheType cache = op.getCache().getType();
  HeadLinearShape shape;
  shape.heads = op.getHeads();
  shape.columns = cache.getLatent();
  shape.inputs = op.getKeyDim();
  shape.inputColumns = columnsOf(op.getQ()) / shape.heads;
  shape.weightRows = op.getKeyDim() + op.getValueDim();
  shape.isTransposed = true;
  shape.element = elementOf(op.getQ());
  return shape;
}

/// The one behind.
static HeadLinearShape behindOf(model::LatentAttentionOp op) {
  HeadLinearShape shape = beforeOf(op);
  shape.columns = op.getValueDim();
  shape.inputs = shape.inputColumns = op.getCache().getType().getLatent();
  shape.firstRow = op.getKeyDim();
  shape.isTransposed = false;
  return shape;
}

LogicalResult kernels::lower(Lowering &in, model::LatentAttentionOp op) {
  model::CacheType cache = op.getCache().getType();
  Type element = elementOf(op.getQ());
  HeadShape shape =
      latentHeads(in, cache, op.getHeads(), op.getKeyDim(), element);
  shape.scale = op.getScale().convertToDouble();
  Value rows = in.rowsOf(op.getQ()), q = in.bufferOf(op.getQ());
  SmallVector<Range> ranges = in.rangesOf(rows);
  auto before = in.library.headLinear(op, beforeOf(op), ranges);
  auto behind = in.library.headLinear(op, behindOf(op), ranges);
  if (failed(before) || failed(behind) ||
      failed(in.library.chooseTile(op, shape, in.plan.isDecode))) {
    return failure();
  }
  in.bind(op.getOut(), rows);
  std::string label = model::getShortName(op);
  int64_t columns = shape.heads * shape.valueDim;
  Value expand = in.bufferOf(op.getExpand());
  Value queries = in.plan.workspace(rows, {columns}, element);
  in.plan.launch(*before,
                 {{"a", q}, {"w", expand}, {"d", queries}, {"m", rows}},
                 label + "_absorb");
  Value latents = in.plan.workspace(rows, {columns}, element);
  launchQueries(in, shape, in.storage[op.getCache()],
                {{"q_latent", queries}, {"q", q}}, latents, label);
  in.plan.release(queries);
  in.plan.launch(*behind,
                 {{"a", latents},
                  {"w", expand},
                  {"d", in.bufferOf(op.getOut())},
                  {"m", rows}},
                 label + "_expand");
  in.plan.release(latents);
  return success();
}
