#include "lib/Cost/ReadKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

/// For addresses, indices and constants; small beside the tiles.
constexpr int64_t kAddressRegisters = 24;

static int64_t registersOf(TileType tile, int64_t threads) {
  double elements = double(tile.getNumElements()) / double(threads);
  if (tile.getLayout()) {
    elements = tile.getLayout().getLayout().inputSize("register");
  }
  return std::max<int64_t>(1, std::ceil(elements * tile.getElementBits() / 32));
}

/// Where `user` sits among the ops of `block`: itself or the op that holds it.
static Operation *ancestorIn(Block *block, Operation *user) {
  return block->findAncestorOpInBlock(*user);
}

int64_t registersPerThread(KernelOp kernel, const Target &target) {
  int64_t threads = kernel.getWaves() * target.execution.waveSize;
  // An op ends where its last nested op ends, so that a value used in a loop
  // lives as long as the loop.
  DenseMap<Operation *, unsigned> begins, ends;
  unsigned position = 0;
  kernel.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { begins[op] = position++; });
  kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
    unsigned last = begins[op];
    for (Region &region : op->getRegions()) {
      for (Operation &inner : region.getOps()) {
        last = std::max(last, ends[&inner]);
      }
    }
    ends[op] = last;
  });
  std::vector<int64_t> changes(position + 1, 0);
  auto addValue = [&](Value value, unsigned from) {
    auto tile = dyn_cast<TileType>(value.getType());
    if (!tile || tile.isPlace()) {
      return;
    }
    unsigned to = from;
    for (Operation *user : value.getUsers()) {
      if (Operation *at = ancestorIn(value.getParentBlock(), user)) {
        to = std::max(to, ends[at]);
      }
    }
    int64_t count = registersOf(tile, threads);
    if (to > from) {
      changes[from] += count;
      changes[to] -= count;
    }
  };
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      addValue(result, ends[op]);
    }
    if (auto loop = dyn_cast<LoopOp>(op)) {
      for (Value carried : loop.getCarried()) {
        addValue(carried, begins[op]);
      }
    }
  });
  int64_t live = 0, most = 0;
  for (int64_t change : changes) {
    live += change;
    most = std::max(most, live);
  }
  int64_t granule = std::max<int64_t>(1, target.execution.registerGranule);
  int64_t wanted = llvm::alignTo(most + kAddressRegisters, granule);
  return std::min(wanted, target.execution.maxRegistersPerThread);
}

} // namespace modelc
