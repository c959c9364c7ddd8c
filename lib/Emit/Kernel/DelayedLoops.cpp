//===- DelayedLoops.cpp - A loop whose first and last trips do less -------===//
//
// Three texts of one body: the first trip without the products that add what
// was made before, the trips between, and the last one without all that is made
// for a trip behind it. A condition instead would make the vendor's compiler
// wait for every product.
//
//     { const int step = 0; ... }
//     for (int step = 1; step < steps - 1; ++step) { ... }
//     { const int step = steps - 1; ... }
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Kernel/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

using Ops = llvm::DenseSet<Operation *>;

/// Whether the op, or one inside of it, reads what one of `makers` makes.
static bool readsOf(Operation &op, const Ops &makers) {
  return op
      .walk([&](Operation *inner) {
        return WalkResult(
            failure(llvm::any_of(inner->getOperands(), [&](Value operand) {
              return makers.contains(operand.getDefiningOp());
            })));
      })
      .wasInterrupted();
}

/// What is made in a trip for the next one: products that add nothing late, and
/// all that follows from them or is made for them alone.
static Ops madeForNext(LoopOp loop) {
  Ops ops;
  SmallVector<MmaOp> late = lateProducts(loop);
  auto body = loop.getBody().front().without_terminator();
  for (Operation &op : body) {
    bool isProduct = isa<MmaOp>(op) && !llvm::is_contained(late, &op);
    if (isProduct || readsOf(op, ops)) {
      ops.insert(&op);
    }
  }
  for (Operation &op : llvm::reverse(body)) {
    bool isMade = isa<MapOp>(op) || isa<arith::ArithDialect>(op.getDialect());
    if (isMade && llvm::all_of(op.getUsers(), [&](Operation *user) {
          Operation *own = loop.getBody().front().findAncestorOpInBlock(*user);
          return ops.contains(own);
        })) {
      ops.insert(&op);
    }
  }
  return ops;
}

/// Whether a value is not made in the trip that is printed.
bool KernelPrinter::isLeftOut(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !idle.contains(op)) {
    return false;
  }
  if (auto loop = dyn_cast<LoopOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return isLeftOut(loop.getInits()[number]);
  }
  auto mma = dyn_cast<MmaOp>(op);
  return !mma || !isa<BlockArgument>(mma.getAccumulator());
}

/// What is left out hands on what it would change.
void KernelPrinter::handOn(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op)) {
    if (!isLeftOut(mma.getResult())) {
      spelled[mma.getResult()] = text(mma.getAccumulator());
    }
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    for (auto [result, init] :
         llvm::zip_equal(loop.getResults(), loop.getInits())) {
      if (!isLeftOut(init)) {
        spelled[result] = text(init);
      }
    }
  }
}

/// Whether a wait on products has none to wait for, since some of them are left
/// out of the trip.
bool KernelPrinter::isAwaitedAlready(WaitOp wait) {
  if (idle.empty()) {
    return false;
  }
  int64_t pending = 0, inFlight = 0;
  for (Operation &op : *wait->getBlock()) {
    auto mma = dyn_cast<MmaOp>(op);
    auto before = dyn_cast<WaitOp>(op);
    if (mma && !idle.contains(mma)) {
      ++inFlight;
    } else if (before && before.getQueue() == Queue::Matrix) {
      productsBefore(before, pending);
      if (before == wait) {
        return inFlight <= pending;
      }
      inFlight = std::min(inFlight, pending);
    }
  }
  return false;
}

LogicalResult KernelPrinter::printEnd(LoopOp loop, bool isFirst) {
  BlockArgument variable = loop.getInductionVars()[0];
  names.enterScope();
  open("{");
  std::string trip = isFirst ? text(loop.getLowerBounds()[0])
                             : text(loop.getUpperBounds()[0], 12) + " - 1";
  std::string name = nameOf(variable, wishFor(variable));
  line("const int " + name + " = " + trip + ";");
  if (isFirst) {
    idle.insert_range(lateProducts(loop));
  } else {
    idle = madeForNext(loop);
  }
  LogicalResult result = printBody(loop);
  idle.clear();
  close();
  names.leaveScope();
  return result;
}

LogicalResult KernelPrinter::printDelayed(LoopOp loop) {
  if (failed(printEnd(loop, /*isFirst=*/true))) {
    return failure();
  }
  BlockArgument variable = loop.getInductionVars()[0];
  names.enterScope();
  std::string name = nameOf(variable, wishFor(variable));
  line("#pragma unroll 1");
  Value lower = loop.getLowerBounds()[0];
  open("for (int " + name + " = " +
       (matchPattern(lower, m_Zero()) ? "1" : text(lower, 12) + " + 1") + "; " +
       name + " < " + text(loop.getUpperBounds()[0], 12) + " - 1; ++" + name +
       ") {");
  LogicalResult result = printBody(loop);
  close();
  names.leaveScope();
  return failed(result) ? result : printEnd(loop, /*isFirst=*/false);
}
