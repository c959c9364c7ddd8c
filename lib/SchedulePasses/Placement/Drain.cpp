//===- Drain.cpp - Tensor memory goes to registers in columns -------------===//
//
// What is computed from accumulators element by element, from the loads of
// tensor memory to the stores, is cut into chunks of columns and becomes a loop
// over them. The chunk is the widest whose values fit into half of the
// registers of a lane, a power of two that divides all columns; the other half
// is for addresses and what the compiler moves up. Sums that a loop changes
// where they are, by a load, maps and a store, and what they start with are cut
// alike, one chunk after the other.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Columns that are not worth a trip of their own.
constexpr int64_t kLeastColumns = 16;

static TileType tileOf(Value value) {
  return dyn_cast<TileType>(value.getType());
}

static bool isOfTensor(Value place) {
  TileType tile = tileOf(place);
  return tile && tile.getSpace() == Space::Tensor;
}

/// Whether `store` writes what `load` has read of tensor memory.
static bool changesPlace(LoadOp load, Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  return store && store.getDestination() == load.getSource() &&
         store->getBlock() == load->getBlock() && load->isBeforeInBlock(store);
}

/// Whether the op reads a whole accumulator in tensor memory for the last time.
static bool isDrain(Operation &op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && isOfTensor(load.getSource()) &&
         llvm::none_of(load.getSource().getUsers(), [&](Operation *user) {
           return changesPlace(load, user);
         });
}

namespace {
/// The ops of one block that follow from one load of tensor memory, with all
/// loads that they need.
class Drain {
public:
  Drain(KernelOp kernel, const Target &target)
      : kernel(kernel), target(target) {}
  /// Collects the ops; false where they cannot be cut.
  bool collect(LoadOp load);
  /// Collects what changes the sums that `load` reads, up to their store.
  bool collectChange(LoadOp load);
  /// Collects a value that reads nothing and its store to tensor memory.
  bool collectFill(StoreOp store);
  /// As a loop, or one chunk after the other.
  void cut();
  void cutInLine();
  /// Where one chunk is all: next to each other.
  void gather();
  bool isWhole() const { return width == columns; }
  bool contains(Operation *op) const { return ops.contains(op); }

private:
  bool addUsers(Operation *op);
  bool addInput(Value value);
  int64_t words();
  int64_t chunkColumns();
  llvm::SmallVector<Operation *> inOrder() const;
  void cloneChunk(OpBuilder &builder, Operation *op, Value column);
  void moveOffset(OpBuilder &builder, MutableOperandRange offsets,
                  std::optional<ArrayRef<int64_t>> dims, Value column);

  KernelOp kernel;
  const Target &target;
  llvm::SetVector<Operation *> ops;
  LoadOp change; // of sums that are stored back; null: of sums that are drained
  int64_t rows = 0, columns = 0, width = 0;
  IRMapping mapping;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be cut
//===----------------------------------------------------------------------===//

/// What a map reads beside the accumulators: one column stays whole, a tile of
/// memory is cut like the accumulator.
bool Drain::addInput(Value value) {
  Operation *op = value.getDefiningOp();
  if (tileOf(value).getColumns() == 1 || (op && ops.contains(op))) {
    return true;
  }
  auto load = dyn_cast_or_null<LoadOp>(op);
  if (!load || load->getBlock() != ops[0]->getBlock() ||
      tileOf(value).getColumns() != columns || load.getToken() ||
      !(isa<BufferType>(load.getSource().getType()) || isDrain(*op))) {
    return false;
  }
  ops.insert(op);
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return ops.contains(user) || isa<MapOp>(user);
  });
}

bool Drain::addUsers(Operation *op) {
  for (Operation *user : op->getUsers()) {
    if (ops.contains(user)) {
      continue;
    }
    auto map = dyn_cast<MapOp>(user);
    auto store = dyn_cast<StoreOp>(user);
    bool isStore =
        store && (isa<BufferType>(store.getDestination().getType()) ||
                  (change && changesPlace(change, store)));
    if (user->getBlock() != op->getBlock() || (!map && !isStore) ||
        (map && tileOf(map.getResult(0)).getColumns() != columns)) {
      return false;
    }
    ops.insert(user);
    if (map && !llvm::all_of(map.getInputs(),
                             [&](Value input) { return addInput(input); })) {
      return false;
    }
  }
  return true;
}

