//===- Join.cpp - Pairs of ops for one kernel -----------------------------===//

#include "lib/ModelPasses/ModelPasses.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELJOIN
#include "lib/ModelPasses/Passes.h.inc"

/// Whether a kernel that has parts of what the first makes can do the second.
static bool canFollowParts(Operation *first, Operation *second, bool isDecode) {
  if (auto quantise = dyn_cast<model::QuantiseOp>(second)) {
    // A scale of a row needs the whole row, of which a part has some columns.
    return cast<RankedTensorType>(quantise.getScale().getType()).getRank() == 2;
  }
  // Of a prefill step there are many rows, whose sums are not cut.
  auto linear = dyn_cast<model::LinearOp>(first);
  return !linear || (isDecode && !linear.getResidual());
}

static void join(Operation *first, Operation *second) {
  OpBuilder builder(second);
  auto joined = model::JoinedOp::create(
      builder, builder.getFusedLoc({first->getLoc(), second->getLoc()}),
      second->getResultTypes());
  second->replaceAllUsesWith(joined.getResults());
  Block &body = joined.getBody().emplaceBlock();
  first->moveBefore(&body, body.end());
  second->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  model::YieldOp::create(builder, joined.getLoc(), second->getResults());
}

namespace {
struct Join : public impl::ModelJoinBase<Join> {
  using ModelJoinBase::ModelJoinBase;

  void runOnOperation() override {
    bool isDecode = getOperation().getPhase() == model::Phase::Decode;
    SmallVector<Operation *> readers;
    getOperation().walk([&](Operation *op) { readers.push_back(op); });
    for (Operation *second : readers) {
      Value between =
          second->getNumOperands() ? second->getOperand(0) : Value();
      Operation *first = between ? between.getDefiningOp() : nullptr;
      if (first && between.hasOneUse() &&
          first->getBlock() == second->getBlock() &&
          !isa<model::JoinedOp>(second->getParentOp()) &&
          model::JoinedOp::canJoin(first, second) &&
          canFollowParts(first, second, isDecode)) {
        join(first, second);
      }
    }
  }
};
} // namespace
} // namespace modelc
