//===- Rotate.cpp - Sums at the end of a layer go to where the next begins ===//
//
//   layer: h -> ... a, p;  h' = a + all_reduce(p)
//   becomes
//   layer: a, p -> h = a + all_reduce(p); ... a', p'
//
// so that the sum, the residual and the norm that begins a layer are one op.
// The first layer adds zeros.
//
//===----------------------------------------------------------------------===//

#include "lib/ModelPasses/ModelPasses.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELROTATE
#include "lib/ModelPasses/Passes.h.inc"

namespace {
/// A value that layers hand on as a sum over ranks and something whole.
struct HandedOn {
  unsigned number;
  model::AddOp add;
  model::AllReduceOp sum;
  /// What is added to the sum.
  Value whole() { return add.getA() == sum.getOut() ? add.getB() : add.getA(); }
};
} // namespace

static std::optional<HandedOn> findSum(model::LayersOp layers) {
  for (auto [i, value] : llvm::enumerate(layers.getYield()->getOperands())) {
    auto add = value.getDefiningOp<model::AddOp>();
    if (!add || !add->hasOneUse() || add->getParentOp() != layers) {
      continue;
    }
    for (Value addend : {add.getA(), add.getB()}) {
      auto sum = addend.getDefiningOp<model::AllReduceOp>();
      if (sum && sum->hasOneUse() && sum->getParentOp() == layers) {
        return HandedOn{static_cast<unsigned>(i), add, sum};
      }
    }
  }
  return std::nullopt;
}

/// whole + all_reduce(part), where and as the layers did it.
static Value addUp(OpBuilder &builder, HandedOn &from, Value whole,
                   Value part) {
  auto sum = model::AllReduceOp::create(
      builder, from.sum.getLoc(), part.getType(), part, from.sum.getAxis());
  return model::AddOp::create(builder, from.add.getLoc(), whole.getType(),
                              whole, sum.getOut());
}

/// The graph's tokens, which say how many rows there are; null: none.
static Value tokensOf(model::GraphOp graph) {
  for (Value argument : graph.getBody().getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (tensor && tensor.getRank() == 1 &&
        tensor.getElementType().isInteger(32)) {
      return argument;
    }
  }
  return {};
}

static void rotate(model::LayersOp layers, HandedOn from, Value tokens) {
  OpBuilder builder(layers);
  Type type = from.add.getType();
  SmallVector<Value> inits = layers.getInits();
  inits.push_back(
      model::ZerosOp::create(builder, layers.getLoc(), type, tokens));
  auto rotated = model::LayersOp::create(
      builder, layers.getLoc(), TypeRange(ValueRange(inits)), layers.getCount(),
      layers.getFirst(), layers.getStep(), inits);
  rotated.getBody().takeBody(layers.getBody());
  Block &body = rotated.getBody().front();
  Value part = body.addArgument(type, from.sum.getLoc());
  Value whole = body.getArgument(from.number);
  Operation *yield = body.getTerminator();
  SmallVector<Value> yielded = yield->getOperands();
  yielded[from.number] = from.whole();
  yielded.push_back(from.sum.getX());
  yield->setOperands(yielded);
  OpBuilder atStart = OpBuilder::atBlockBegin(&body);
  Value first = addUp(atStart, from, whole, part);
  whole.replaceAllUsesExcept(first, first.getDefiningOp());
  Value last = addUp(builder, from, rotated.getResult(from.number),
                     rotated->getResults().back());
  for (auto [i, result] : llvm::enumerate(layers->getResults())) {
    result.replaceAllUsesWith(i == from.number ? last : rotated.getResult(i));
  }
  from.add->erase();
  from.sum->erase();
  layers->erase();
}

namespace {
struct Rotate : public impl::ModelRotateBase<Rotate> {
  using ModelRotateBase::ModelRotateBase;

  void runOnOperation() override {
    Value tokens = tokensOf(getOperation());
    SmallVector<model::LayersOp> all;
    getOperation().walk([&](model::LayersOp op) { all.push_back(op); });
    for (model::LayersOp layers : all) {
      if (std::optional<HandedOn> from = findSum(layers); from && tokens) {
        rotate(layers, *from, tokens);
      }
    }
  }
};
} // namespace
} // namespace modelc
