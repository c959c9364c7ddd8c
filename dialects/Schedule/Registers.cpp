//===- Registers.cpp - What the tiles of a thread fill --------------------===//
//
// Every value of a kernel lives from the op that makes it to the last op that
// reads it; a loop counts as one op for what is made before it, so what is read
// inside lives as long as the loop. What a loop begins with becomes what it
// carries. Registers are counted where most is alive.
//
//===----------------------------------------------------------------------===//

#include "dialects/Schedule/Schedule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace modelc::schedule {

int64_t registersOf(TileType tile, int64_t threads) {
  if (tile.isPlace()) {
    return 0;
  }
  int64_t elements = tile.getLayout()
                         ? tile.getLayout().getLayout().inputSize("register")
                         : llvm::divideCeil(tile.getNumElements(), threads);
  return std::max<int64_t>(
      1, llvm::divideCeil(elements * tile.getElementBits(), 32));
}

namespace {

/// When each op of a kernel begins and ends, counted in ops.
class Order {
public:
  explicit Order(KernelOp kernel) { visit(kernel); }
  ArrayRef<Operation *> ops() const { return list; }
  unsigned begin(Operation *op) const { return times.lookup(op).first; }
  unsigned end(Operation *op) const { return times.lookup(op).second; }
  /// When `value` is read for the last time; `from` where it never is.
  unsigned lastRead(Value value, unsigned from) const {
    for (Operation *user : value.getUsers()) {
      Operation *at = value.getParentBlock()->findAncestorOpInBlock(*user);
      if (at) {
        bool begins = at == user && isa<LoopOp>(user);
        from = std::max(from, begins ? begin(at) : end(at));
      }
    }
    return from;
  }

private:
  void visit(Operation *op) {
    unsigned begin = list.size();
    list.push_back(op);
    // Scalars inside a map are no tiles and read none.
    if (!isa<MapOp>(op)) {
      for (Region &region : op->getRegions()) {
        llvm::for_each(region.getOps(), [&](Operation &one) { visit(&one); });
      }
    }
    times[op] = {begin, list.size() - 1};
  }

  SmallVector<Operation *> list; // in the order in which they begin
  DenseMap<Operation *, std::pair<unsigned, unsigned>> times;
};

} // namespace

int64_t registersPerThread(KernelOp kernel, int64_t waveSize) {
  Order order(kernel);
  int64_t threads = kernel.getWaves() * waveSize;
  SmallVector<int64_t> changes(order.ops().size() + 1, 0);
  auto add = [&](Value value, unsigned from) {
    if (auto tile = dyn_cast<TileType>(value.getType())) {
      int64_t registers = registersOf(tile, threads);
      changes[from] += registers;
      changes[order.lastRead(value, from)] -= registers;
    }
  };
  for (Operation *op : order.ops()) {
    for (Value result : op->getResults()) {
      add(result, order.end(op));
    }
    if (auto loop = dyn_cast<LoopOp>(op)) {
      for (Value carried : loop.getCarried()) {
        add(carried, order.begin(op));
      }
    }
  }
  int64_t live = 0, most = 0;
  for (int64_t change : changes) {
    live += change;
    most = std::max(most, live);
  }
  return most;
}

} // namespace modelc::schedule
