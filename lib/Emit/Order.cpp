//===- Order.cpp - Waits, arrivals, rendezvous ----------------------------===//

#include "lib/Emit/Printer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// An element of a buffer of flags.
std::string KernelPrinter::flagText(Value buffer, ValueRange coordinates,
                                    Value peer) {
  std::string indices;
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) {
    indices += (i ? ", " + extent(buffer, i) + ", " : "") + text(coordinate);
  }
  std::string base = text(buffer) + (peer ? "[" + text(peer) + "]" : "");
  return base + " + offset(" + indices + ")";
}

/// Variables that products in flight may still write.
static SmallVector<Value> asynchronousAccumulators(KernelOp kernel,
                                                   Operation *at) {
  SmallVector<Value> result;
  kernel.walk([&](MmaOp mma) {
    Value accumulator = mma.getAccumulator();
    if (mma.getAsynchronous() &&
        accumulator.getParentRegion()->isAncestor(at->getParentRegion())) {
      result.push_back(accumulator);
    } else if (mma.getAsynchronous()) {
      // Outside of the loop: the loop's result has the variable.
      if (auto loop = mma->getParentOfType<LoopOp>()) {
        for (Value value : loop.getResults()) {
          if (value.getType() == accumulator.getType()) {
            result.push_back(value);
          }
        }
      }
    }
  });
  return result;
}

static StringRef queueFunction(Queue queue) {
  switch (queue) {
  case Queue::Copies:
    return "waitCopies";
  case Queue::Reads:
    return "waitReads";
  case Queue::Stores:
    return "waitStores";
  case Queue::Matrix:
    return "waitMatrix";
  }
  llvm_unreachable("all queues are listed");
}

LogicalResult KernelPrinter::printWait(WaitOp op) {
  if (op.getQueue()) {
    std::string arguments;
    if (*op.getQueue() == Queue::Matrix) {
      llvm::SmallSetVector<StringRef, 4> variables;
      SmallVector<Value> accumulators = asynchronousAccumulators(kernel, op);
      for (Value value : accumulators) {
        if (auto known = spelled.find(value); known != spelled.end()) {
          variables.insert(known->second);
        }
      }
      arguments = llvm::join(variables, ", ");
    }
    line(queueFunction(*op.getQueue()) + "<" +
         Twine(op.getPending().value_or(0)) + ">(" + arguments + ");");
    return success();
  }
  if (!op.getBarrier()) {
    return op.emitOpError("expected a queue with a count, or a barrier; run "
                          "the passes to the final form first");
  }
  if (isa<BufferType>(op.getBarrier().getType())) {
    line("waitForFlag(" +
         flagText(op.getBarrier(), op.getTrip().drop_back(), {}) + ", " +
         text(op.getTrip().back()) + ");");
    return success();
  }
  line("waitFor(" + placeText(op.getBarrier(), op.getTrip()[0]) + ");");
  return success();
}

/// Whether products of the kernel are issued by one thread and signal barriers.
static bool multipliesIntoTensor(KernelOp kernel) {
  return kernel
      .walk([](MmaOp mma) {
        return mma.getAccumulator().getType().getSpace() == Space::Tensor
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult KernelPrinter::printArrive(ArriveOp op) {
  if (isa<BufferType>(op.getBarrier().getType())) {
    line("raiseFlag(" +
         flagText(op.getBarrier(), op.getTrip().drop_back(), op.getPeer()) +
         ", " + text(op.getTrip().back()) + ");");
    return success();
  }
  std::string barrier = placeText(op.getBarrier(), op.getTrip()[0]);
  if (op.getBytes()) {
    line("arriveExpect(" + barrier + ", " + std::to_string(*op.getBytes()) +
         ");");
  } else if (!op.getAfter().empty() || multipliesIntoTensor(kernel)) {
    line("arriveAfterMma(" + barrier + ");");
  } else {
    line("arriveOnce(" + barrier + ");");
  }
  return success();
}

LogicalResult KernelPrinter::printSync(SyncOp op) {
  switch (op.getScope()) {
  case Scope::Workgroup:
    line("sync();");
    return success();
  case Scope::Group:
    line("syncGroupOfFour();");
    return success();
  case Scope::Cluster:
    line("syncCluster();");
    return success();
  case Scope::Device:
  case Scope::System:
    return op.emitOpError("expected a scope within the kernel, got '")
           << stringifyScope(op.getScope()) << "'; signal with 'arrive'";
  }
  llvm_unreachable("all scopes are listed");
}
