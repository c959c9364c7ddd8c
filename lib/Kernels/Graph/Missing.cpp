//===- Missing.cpp - What no kernel computes yet, said at its op ----------===//
//
// The model dialect says more than kernels compute. Such a graph is refused
// before anything is chosen or built for it; that it can be printed, sharded
// and counted is said too.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Graph/Missing.h"

#include "dialects/Model/NumberFormats.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;

static StringRef missingOf(model::NormOp op) {
  bool isOfPart = op.getHeadDim() || op.getNormed();
  return isOfPart && op.getScale() ? "a norm of a part of a row in few bits"
         : isOfPart && op.getSum() ? "a norm of a part of a sum"
                                   : "";
}

static StringRef missingOf(model::ExpertsOp op) {
  return op.getGateUpTensorScale() ? "experts with second scales" : "";
}

/// Whether the loader of packages reads numbers as the checkpoint holds them.
static bool isLoaded(model::WeightOp op) {
  std::optional<model::HeldAttr> held = op.getHeld();
  return !held || model::findFormat(held->getFormat().getValue());
}

/// What of the op has no kernel, in words; empty: nothing.
static StringRef missingOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<model::NormOp, model::ExpertsOp>(
          [](auto known) { return missingOf(known); })
      .Default([](Operation *) { return StringRef(); });
}

static LogicalResult refuseOps(model::GraphOp graph) {
  WalkResult walk = graph.walk<WalkOrder::PreOrder>([](Operation *op) {
    StringRef missing = missingOf(op);
    if (missing.empty()) {
      return WalkResult::advance();
    }
    op->emitError("no kernel computes ")
        << missing << " yet, as '" << op->getName()
        << "' asks for; --emit=model prints the graph";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult kernels::refuseMissing(model::GraphOp graph) {
  if (failed(refuseOps(graph))) {
    return failure();
  }
  WalkResult walk = graph.walk([](model::WeightOp weight) {
    if (isLoaded(weight)) {
      return WalkResult::advance();
    }
    weight->emitError("no loader reads tensors in this format yet, ")
        << weight.getHeldAttr() << "; --emit=model prints the graph";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
