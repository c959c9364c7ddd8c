//===- Sharding.cpp - How ranks share the ops -----------------------------===//
//
// Along `tp` ops follow Megatron's scheme: a value is whole on every rank, or
// cut by columns, and linears switch between the two:
//
//   whole --linear by outputs--> cut --attention, SwiGLU, ...--> cut
//         --linear by inputs--> sum --all-reduce--> whole
//
// Along other axes each rank has rows of its own, which these ops treat alike.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/Model.h"

using namespace mlir;
using namespace modelc::model;

#include "dialects/Model/ModelInterfaces.cpp.inc"

Sharding modelc::model::shareRows(Operation *op, Axis axis, int64_t ranks,
                                  ArrayRef<Placement> operands) {
  Placement summed =
      axis == Axis::Tensor ? Placement::whole() : Placement::cut(0, ranks);
  Sharding sharding;
  Placement rows;
  for (const Placement &operand : operands) {
    bool isSum = operand.kind == Placement::Kind::Sum;
    sharding.operands.push_back(operand.isCut(0) ? operand
                                : isSum          ? summed
                                                 : Placement::whole());
    rows = sharding.operands.back().isCut(0) ? sharding.operands.back() : rows;
  }
  sharding.results.assign(op->getNumResults(), rows);
  return sharding;
}

Sharding modelc::model::shareColumns(Operation *op, Axis axis, int64_t ranks,
                                     ArrayRef<Placement> operands,
                                     size_t count) {
  if (!operands.front().isCut(1)) {
    return shareRows(op, axis, ranks, operands);
  }
  Sharding sharding;
  sharding.operands.assign(operands.size(), Placement::whole());
  std::fill_n(sharding.operands.begin(), count, operands.front());
  sharding.results.assign(op->getNumResults(), operands.front());
  return sharding;
}

FailureOr<Sharding> RopeOp::getSharding(Axis axis, int64_t ranks,
                                        ArrayRef<Placement> operands) {
  return shareColumns(*this, axis, ranks, operands, 1);
}

FailureOr<Sharding> SwigluOp::getSharding(Axis axis, int64_t ranks,
                                          ArrayRef<Placement> operands) {
  return shareColumns(*this, axis, ranks, operands, 2);
}

FailureOr<Sharding> AddOp::getSharding(Axis axis, int64_t ranks,
                                       ArrayRef<Placement> operands) {
  return shareColumns(*this, axis, ranks, operands, 2);
}

/// Scales of blocks are cut as the columns are; of those of rows each rank has
/// its own, of the columns that it sees.
FailureOr<Sharding> QuantiseOp::getSharding(Axis axis, int64_t ranks,
                                            ArrayRef<Placement> operands) {
  return shareColumns(*this, axis, ranks, operands, 1);
}

/// Keys, values and the cache have whole heads.
FailureOr<Sharding> AppendOp::getSharding(Axis axis, int64_t ranks,
                                          ArrayRef<Placement> operands) {
  return shareColumns(*this, axis, ranks, operands, 3);
}

FailureOr<Sharding> RopeAppendOp::getSharding(Axis axis, int64_t ranks,
                                              ArrayRef<Placement> operands) {
  if (operands.front().isCut(1)) {
    return emitError("expected queries, keys and values of linears of their "
                     "own; run model-shard before model-fuse");
  }
  return shareRows(*this, axis, ranks, operands);
}

//===----------------------------------------------------------------------===//
// Linears
//===----------------------------------------------------------------------===//

static int64_t headsOf(LinearOp linear) {
  return linear.getOutputs() / static_cast<int64_t>(*linear.getHeadDim());
}

/// Parts of the outputs: whole heads; neighbours share one where there are
/// fewer of keys and values than ranks.
static int64_t partsOf(LinearOp linear, int64_t ranks) {
  return linear.getRole() == Role::KvHeads ? std::min(headsOf(linear), ranks)
                                           : ranks;
}

