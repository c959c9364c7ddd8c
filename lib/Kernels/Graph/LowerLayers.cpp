//===- LowerLayers.cpp - Layers, and what they hand on --------------------===//

#include "lib/Kernels/Graph/Launches.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

/// Whether the op reads the value only where it writes: element by element.
static bool readsInPlace(Operation *op, Value value) {
  if (auto joined = dyn_cast<model::JoinedOp>(op)) {
    return isa<model::AllReduceOp>(joined.getFirst());
  }
  if (auto linear = dyn_cast<model::LinearOp>(op)) {
    return linear.getResidual() == value && linear.getX() != value;
  }
  return isa<model::AddOp, model::NormOp>(op);
}

/// The op that first writes the buffer of a value: an all-reduce sums in place.
static Value firstWritten(Value value) {
  while (auto sum = value.getDefiningOp<model::AllReduceOp>()) {
    if (!sum.getX().hasOneUse()) {
      break;
    }
    value = sum.getX();
  }
  return value;
}

/// Has what the body yields written over what it was given.
static LogicalResult planCarried(Lowering &in, model::LayersOp op) {
  Block &body = op.getBody().front();
  for (auto [argument, yielded] :
       llvm::zip_equal(body.getArguments(), op.getYield()->getOperands())) {
    if (yielded == argument) {
      continue;
    }
    Value first = firstWritten(yielded);
    Operation *writer = first.getDefiningOp();
    bool isRead = writer && writer->getBlock() == &body &&
                  llvm::all_of(argument.getUsers(), [&](Operation *user) {
                    Operation *here = body.findAncestorOpInBlock(*user);
                    return here->isBeforeInBlock(writer) ||
                           (here == writer && readsInPlace(here, argument));
                  });
    if (!isRead || in.wanted.contains(yielded)) {
      return op.emitError("expected layers that read what they were given "
                          "before they make what they hand on, got value ")
             << argument.getArgNumber() << " that is read later";
    }
    for (Value value = yielded;; value = value.getDefiningOp()->getOperand(0)) {
      in.wanted[value] = in.bufferOf(argument);
      if (value == first) {
        break;
      }
    }
  }
  return success();
}

/// Opens a loop over the layers and writes its body from there on. The numbers
/// of the layers that take turns.
static SmallVector<Value> startLayers(Plan &plan, model::LayersOp op) {
  int64_t first = op.getFirst(), step = op.getStep();
  Value by = step > 1 ? plan.constant(step) : Value();
  auto loop =
      LoopOp::create(plan.builder, plan.location(), plan.constant(first),
                     plan.constant(first + op.getLayerCount()),
                     by ? ValueRange(by) : ValueRange(), ValueRange());
  Value layer = loop.getInductionVars().front();
  layer.setLoc(NameLoc::get(plan.builder.getStringAttr("layer")));
  plan.builder.setInsertionPointToStart(&loop.getBody().front());
  SmallVector<Value> layers = {layer};
  for (int64_t place = 1; place < step; ++place) {
    Value offset = plan.constant(place);
    layers.push_back(
        arith::AddIOp::create(plan.builder, plan.location(), layer, offset));
  }
  return layers;
}

LogicalResult kernels::lower(Lowering &in, model::LayersOp op) {
  Block &body = op.getBody().front();
  for (auto [init, argument, result] :
       llvm::zip_equal(op.getInits(), body.getArguments(), op->getResults())) {
    bool isShared = llvm::count(op.getInits(), init) > 1 || !init.hasOneUse();
    if (isShared || isa<BlockArgument>(init)) {
      return op.emitError("expected values of their own for the first layer, "
                          "got one that somebody else reads");
    }
    in.bindTo(argument, init);
    in.bindTo(result, init);
  }
  if (failed(planCarried(in, op))) {
    return failure();
  }
  OpBuilder::InsertionGuard guard(in.plan.builder);
  in.layers = startLayers(in.plan, op);
  LogicalResult result = lowerBlock(in, body);
  in.layers.clear();
  return result;
}

LogicalResult kernels::lower(Lowering &in, model::YieldOp op) {
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::ReturnOp op) {
  for (Value value : op->getOperands()) {
    if (in.bufferOf(value) != in.wanted.lookup(value)) {
      return op.emitError("expected to return what an op of the graph makes");
    }
  }
  return success();
}
