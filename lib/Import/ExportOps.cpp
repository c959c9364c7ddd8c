//===- ExportOps.cpp - What each op of a graph has, in TOML ---------------===//

#include "lib/Import/GraphPrinter.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;

std::string GraphPrinter::listOf(ArrayRef<std::string> words) {
  SmallVector<std::string> quoted;
  for (const std::string &word : words) {
    quoted.push_back(tomlString(word));
  }
  const std::string list = llvm::join(quoted, ", ");
  return words.size() == 1 ? list : "[" + list + "]";
}

void GraphPrinter::role(model::LinearOp op) {
  if (op.getRole() != model::Role::Replicated) {
    os << ", role = " << tomlString(stringifyRole(op.getRole()));
  }
  if (op.getHeadDim()) {
    size("head_dim", *op.getHeadDim());
  }
}

LogicalResult GraphPrinter::attention(model::AttentionOp op) {
  auto append = op.getCache().getDefiningOp<model::AppendOp>();
  if (!append) {
    return unsupported(op);
  }
  begin(op, {op.getQ(), append.getK(), append.getV()});
  size("kv_heads", op.getCache().getType().getKvHeads());
  size("head_dim", op.getCache().getType().getHeadDim());
  size("window", op.getWindow());
  size("chunk", op.getChunk());
  number("scale", op.getScale());
  number("soft_cap", op.getSoftCap());
  if (std::optional<model::TemperatureAttr> of = op.getTemperature()) {
    os << ", temperature = { scale = "
       << exactReal(of->getScale().convertToDouble())
       << ", every = " << of->getEvery() << " }";
  }
  return weightIf("sink", op.getSink());
}

LogicalResult GraphPrinter::norm(model::NormOp op) {
  begin(op, op.getX());
  number("eps", op.getEps());
  size("head_dim", op.getHeadDim());
  size("first", op.getNormed());
  flag("one_plus", op.getOnePlus());
  flag("unweighted", !op.getWeight());
  return op.getResidual() ? unsupported(op)
                          : weightIf("weight", op.getWeight());
}

LogicalResult GraphPrinter::linear(model::LinearOp op) {
  begin(op, op.getX());
  size("size", op.getOutputs());
  if (op.getType().getElementType() != op.getX().getType().getElementType()) {
    word("result", "f32");
  }
  if (op.getXScale() || op.getResidual() || op.getSwiglu() ||
      failed(weightIf("bias", op.getBias()))) {
    return unsupported(op);
  }
  role(op);
  return weight("weight", op.getWeight());
}

LogicalResult GraphPrinter::rope(model::RopeOp op) {
  begin(op, op.getX());
  size("head_dim", op.getHeadDim());
  size("rotated", op.getRotated());
  if (op.getFirst() > 0) {
    size("first", op.getFirst());
  }
  flag("interleaved", op.getInterleaved());
  number("theta", op.getTheta());
  number("stretched", op.getStretched());
  if (std::optional<model::YarnAttr> yarn = op.getYarn()) {
    os << ", yarn = { factor = "
       << exactReal(yarn->getFactor().convertToDouble())
       << ", beta_fast = " << exactReal(yarn->getBetaFast().convertToDouble())
       << ", beta_slow = " << exactReal(yarn->getBetaSlow().convertToDouble())
       << ", original_context = " << yarn->getOriginalContext()
       << ", magnitude = " << exactReal(yarn->getMagnitude().convertToDouble())
       << ", truncate = " << (yarn->getTruncate().getValue() ? "true" : "false")
       << " }";
  }
  const bool isOther = op.getYarn() || op.getStretched();
  return isOther || op.getScalingAttr() == sharedRope.getScalingAttr()
             ? success()
             : unsupported(op);
}

LogicalResult GraphPrinter::latentAttention(model::LatentAttentionOp op) {
  auto append = op.getCache().getDefiningOp<model::LatentAppendOp>();
  if (!append || op.getAbsorbed()) {
    return unsupported(op);
  }
  model::CacheType cache = op.getCache().getType();
  begin(op, {op.getQ(), append.getKv()});
  size("rank", cache.getLatent());
  size("key_dim", op.getKeyDim());
  size("rope_dim", cache.getHeadDim() - cache.getLatent());
  size("value_dim", op.getValueDim());
  number("scale", op.getScale());
  return weight("expand", op.getExpand());
}

LogicalResult GraphPrinter::route(model::RouteOp op) {
  begin(op, op.getLogits());
  size("top_k", op.getTopK());
  word("scoring", stringifyScoring(op.getScoring()));
  if (std::optional<model::GroupsAttr> groups = op.getGroups()) {
    os << ", groups = { count = " << groups->getCount()
       << ", kept = " << groups->getKept()
       << ", score = " << tomlString(stringifyGroupScore(groups->getScore()))
       << ", mask = " << tomlString(stringifyGroupMask(groups->getMask()))
       << " }";
  }
  std::optional<APFloat> added = op.getRenormalised();
  if (added && added->isZero()) {
    flag("renormalised", true);
  } else {
    number("renormalised", added);
  }
  number("scaled", op.getScaled());
  return weightIf("correction", op.getCorrection());
}

LogicalResult GraphPrinter::experts(model::ExpertsOp op) {
  auto gateUp = op.getGateUp().getDefiningOp<model::WeightOp>();
  if (!gateUp || op.getGateUpScale()) {
    return unsupported(op);
  }
  begin(op, {op.getX(), op.getChosen(), op.getWeights()});
  size("count", op.getCount());
  size("width", op.getWidth());
  SmallVector<std::string> sources;
  for (model::SourceAttr source : gateUp.getSources()) {
    sources.push_back(source.getName().str());
  }
  os << ", gate_up = " << listOf(sources);
  flag("transposed", gateUp.getTransposed());
  flag("interleaved", op.getInterleaved());
  flag("weigh_inputs", op.getWeighInputs());
  if (op.getGating() != model::Gating::Silu) {
    word("gating", stringifyGating(op.getGating()));
  }
  number("alpha", op.getAlpha());
  number("limit", op.getLimit());
  return success(succeeded(weightIf("gate_up_bias", op.getGateUpBias())) &&
                 succeeded(weightIf("down_bias", op.getDownBias())) &&
                 succeeded(weight("down", op.getDown())));
}