/// Cut along the outputs: all operands but the input and its scales are.
static Sharding shareOutputs(LinearOp linear, int64_t ranks) {
  Placement outputs = Placement::cut(0, partsOf(linear, ranks));
  Sharding sharding;
  for (OpOperand &operand : linear->getOpOperands()) {
    Value value = operand.get();
    bool isInput = value == linear.getX() || value == linear.getXScale() ||
                   value == linear.getXTensorScale();
    sharding.operands.push_back(isInput ? Placement::whole() : outputs);
  }
  sharding.results = {Placement::cut(1, outputs.parts)};
  return sharding;
}

/// Cut along the inputs: so are the input, the weight and scales of their
/// blocks. The bias counts once.
static Sharding shareInputs(LinearOp linear, int64_t ranks) {
  Placement inputs = Placement::cut(1, ranks);
  Sharding sharding;
  for (OpOperand &operand : linear->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    bool isCut = type.getRank() == 2 || operand.get() == linear.getXScale();
    bool isAdded = operand.get() == linear.getBias();
    sharding.operands.push_back(isCut     ? inputs
                                : isAdded ? Placement::sum()
                                          : Placement::whole());
  }
  sharding.results = {Placement::sum()};
  return sharding;
}

FailureOr<Sharding> LinearOp::getSharding(Axis axis, int64_t ranks,
                                          ArrayRef<Placement> operands) {
  if (axis != Axis::Tensor || getRole() == Role::Replicated) {
    return shareRows(*this, axis, ranks, operands);
  }
  if (!getWeight().getDefiningOp<WeightOp>()) {
    return emitError("expected the weight to be a 'model.weight'");
  }
  if (getSwiglu() || getResidual()) {
    return emitError("expected a linear without an epilogue; run model-shard "
                     "before model-fuse");
  }
  return getRole() == Role::Row ? shareInputs(*this, ranks)
                                : shareOutputs(*this, ranks);
}

/// What the role cuts.
static Divisible cutOf(LinearOp linear) {
  Divisible cut = {"", linear.getOutputs(), linear.getLoc()};
  switch (linear.getRole()) {
  case Role::Heads:
    cut.what = "query heads";
    cut.size = headsOf(linear);
    return cut;
  case Role::KvHeads:
    cut.what = "kv heads";
    cut.size = headsOf(linear);
    cut.canRepeat = true;
    return cut;
  case Role::Column:
    cut.what = "columns of the MLP";
    return cut;
  case Role::Vocabulary:
    cut.what = "words of the vocabulary";
    cut.canPad = true;
    return cut;
  case Role::Row:
    cut.what =
        linear.getHeadDim() ? "whole heads of inputs" : "inputs of a linear";
    cut.size = linear.getInputs() / int64_t(linear.getHeadDim().value_or(1));
    return cut;
  case Role::Replicated:
    break;
  }
  llvm_unreachable("a replicated linear is not cut");
}

/// Blocks that share a scale stay whole.
static std::optional<Divisible> blocksOf(LinearOp linear) {
  Value scale = linear.getWeightScale();
  auto type = scale ? cast<RankedTensorType>(scale.getType()) : nullptr;
  if (!type || type.getRank() != 2) {
    return std::nullopt;
  }
  if (linear.getRole() == Role::Row) {
    return Divisible{"blocks of inputs that share a scale", type.getDimSize(1),
                     linear.getLoc()};
  }
  // Heads that are repeated must be whole blocks themselves.
  bool isRepeated = linear.getRole() == Role::KvHeads &&
                    *linear.getHeadDim() % kScaledGroup == 0;
  return type.getDimSize(0) == linear.getOutputs()
             ? std::nullopt
             : std::optional(Divisible{"blocks of outputs that share a scale",
                                       type.getDimSize(0), linear.getLoc(),
                                       isRepeated});
}

SmallVector<Divisible> LinearOp::getDivisibles(Axis axis) {
  if (axis != Axis::Tensor || getRole() == Role::Replicated) {
    return {};
  }
  SmallVector<Divisible> divisibles = {cutOf(*this)};
  if (std::optional<Divisible> blocks = blocksOf(*this)) {
    divisibles.push_back(*blocks);
  }
  return divisibles;
}
