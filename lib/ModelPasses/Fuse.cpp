//===- Fuse.cpp - Fewer, larger ops ---------------------------------------===//

#include "lib/ModelPasses/Fuse.h"
#include "lib/ModelPasses/ModelPasses.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELFUSE
#include "lib/ModelPasses/Passes.h.inc"

/// The residual goes into the epilogue of the linear that is added to it.
static void fuseResidual(model::AddOp add) {
  auto linear = add.getB().getDefiningOp<model::LinearOp>();
  Value residual = add.getA();
  if (!linear) {
    linear = add.getA().getDefiningOp<model::LinearOp>();
    residual = add.getB();
  }
  if (!linear || !linear->hasOneUse() || linear.getResidual()) {
    return;
  }
  linear->moveBefore(add); // where the residual is known to be at hand
  linear.getResidualMutable().assign(residual);
  add.getOut().replaceAllUsesWith(linear.getOut());
  add->erase();
}

/// A sum that is normed becomes a result of the norm.
static void fuseAddNorm(model::NormOp norm) {
  auto add = norm.getX().getDefiningOp<model::AddOp>();
  if (!add || norm.getResidual() || norm.getHeadDim() || norm.getNormed() ||
      add->getBlock() != norm->getBlock()) {
    return;
  }
  for (Operation *user : add->getUsers()) {
    Operation *here = norm->getBlock()->findAncestorOpInBlock(*user);
    if (here != norm && !norm->isBeforeInBlock(here)) {
      return; // the sum is needed before the norm
    }
  }
  OpBuilder builder(norm);
  Type scaleType = norm.getScale() ? norm.getScale().getType() : Type();
  auto fused = model::NormOp::create(
      builder, norm.getLoc(), norm.getOut().getType(), scaleType, add.getType(),
      add.getB(), norm.getWeight(), add.getA(), norm.getTensorScale(),
      norm.getEpsAttr(), norm.getHeadDimAttr(), norm.getNormedAttr(),
      norm.getOnePlusAttr());
  norm.getOut().replaceAllUsesWith(fused.getOut());
  if (norm.getScale()) {
    norm.getScale().replaceAllUsesWith(fused.getScale());
  }
  norm->erase();
  add.getOut().replaceAllUsesWith(fused.getSum());
  add->erase();
}

/// Has the value known before the op, where it is or is a weight; or false.
static bool bringToHand(Value value, Operation *op) {
  Operation *definition = value ? value.getDefiningOp() : nullptr;
  if (!definition || definition->getBlock() != op->getBlock() ||
      definition->isBeforeInBlock(op)) {
    return true;
  }
  if (!isa<model::WeightOp>(definition)) {
    return false;
  }
  definition->moveBefore(op);
  return true;
}

/// Queries that attention alone reads, in 8 bits, have 8 where they are
/// rotated.
static void fuseNarrow(model::AttentionOp attention) {
  auto rope = attention.getQ().getDefiningOp<model::RopeAppendOp>();
  Value scale = attention.getQScale();
  if (!rope || !scale || rope.getQScale() || !attention.getQ().hasOneUse() ||
      !bringToHand(scale, rope)) {
    return;
  }
  rope.getQScaleMutable().assign(scale);
  rope.getQ().setType(rope.getQ().getType().clone(
      attention.getCache().getType().getElementType()));
}

/// The norm or SwiGLU before a quantisation, if nothing else reads it, makes 8
/// bits or fewer itself.
static void fuseQuantise(model::QuantiseOp quantise) {
  Value x = quantise.getX();
  Operation *producer = x.getDefiningOp();
  Value tensorScale = quantise.getTensorScale();
  auto ofPart = dyn_cast_or_null<model::NormOp>(producer);
  if (!isa_and_nonnull<model::NormOp, model::SwigluOp>(producer) ||
      (ofPart && (ofPart.getHeadDim() || ofPart.getNormed())) ||
      !x.hasOneUse() || !bringToHand(tensorScale, producer)) {
    return;
  }
  OpBuilder builder(producer);
  Type type = quantise.getOut().getType();
  Type scaleType = quantise.getScale().getType();
  Value out, scale;
  if (auto norm = dyn_cast<model::NormOp>(producer)) {
    Type sumType = norm.getSum() ? norm.getSum().getType() : Type();
    auto fused = model::NormOp::create(
        builder, norm.getLoc(), type, scaleType, sumType, norm.getX(),
        norm.getWeight(), norm.getResidual(), tensorScale, norm.getEpsAttr(),
        norm.getHeadDimAttr(), norm.getNormedAttr(), norm.getOnePlusAttr());
    if (norm.getSum()) {
      norm.getSum().replaceAllUsesWith(fused.getSum());
    }
    out = fused.getOut();
    scale = fused.getScale();
  } else {
    auto swiglu = cast<model::SwigluOp>(producer);
    auto fused = model::SwigluOp::create(
        builder, swiglu.getLoc(), type, scaleType, swiglu.getGate(),
        swiglu.getUp(), tensorScale, swiglu.getGating());
    out = fused.getOut();
    scale = fused.getScale();
  }
  quantise.getOut().replaceAllUsesWith(out);
  quantise.getScale().replaceAllUsesWith(scale);
  quantise->erase();
  producer->erase();
}

namespace {
struct Fuse : public impl::ModelFuseBase<Fuse> {
  using ModelFuseBase::ModelFuseBase;

  void runOnOperation() override {
    forEach<model::AttentionOp>(fuseQkv);
    forEach<model::AttentionOp>(fuseNarrow);
    forEach<model::SwigluOp>(fuseGateUp);
    forEach<model::AddOp>(fuseResidual);
    forEach<model::NormOp>(fuseAddNorm);
    forEach<model::QuantiseOp>(fuseQuantise);
    forEach<model::WeightOp>([](model::WeightOp weight) {
      if (weight->use_empty()) {
        weight->erase();
      }
    });
  }

  /// Calls a step that may erase the op, and others, on all ops of a kind.
  template <typename Op>
  void forEach(llvm::function_ref<void(Op)> step) {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) { ops.push_back(op); });
    for (Op op : ops) {
      step(op);
    }
  }
};
} // namespace
} // namespace modelc
