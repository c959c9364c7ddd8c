//===- FuseLinears.cpp - Linears of one input become one ------------------===//

#include "lib/ModelPasses/Fuse.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {

/// The op of that kind which made a value for this one use, or null.
template <typename Op>
static Op onlyUseOf(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
}

static bool canMerge(ArrayRef<model::LinearOp> linears) {
  model::LinearOp first = linears.front();
  SmallVector<Value> weights, scales, tensorScales, biases;
  for (model::LinearOp linear : linears) {
    if (!linear || !first || linear.getX() != first.getX() ||
        linear.getXScale() != first.getXScale() ||
        linear.getXTensorScale() != first.getXTensorScale() ||
        linear.getSwiglu() || linear.getResidual()) {
      return false;
    }
    weights.push_back(linear.getWeight());
    scales.push_back(linear.getWeightScale());
    tensorScales.push_back(linear.getWeightTensorScale());
    biases.push_back(linear.getBias());
  }
  return canJoin(weights) && canJoin(scales) && canJoin(tensorScales) &&
         canJoin(biases);
}

/// One linear with the outputs of several side by side, or of two, gate and up,
/// in the SwiGLU of both.
static model::LinearOp merge(OpBuilder &builder,
                             ArrayRef<model::LinearOp> linears, bool swiglu) {
  SmallVector<Value> weights, scales, tensorScales, biases;
  SmallVector<Location> places;
  int64_t outputs = 0;
  for (model::LinearOp linear : linears) {
    weights.push_back(linear.getWeight());
    scales.push_back(linear.getWeightScale());
    tensorScales.push_back(linear.getWeightTensorScale());
    biases.push_back(linear.getBias());
    places.push_back(linear.getLoc());
    outputs += linear.getOutputs();
  }
  model::LinearOp first = linears.front();
  RankedTensorType type = first.getType();
  return model::LinearOp::create(
      builder, builder.getFusedLoc(places),
      type.clone({type.getDimSize(0), swiglu ? outputs / 2 : outputs}),
      first.getX(), joinWeights(builder, weights), first.getXScale(),
      joinWeights(builder, scales), first.getXTensorScale(),
      joinWeights(builder, tensorScales), joinWeights(builder, biases),
      /*residual=*/Value(), swiglu, first.getRole(), first.getHeadDimAttr());
}

/// Whether both norm each head, with weights, or neither is there.
static bool areAlike(model::NormOp a, model::NormOp b) {
  return (!a && !b) ||
         (a && b && a.normsHeads() && b.normsHeads() &&
          a.getHeadDim() == b.getHeadDim() && a.getEps() == b.getEps() &&
          a.getOnePlus() == b.getOnePlus());
}

void fuseQkv(model::AttentionOp attention) {
  auto append = onlyUseOf<model::AppendOp>(attention.getCache());
  auto ropeQ = onlyUseOf<model::RopeOp>(attention.getQ());
  auto ropeK = append ? onlyUseOf<model::RopeOp>(append.getK()) : nullptr;
  if (!ropeQ || !ropeK || ropeQ.getProperties() != ropeK.getProperties() ||
      static_cast<int64_t>(ropeQ.getHeadDim()) !=
          append.getCache().getType().getHeadDim()) {
    return;
  }
  auto normQ = onlyUseOf<model::NormOp>(ropeQ.getX());
  auto normK = onlyUseOf<model::NormOp>(ropeK.getX());
  if (!areAlike(normQ, normK) ||
      (normQ && normQ.getHeadDim() != ropeQ.getHeadDim())) {
    return;
  }
  SmallVector<model::LinearOp> linears = {
      onlyUseOf<model::LinearOp>(normQ ? normQ.getX() : ropeQ.getX()),
      onlyUseOf<model::LinearOp>(normK ? normK.getX() : ropeK.getX()),
      onlyUseOf<model::LinearOp>(append.getV())};
  if (!canMerge(linears)) {
    return;
  }
  OpBuilder builder(attention);
  model::LinearOp qkv = merge(builder, linears, /*swiglu=*/false);
  auto fused = model::RopeAppendOp::create(
      builder, builder.getFusedLoc({ropeQ.getLoc(), append.getLoc()}),
      attention.getQ().getType(), append.getCache().getType(), qkv.getOut(),
      append.getCache(), append.getBatch(), /*q_scale=*/Value(),
      normQ ? normQ.getWeight() : Value(), normK ? normK.getWeight() : Value(),
      normQ ? normQ.getEpsAttr() : FloatAttr(),
      normQ ? normQ.getOnePlusAttr() : UnitAttr(), ropeQ.getThetaAttr(),
      ropeQ.getScalingAttr(), ropeQ.getYarnAttr(), ropeQ.getStretchedAttr(),
      ropeQ.getRotatedAttr(), ropeQ.getFirstAttr(), ropeQ.getInterleavedAttr());
  attention.getQMutable().assign(fused.getQ());
  attention.getCacheMutable().assign(fused.getCacheOut());
  for (Operation *op :
       {append.getOperation(), ropeQ.getOperation(), ropeK.getOperation(),
        normQ.getOperation(), normK.getOperation()}) {
    if (op) {
      op->erase();
    }
  }
  for (model::LinearOp linear : linears) {
    linear->erase();
  }
}

void fuseGateUp(model::SwigluOp swiglu) {
  SmallVector<model::LinearOp> linears = {
      onlyUseOf<model::LinearOp>(swiglu.getGate()),
      onlyUseOf<model::LinearOp>(swiglu.getUp())};
  if (swiglu.getScale() || swiglu.getGating() != model::Gating::Silu ||
      !canMerge(linears)) {
    return;
  }
  OpBuilder builder(swiglu);
  model::LinearOp gateUp = merge(builder, linears, /*swiglu=*/true);
  swiglu.getOut().replaceAllUsesWith(gateUp.getOut());
  swiglu->erase();
  for (model::LinearOp linear : linears) {
    linear->erase();
  }
}

} // namespace modelc
