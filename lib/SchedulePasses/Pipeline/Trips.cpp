#include "lib/SchedulePasses/Pipeline/Trips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Whether the value is made inside the loop.
static bool isInside(Value value, LoopOp loop) {
  return loop.getBody().isAncestor(value.getParentRegion());
}

static bool isScalarOp(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    return !isa<TileType>(load.getResult().getType());
  }
  return isa<arith::ArithDialect>(op->getDialect());
}

bool modelc::isFunctionOfTrip(Value value, LoopOp loop) {
  if (!isInside(value, loop) || value == loop.getInductionVars()[0]) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  return op && isScalarOp(op) && llvm::all_of(op->getOperands(), [&](Value in) {
           return isFunctionOfTrip(in, loop);
         });
}

Value modelc::atTrip(OpBuilder &builder, Value value, LoopOp loop,
                     IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value)) {
    return known;
  }
  if (!isInside(value, loop)) {
    return value;
  }
  Operation *op = value.getDefiningOp();
  assert(op && "the slice was checked by isFunctionOfTrip");
  for (Value operand : op->getOperands()) {
    mapping.map(operand, atTrip(builder, operand, loop, mapping));
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

Value modelc::loadAt(OpBuilder &builder, LoadOp load, Value index,
                     LoopOp loop) {
  IRMapping mapping;
  mapping.map(loop.getInductionVars()[0], index);
  for (Value operand : load->getOperands()) {
    mapping.map(operand, atTrip(builder, operand, loop, mapping));
  }
  return cast<LoadOp>(builder.clone(*load, mapping)).getResult();
}

LoopOp modelc::carryMore(LoopOp loop, ValueRange inits) {
  OpBuilder builder(loop);
  SmallVector<Value> all(loop.getInits());
  llvm::append_range(all, inits);
  auto wide = LoopOp::create(builder, loop.getLoc(), loop.getLowerBounds(),
                             loop.getUpperBounds(), loop.getSteps(), all);
  wide.setExpectAttr(loop.getExpectAttr());
  Block &from = loop.getBody().front(), &to = wide.getBody().front();
  for (auto [old, now] : llvm::zip(from.getArguments(), to.getArguments())) {
    now.setLoc(old.getLoc());
    old.replaceAllUsesWith(now);
  }
  to.getOperations().splice(to.end(), from.getOperations());
  loop.replaceAllUsesWith(wide.getResults().drop_back(inits.size()));
  loop.erase();
  return wide;
}

bool modelc::isCondition(LoopOp loop) {
  return loop.getUpperBounds()[0].getDefiningOp<arith::SelectOp>() != nullptr;
}

Value modelc::constantOf(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

std::optional<int64_t> modelc::constantIndex(Value value) {
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  return std::nullopt;
}
