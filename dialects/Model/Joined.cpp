//===- Joined.cpp - Two ops that one kernel computes ----------------------===//

#include "dialects/Model/Model.h"

using namespace mlir;
using namespace modelc::model;

Operation *modelc::model::getMaker(Value value) {
  auto joined = value.getDefiningOp<JoinedOp>();
  return joined ? joined.getSecond() : value.getDefiningOp();
}

bool JoinedOp::canJoin(Operation *first, Operation *second) {
  if (isa<LinearOp>(first)) {
    return isa<QuantiseOp, RopeAppendOp>(second);
  }
  return (isa<AttentionOp>(first) && isa<QuantiseOp>(second)) ||
         (isa<AllReduceOp>(first) && isa<NormOp>(second));
}

LogicalResult JoinedOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 0 || body.getOperations().size() != 3 ||
      !isa<YieldOp>(body.back())) {
    return emitOpError("expected two ops and what they yield, got ")
           << body.getOperations().size() << " ops";
  }
  if (!canJoin(getFirst(), getSecond())) {
    return emitOpError("expected a linear or attention and 'quantise', a "
                       "linear and 'rope_append', or 'all_reduce' and a norm, "
                       "got '")
           << getFirst()->getName() << "' and '" << getSecond()->getName()
           << "'";
  }
  Value between = getFirst()->getResult(0);
  if (!between.hasOneUse() || getSecond()->getOperand(0) != between) {
    return emitOpError("expected '")
           << getSecond()->getName() << "' alone to read what '"
           << getFirst()->getName() << "' makes, first of all";
  }
  Operation *yield = body.getTerminator();
  if (!llvm::equal(yield->getOperands(), getSecond()->getResults()) ||
      !llvm::equal(yield->getOperandTypes(), getResultTypes())) {
    return emitOpError("expected to yield the results of '")
           << getSecond()->getName() << "', of the types of its own";
  }
  return success();
}
