//===- Collectives.cpp - Ops between the ranks along an axis --------------===//

#include "dialects/Model/Model.h"

using namespace mlir;
using namespace modelc::model;

/// The ranks along an axis of the graph around a collective.
static int64_t ranksAlong(Operation *op, Axis axis) {
  auto graph = op->getParentOfType<GraphOp>();
  return graph ? graph.getRanks(axis) : 1;
}

static LogicalResult verifyRanks(Operation *op, Axis axis) {
  return ranksAlong(op, axis) > 1
             ? success()
             : LogicalResult(
                   op->emitOpError("expected a graph with at least 2 ranks "
                                   "along '")
                   << stringifyAxis(axis) << "' around a collective, got "
                   << ranksAlong(op, axis));
}

int64_t AllReduceOp::getRanks() { return ranksAlong(*this, getAxis()); }
int64_t AllGatherOp::getRanks() { return ranksAlong(*this, getAxis()); }
int64_t GatherRowsOp::getRanks() { return ranksAlong(*this, getAxis()); }
int64_t ScatterRowsOp::getRanks() { return ranksAlong(*this, getAxis()); }

LogicalResult AllReduceOp::verify() { return verifyRanks(*this, getAxis()); }
LogicalResult GatherRowsOp::verify() { return verifyRanks(*this, getAxis()); }
LogicalResult ScatterRowsOp::verify() { return verifyRanks(*this, getAxis()); }

LogicalResult AllGatherOp::verify() {
  if (failed(verifyRanks(*this, getAxis()))) {
    return failure();
  }
  RankedTensorType in = getX().getType(), out = getOut().getType();
  if (out.getDimSize(1) != in.getDimSize(1) * getRanks() ||
      out.getElementType() != in.getElementType()) {
    return emitOpError("expected ")
           << getRanks() << " x " << in.getDimSize(1) << " columns of "
           << in.getElementType() << ", got " << out.getDimSize(1) << " of "
           << out.getElementType();
  }
  return success();
}
