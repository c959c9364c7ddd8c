//===- ShardingHeads.cpp - How ranks share heads and experts --------------===//
//
// Along `tp` ranks have whole heads of attention and some columns of each
// expert, along `ep` whole experts.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/Model.h"

using namespace mlir;
using namespace modelc::model;

/// Where queries are cut the cache is, in as many parts or fewer.
FailureOr<Sharding> AttentionOp::getSharding(Axis axis, int64_t ranks,
                                             ArrayRef<Placement> operands) {
  Placement q = operands[0], cache = operands[1];
  if (!q.isCut(1) && !cache.isCut(1)) {
    return shareRows(*this, axis, ranks, operands);
  }
  Placement heads = Placement::cut(1, ranks);
  Sharding sharding;
  sharding.operands.assign(operands.size(), Placement::whole());
  sharding.operands[0] = heads;
  sharding.operands[1] = cache.isCut(1) ? cache : heads;
  if (getSink()) {
    sharding.operands.back() = Placement::cut(0, ranks);
  }
  sharding.results = {heads};
  return sharding;
}

/// The latents are on all ranks, which make keys and values of their heads.
FailureOr<Sharding>
LatentAttentionOp::getSharding(Axis axis, int64_t ranks,
                               ArrayRef<Placement> operands) {
  if (!operands.front().isCut(1)) {
    return shareRows(*this, axis, ranks, operands);
  }
  Sharding sharding;
  sharding.operands.assign(operands.size(), Placement::whole());
  sharding.operands[0] = operands.front();
  sharding.operands[1] = Placement::cut(0, ranks);
  sharding.results = {operands.front()};
  return sharding;
}

/// Heads are normed where they lie; a row of all heads lies on all ranks.
FailureOr<Sharding> NormOp::getSharding(Axis axis, int64_t ranks,
                                        ArrayRef<Placement> operands) {
  if (operands.front().isCut(1) && (!getHeadDim() || getScale())) {
    return emitError("expected a norm of each head where heads are cut over "
                     "ranks, got one of whole rows; try ")
           << stringifyAxis(axis) << "=1";
  }
  return shareColumns(*this, axis, ranks, operands, 1);
}

/// Along `ep` a rank has whole experts and sees the tokens of all ranks.
static Sharding shareExperts(ExpertsOp op, int64_t ranks) {
  Sharding sharding;
  sharding.operands.assign(op->getNumOperands(), Placement::cut(0, ranks));
  std::fill_n(sharding.operands.begin(), 3, Placement::whole());
  sharding.results = {Placement::sum()};
  return sharding;
}

/// Along `tp` it has a part of the columns of each.
static Sharding shareWidth(ExpertsOp op, int64_t ranks) {
  Sharding sharding;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    const bool isGateUp =
        value == op.getGateUp() || value == op.getGateUpScale() ||
        value == op.getGateUpTensorScale() || value == op.getGateUpBias();
    const bool isDown = value == op.getDown() || value == op.getDownScale();
    auto type = cast<RankedTensorType>(value.getType());
    sharding.operands.push_back(
        isGateUp                             ? Placement::cut(1, ranks)
        : isDown && type.getRank() == 3      ? Placement::cut(2, ranks)
        : value && value == op.getDownBias() ? Placement::sum()
                                             : Placement::whole());
  }
  sharding.results = {Placement::sum()};
  return sharding;
}

FailureOr<Sharding> ExpertsOp::getSharding(Axis axis, int64_t ranks,
                                           ArrayRef<Placement> operands) {
  if (axis == Axis::Expert) {
    return shareExperts(*this, ranks);
  }
  if (axis != Axis::Tensor) {
    return shareRows(*this, axis, ranks, operands);
  }
  return shareWidth(*this, ranks);
}

SmallVector<Divisible> ExpertsOp::getDivisibles(Axis axis) {
  switch (axis) {
  case Axis::Tensor:
    return {{"columns of an expert", getWidth(), getLoc()}};
  case Axis::Expert:
    return {{"experts", getCount(), getLoc()}};
  default:
    return {};
  }
}