bool Drain::collect(LoadOp load) {
  TileType tile = tileOf(load.getResult());
  columns = tile.getColumns();
  rows = tile.getRows();
  ops.insert(load);
  for (unsigned i = 0; i < ops.size(); ++i) {
    if (!addUsers(ops[i])) {
      return false;
    }
  }
  width = chunkColumns();
  return true;
}

bool Drain::collectChange(LoadOp load) {
  change = load;
  return collect(load) && !isWhole();
}

bool Drain::collectFill(StoreOp store) {
  auto fill = store.getValue().getDefiningOp<MapOp>();
  if (!isOfTensor(store.getDestination()) || !fill ||
      !fill.getInputs().empty() || !store.getValue().hasOneUse() ||
      fill->getBlock() != store->getBlock()) {
    return false;
  }
  columns = tileOf(store.getValue()).getColumns();
  rows = tileOf(store.getValue()).getRows();
  ops.insert(fill);
  ops.insert(store);
  width = chunkColumns();
  return width < columns;
}

/// Registers of 4 bytes for each column of a lane's rows that are live at once:
/// all that is read, and a result that cannot lie where an input lay.
int64_t Drain::words() {
  int64_t bits = 0;
  for (Operation *op : ops) {
    auto map = dyn_cast<MapOp>(op);
    bool reuses = map && llvm::any_of(map.getInputs(), [&](Value input) {
                    return input.getType() == map.getResult(0).getType();
                  });
    for (Value value : op->getResults()) {
      TileType tile = tileOf(value);
      // A row is the same in all lanes.
      int64_t share = tile.getRows() == 1 ? rows : tile.getRows();
      bits += reuses ? 0 : share * tile.getElementBits();
    }
  }
  int64_t lanes = kernel.getWaves() * target.execution.waveSize;
  return llvm::divideCeil(bits, 32 * lanes);
}

int64_t Drain::chunkColumns() {
  const Execution &execution = target.execution;
  int64_t lanes = kernel.getWaves() * execution.waveSize;
  int64_t half = (std::min(execution.maxRegistersPerThread,
                           execution.registerBytesPerUnit / 4 / lanes) +
                  1) /
                 2;
  uint64_t most = half / std::max<int64_t>(words(), 1);
  int64_t whole = static_cast<int64_t>(llvm::bit_floor(most));
  int64_t power = int64_t(1) << llvm::countr_zero(uint64_t(columns));
  return std::min(power, std::max(whole, kLeastColumns));
}

//===----------------------------------------------------------------------===//
// The loop over chunks
//===----------------------------------------------------------------------===//

/// `column` further along the dimension that the tile's columns walk.
void Drain::moveOffset(OpBuilder &builder, MutableOperandRange offsets,
                       std::optional<ArrayRef<int64_t>> dims, Value column) {
  int64_t dimension = dims ? (*dims)[1] : offsets.size() - 1;
  OpOperand &offset = offsets[dimension];
  Location loc = NameLoc::get(builder.getStringAttr("firstColumn"));
  offset.set(arith::AddIOp::create(builder, loc, offset.get(), column));
}

