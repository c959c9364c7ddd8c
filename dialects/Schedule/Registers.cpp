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
  explicit Order(KernelOp kernel) {
    kernel.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { begins[op] = count++; });
    kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
      unsigned last = begins[op];
      for (Region &region : op->getRegions()) {
        for (Operation &inner : region.getOps()) {
          last = std::max(last, ends[&inner]);
        }
      }
      ends[op] = last;
    });
  }
  unsigned begin(Operation *op) const { return begins.lookup(op); }
  unsigned end(Operation *op) const { return ends.lookup(op); }
  unsigned size() const { return count; }
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
  DenseMap<Operation *, unsigned> begins, ends;
  unsigned count = 0;
};

} // namespace

int64_t registersPerThread(KernelOp kernel, int64_t waveSize) {
  Order order(kernel);
  int64_t threads = kernel.getWaves() * waveSize;
  SmallVector<int64_t> changes(order.size() + 1, 0);
  auto add = [&](Value value, unsigned from) {
    if (auto tile = dyn_cast<TileType>(value.getType())) {
      changes[from] += registersOf(tile, threads);
      changes[order.lastRead(value, from)] -= registersOf(tile, threads);
    }
  };
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      add(result, order.end(op));
    }
    if (auto loop = dyn_cast<LoopOp>(op)) {
      for (Value carried : loop.getCarried()) {
        add(carried, order.begin(op));
      }
    }
  });
  int64_t live = 0, most = 0;
  for (int64_t change : changes) {
    live += change;
    most = std::max(most, live);
  }
  return most;
}

} // namespace modelc::schedule
