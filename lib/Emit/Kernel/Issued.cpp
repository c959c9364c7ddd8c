//===- Issued.cpp - What one thread of a workgroup issues -----------------===//

#include "lib/Emit/Kernel/Issued.h"

#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static bool isInTensor(Value place) {
  auto tile = dyn_cast<TileType>(place.getType());
  return tile && tile.getSpace() == Space::Tensor;
}

/// Whether one thread issues the op, and nobody waits in it.
static bool isIssued(Operation &op) {
  if (auto copy = dyn_cast<CopyOp>(op)) {
    return copy.getBox();
  }
  auto arrive = dyn_cast<ArriveOp>(op);
  return arrive && arrive.getBytes() &&
         !isa<BufferType>(arrive.getBarrier().getType());
}

/// Whether the op is part of a ring that one thread turns: copies of boxes,
/// products in tensor memory, their signals and the waits for both.
static bool turnsRing(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op)) {
    return isInTensor(mma.getAccumulator());
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    return copy.getBox() || isInTensor(copy.getDestination());
  }
  if (auto wait = dyn_cast<WaitOp>(op)) {
    return wait.getBarrier() && !isa<BufferType>(wait.getBarrier().getType());
  }
  if (auto arrive = dyn_cast<ArriveOp>(op)) {
    return isIssued(*op) || !arrive.getAfter().empty();
  }
  auto loop = dyn_cast<LoopOp>(op);
  return loop ? loop.getResults().empty() && !loop.getDelayed()
              : isa<YieldOp>(op) || isa<arith::ArithDialect>(op->getDialect());
}

/// Whether nobody but the thread that issues products has work in the loop.
/// Others that waited beside it would not hold it up: one that looks at a
/// barrier after two more turns of the ring finds the parity that it waits for
/// gone, and waits for ever.
static bool isOfOneThread(Operation &op) {
  bool multiplies = false;
  return isa<LoopOp>(op) && !op.walk([&](Operation *inner) {
                                 multiplies |= isa<MmaOp>(inner);
                                 return WalkResult(success(turnsRing(inner)));
                               }).wasInterrupted() &&
         multiplies;
}

Block::iterator modelc::endOfIssued(Block::iterator first, Block &block) {
  if (isOfOneThread(*first)) {
    return std::next(first);
  }
  if (!isIssued(*first)) {
    return first;
  }
  Block::iterator end = first;
  int64_t issued = 0;
  for (auto it = first; it != block.end(); ++it) {
    if (isIssued(*it)) {
      ++issued;
      end = std::next(it);
    } else if (!isa<arith::ArithDialect>(it->getDialect())) {
      break;
    }
  }
  llvm::SmallPtrSet<Operation *, 8> inside;
  for (Operation &op : llvm::make_range(first, end)) {
    inside.insert(&op);
  }
  bool isClosed = llvm::all_of(inside, [&](Operation *op) {
    return llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return inside.contains(user); });
  });
  return issued > 1 && isClosed ? end : first;
}