void Drain::cloneChunk(OpBuilder &builder, Operation *op, Value column) {
  Operation *chunk = builder.clone(*op, mapping);
  for (Value value : chunk->getResults()) {
    TileType tile = tileOf(value);
    value.setType(
        TileType::get({tile.getRows(), width}, tile.getElementType()));
  }
  OpBuilder before(chunk);
  auto move = [&](auto access, Value place) {
    if (isOfTensor(place)) {
      Value trip = access.getOffsets().empty()
                       ? arith::ConstantIndexOp::create(before, op->getLoc(), 0)
                             .getResult()
                       : access.getOffsets()[0];
      SmallVector<Value> offsets = {trip, column};
      access.getOffsetsMutable().assign(offsets);
    } else {
      moveOffset(before, access.getOffsetsMutable(), access.getDims(), column);
    }
  };
  if (auto load = dyn_cast<LoadOp>(chunk)) {
    move(load, load.getSource());
  } else if (auto store = dyn_cast<StoreOp>(chunk)) {
    move(store, store.getDestination());
  } else {
    Block &body = cast<MapOp>(chunk).getBody().front();
    BlockArgument own = body.getArguments().back();
    if (!own.use_empty()) {
      OpBuilder inside = OpBuilder::atBlockBegin(&body);
      Operation *whole =
          arith::AddIOp::create(inside, op->getLoc(), own, column);
      own.replaceAllUsesExcept(whole->getResult(0), whole);
    }
  }
}

SmallVector<Operation *> Drain::inOrder() const {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

void Drain::cutInLine() {
  SmallVector<Operation *> sorted = inOrder();
  OpBuilder builder(sorted.back());
  for (int64_t first = 0; first < columns; first += width) {
    Value column =
        arith::ConstantIndexOp::create(builder, sorted[0]->getLoc(), first);
    mapping.clear(); // a clone of a body is its own
    for (Operation *op : sorted) {
      cloneChunk(builder, op, column);
    }
  }
  for (Operation *op : llvm::reverse(sorted)) {
    op->erase();
  }
}

void Drain::gather() {
  SmallVector<Operation *> sorted = inOrder();
  for (Operation *op : ArrayRef(sorted).drop_back()) {
    op->moveBefore(sorted.back());
  }
}

void Drain::cut() {
  SmallVector<Operation *> sorted = inOrder();
  OpBuilder builder(sorted.back());
  Location loc = NameLoc::get(builder.getStringAttr("chunk"));
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value from = constant(0), to = constant(columns), by = constant(width);
  auto loop = LoopOp::create(builder, loc, from, to, by, ValueRange());
  builder.setInsertionPointToStart(&loop.getBody().front());
  for (Operation *op : sorted) {
    cloneChunk(builder, op, loop.getInductionVars()[0]);
  }
  for (Operation *op : llvm::reverse(sorted)) {
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Accumulators that no op needs together are drained one after the other.
static void drainBlock(Block &block, KernelOp kernel, const Target &target) {
  SmallVector<Drain> drains;
  bool cannotCut = false;
  for (Operation &op : block) {
    bool isTaken = llvm::any_of(
        drains, [&](const Drain &drain) { return drain.contains(&op); });
    if (isDrain(op) && !isTaken) {
      Drain &drain = drains.emplace_back(kernel, target);
      cannotCut |= !drain.collect(cast<LoadOp>(op));
    }
  }
  if (cannotCut) {
    return;
  }
  for (Drain &drain : drains) {
    if (!drain.isWhole()) {
      drain.cut();
    } else if (drains.size() > 1) {
      drain.gather();
    }
  }
}

LogicalResult modelc::drainInChunks(KernelOp kernel, const Target &target) {
  SmallVector<Operation *> moves;
  llvm::SetVector<Block *> blocks;
  kernel.walk([&](Operation *op) {
    if (isa<LoadOp, StoreOp>(op)) {
      moves.push_back(op);
    }
    if (isDrain(*op)) {
      blocks.insert(op->getBlock());
    }
  });
  SmallVector<Drain> inLine;
  for (Operation *op : moves) {
    Drain drain(kernel, target);
    auto load = dyn_cast<LoadOp>(op);
    bool isCut = load ? isOfTensor(load.getSource()) && !isDrain(*op) &&
                            drain.collectChange(load)
                      : drain.collectFill(cast<StoreOp>(op));
    if (isCut) {
      inLine.push_back(std::move(drain));
    }
  }
  for (Drain &drain : inLine) {
    drain.cutInLine();
  }
  for (Block *block : blocks) {
    drainBlock(*block, kernel, target);
  }
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEDRAIN
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct DrainPass : impl::ScheduleDrainBase<DrainPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            drainInChunks))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
