//===- Order.cpp - Waits, arrivals, rendezvous ----------------------------===//

#include "lib/Emit/Kernel/Printer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// An element of a buffer of flags.
std::string KernelPrinter::elementText(Value buffer, ValueRange coordinates,
                                       Value peer) {
  std::string indices;
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) {
    indices += (i ? ", " + extent(buffer, i) + ", " : "") + text(coordinate);
  }
  return bufferText(buffer, peer) + " + offset(" + indices + ")";
}

/// Flags that follow another one were printed with it.
void KernelPrinter::printFlags(StringRef function, const std::string &value,
                               ArrayRef<std::string> flags) {
  if (!flags.empty()) {
    line(function + "(" + value + ", " + llvm::join(flags, ", ") + ");");
  }
}

static SmallVector<MmaOp> asynchronousProducts(Block &block) {
  SmallVector<MmaOp> result;
  block.walk([&](MmaOp mma) {
    if (mma.getAsynchronous()) {
      result.push_back(mma);
    }
  });
  return result;
}

/// The products issued before a wait, the last one first: those before it in
/// its block, then, in a loop, those of the trip before. `pending` of them may
/// still be in flight.
SmallVector<MmaOp> KernelPrinter::productsBefore(WaitOp wait,
                                                 int64_t &pending) {
  SmallVector<MmaOp> result, later;
  for (MmaOp mma : llvm::reverse(asynchronousProducts(*wait->getBlock()))) {
    bool isEarlier =
        wait->getBlock()->findAncestorOpInBlock(*mma)->isBeforeInBlock(wait);
    (isEarlier ? result : later).push_back(mma);
  }
  auto loop = dyn_cast<LoopOp>(wait->getParentOp());
  if (loop && loop.getKind() == LoopKind::Sequence) {
    result.append(later);
    llvm::append_range(result,
                       llvm::reverse(asynchronousProducts(*wait->getBlock())));
  }
  pending = static_cast<int64_t>(wait.getPending().value_or(0));
  auto isIdle = [&](MmaOp mma) { return idle.contains(mma); };
  size_t late = std::min<size_t>(pending, result.size());
  pending -= llvm::count_if(ArrayRef(result).take_front(late), isIdle);
  llvm::erase_if(result, isIdle);
  return result;
}

/// The variable of a product's accumulator, if it is in registers.
std::string KernelPrinter::accumulatorOf(MmaOp mma) {
  for (Value value : {Value(mma.getResult()), Value(mma.getAccumulator())}) {
    if (auto known = spelled.find(value); known != spelled.end()) {
      return known->second;
    }
  }
  return "";
}

/// Variables of the products that are waited for: accumulators, which become
/// readable unless one that may still be in flight writes them too, and
/// operands in registers, into which nothing may be put before; those that one
/// in flight still reads are left to its wait.
SmallVector<std::string> KernelPrinter::doneAfter(WaitOp wait) {
  SmallVector<std::string> accumulators, operands;
  llvm::StringSet<> inFlight;
  auto add = [](SmallVectorImpl<std::string> &list, const std::string &name) {
    if (!name.empty() && !llvm::is_contained(list, name)) {
      list.push_back(name);
    }
  };
  llvm::SmallPtrSet<Operation *, 4> seen;
  llvm::DenseSet<Value> stillRead;
  int64_t pending = 0;
  for (auto [i, mma] : llvm::enumerate(productsBefore(wait, pending))) {
    std::string name = accumulatorOf(mma);
    bool isOfThisTrip = seen.insert(mma).second &&
                        mma->getBlock() == wait->getBlock() &&
                        mma->isBeforeInBlock(wait);
    if (static_cast<int64_t>(i) < pending) {
      inFlight.insert(name);
      stillRead.insert_range(mma.getOperands());
      continue;
    }
    if (!inFlight.contains(name)) {
      add(accumulators, name);
    }
    for (Value operand : {mma.getA(), mma.getB()}) {
      bool isDone = isOfThisTrip && !stillRead.contains(operand);
      if (isDone && !cast<TileType>(operand.getType()).isPlace()) {
        add(operands, text(operand));
      }
    }
  }
  llvm::append_range(accumulators, operands);
  return accumulators;
}

/// Whether lanes copy what a matrix unit reads, beside it and unordered with
/// it.
static bool matrixUnitReadsCopies(KernelOp kernel) {
  return kernel
      .walk([](CopyOp copy) {
        bool reads = llvm::any_of(copy.getDestination().getUsers(),
                                  llvm::IsaPred<MmaOp>);
        return reads && !copy.getBox() ? WalkResult::interrupt()
                                       : WalkResult::advance();
      })
      .wasInterrupted();
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

/// The last statistic of rows that waves compute beside the products of a wait,
/// or null.
static ReduceOp besideProducts(WaitOp wait) {
  bool isOfProducts =
      wait.getQueue() == Queue::Matrix ||
      (wait.getBarrier() && isa<BarrierType>(wait.getBarrier().getType()));
  if (!isOfProducts) {
    return {};
  }
  for (Operation *op = wait->getPrevNode(); op && !isa<MmaOp>(op);
       op = op->getPrevNode()) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      return reduce;
    }
  }
  return {};
}

