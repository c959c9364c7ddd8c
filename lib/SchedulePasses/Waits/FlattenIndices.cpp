#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Waits/Flattener.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// What a persistent grid carries counts its tiles.
static bool isTileNumber(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<LoopOp>(argument.getOwner()->getParentOp())
                       : LoopOp();
  return loop && loop.getKind() == LoopKind::Workgroups &&
         argument.getArgNumber() >= loop.getInductionVars().size();
}

/// The index at this trip; what depends on the run counts as 0.
int64_t Flattener::evaluate(Value value) {
  auto known = indices.find(value);
  if (known != indices.end()) {
    return known->second;
  }
  if (std::optional<int64_t> constant = constantIndex(value)) {
    return indices[value] = *constant; // asked for in every trip
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2) {
    return 0;
  }
  int64_t a = evaluate(op->getOperand(0)), b = evaluate(op->getOperand(1));
  if (isa<arith::MulIOp>(op) && isTileNumber(op->getOperand(0))) {
    b = unrolledTrips; // the trips of a tile, as many as are written out
  }
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::AddIOp>([&](auto) { return a + b; })
      .Case<arith::SubIOp>([&](auto) { return a - b; })
      .Case<arith::MulIOp>([&](auto) { return a * b; })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::DivUIOp>(
          [&](auto) { return b ? a / b : 0; })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return b ? a % b : 0; })
      .Default([](Operation *) { return 0; });
}