LogicalResult KernelPrinter::printWait(WaitOp op) {
  if (ReduceOp reduce = besideProducts(op); reduce && !idle.contains(reduce)) {
    line("computeFirst(" + text(reduce.getResult()) + ");");
  }
  if (op.getQueue()) {
    std::string arguments;
    int64_t pending = op.getPending().value_or(0);
    if (*op.getQueue() == Queue::Matrix) {
      if (isAwaitedAlready(op)) {
        return success();
      }
      productsBefore(op, pending);
      arguments = llvm::join(doneAfter(op), ", ");
    }
    line(queueFunction(*op.getQueue()) + "<" + Twine(pending) + ">(" +
         arguments + ");");
    if (*op.getQueue() == Queue::Copies && matrixUnitReadsCopies(kernel)) {
      line("publishShared();");
    }
    return success();
  }
  if (!op.getBarrier()) {
    return op.emitOpError("expected a queue with a count, or a barrier; run "
                          "the passes to the final form first");
  }
  if (isa<BufferType>(op.getBarrier().getType())) {
    SmallVector<std::string> flags;
    for (Operation *one : op.getFlags()) {
      auto flag = cast<WaitOp>(one);
      flags.push_back(
          elementText(flag.getBarrier(), flag.getTrip().drop_back(), {}));
    }
    printFlags("waitForFlags", text(op.getTrip().back()), flags);
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
    SmallVector<std::string> flags;
    for (Operation *one : op.getFlags()) {
      auto flag = cast<ArriveOp>(one);
      flags.push_back(elementText(flag.getBarrier(), flag.getTrip().drop_back(),
                                  flag.getPeer()));
    }
    printFlags("raiseFlags", text(op.getTrip().back()), flags);
    return success();
  }
  std::string barrier = placeText(op.getBarrier(), op.getTrip()[0]);
  auto role = op->getParentOfType<RoleOp>();
  if (op.getBytes()) {
    line("arriveExpect" + caller() + "(" + barrier + ", " +
         std::to_string(*op.getBytes()) + ");");
  } else if (role && !role.getElect()) {
    bool all =
        cast<BarrierType>(op.getBarrier().getType()).getReach() == Reach::All;
    line((all ? "arriveEachWaveAtAll<" +
                    std::to_string(kernel.getCluster().value_or(1)) + ">("
              : "arriveEachWave(") +
         barrier + ");");
  } else if (!op.getAfter().empty() || multipliesIntoTensor(kernel)) {
    line("arriveAfterMma" + caller(multipliesInPairs() ? "Pair" : "") + "(" +
         barrier + ");");
  } else {
    line("arriveOnce(" + barrier + ");");
  }
  return success();
}

/// The last one is what a kernel does before it follows earlier ones.
LogicalResult KernelPrinter::printPrefetch(PrefetchOp op) {
  if (!target.launch.startsEarly) {
    return op.emitOpError("expected a target whose kernels start early "
                          "(launch.starts_early)");
  }
  Value row = op.getOffsets()[0];
  int64_t threads = kernel.getWaves() * target.execution.waveSize;
  std::string rows = op.getValid()
                         ? text(op.getValid(), 12) + " - " + text(row, 13)
                         : std::to_string(op.getRows());
  line("prefetchRows<" + Twine(op.getRows()) + ", " + Twine(op.getColumns()) +
       ", " + Twine(threads) + ">(" +
       elementText(op.getSource(), op.getOffsets(), {}) + ", " +
       extent(op.getSource(), 1) + ", " + rows + ");");
  Block::iterator next = std::next(op->getIterator());
  if (llvm::none_of(llvm::make_range(next, op->getBlock()->end()),
                    [](Operation &other) { return isa<PrefetchOp>(other); })) {
    followEarlierKernels();
  }
  return success();
}

/// Whether the op lies in a loop whose waves take turns.
bool KernelPrinter::isStaggered(Operation *op) {
  auto loop = dyn_cast<LoopOp>(op->getParentOp());
  return loop && loop.getStagger().value_or(1) > 1;
}

LogicalResult KernelPrinter::printSync(SyncOp op) {
  if (op->getParentOfType<RoleOp>()) {
    return op.emitOpError("expected roles that meet at barriers only");
  }
  switch (op.getScope()) {
  case Scope::Workgroup:
    // Reads of a staggered loop are in flight across it: waits count them.
    line(isStaggered(op) ? "syncOnly();" : "sync();");
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
