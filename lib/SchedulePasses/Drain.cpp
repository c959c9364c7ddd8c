//===- Drain.cpp - Tensor memory goes to registers in columns -------------===//
//
// What is computed from accumulators element by element, from the loads of
// tensor memory to the stores, is cut into chunks of columns and becomes a loop
// over them. The chunk is the widest whose values fit into half of the
// registers of a lane; the other half is for addresses and what the compiler
// moves up.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Trips.h"

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

/// Whether the op reads a whole accumulator in tensor memory.
static bool isDrain(Operation &op) {
  auto load = dyn_cast<LoadOp>(op);
  TileType place = load ? tileOf(load.getSource()) : TileType();
  return place && place.getSpace() == Space::Tensor &&
         llvm::none_of(load.getSource().getUsers(), llvm::IsaPred<StoreOp>);
}

namespace {
/// The ops of one block that follow from its loads of tensor memory.
class Drain {
public:
  Drain(KernelOp kernel, const Target &target)
      : kernel(kernel), target(target) {}
  /// Collects the ops; false where they cannot be cut.
  bool collect(Block &block);
  void cut();

private:
  bool addUsers(Operation *op);
  bool addInput(Value value);
  int64_t words();
  int64_t chunkColumns();
  void cloneChunk(OpBuilder &builder, Operation *op, Value column);
  void moveOffset(OpBuilder &builder, MutableOperandRange offsets,
                  std::optional<ArrayRef<int64_t>> dims, Value column);

  KernelOp kernel;
  const Target &target;
  llvm::SetVector<Operation *> ops;
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
    bool isStore = store && isa<BufferType>(store.getDestination().getType());
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

bool Drain::collect(Block &block) {
  for (Operation &op : block) {
    if (isDrain(op)) {
      TileType tile = tileOf(op.getResult(0));
      if (columns && (tile.getColumns() != columns || tile.getRows() != rows)) {
        return false;
      }
      columns = tile.getColumns();
      rows = tile.getRows();
      ops.insert(&op);
    }
  }
  for (unsigned i = 0; i < ops.size(); ++i) {
    if (!addUsers(ops[i])) {
      return false;
    }
  }
  width = ops.empty() ? 0 : chunkColumns();
  return width && width < columns;
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
  return std::min(columns, std::max(whole, kLeastColumns));
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
  if (isDrain(*op)) {
    auto load = cast<LoadOp>(chunk);
    SmallVector<Value> offsets(load.getOffsets());
    if (offsets.empty()) {
      offsets.push_back(
          arith::ConstantIndexOp::create(before, op->getLoc(), 0));
    }
    offsets.push_back(column);
    load.getOffsetsMutable().assign(offsets);
    return;
  }
  if (auto load = dyn_cast<LoadOp>(chunk)) {
    moveOffset(before, load.getOffsetsMutable(), load.getDims(), column);
  } else if (auto store = dyn_cast<StoreOp>(chunk)) {
    moveOffset(before, store.getOffsetsMutable(), store.getDims(), column);
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

void Drain::cut() {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
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

LogicalResult modelc::drainInChunks(KernelOp kernel, const Target &target) {
  // What a loop reads of its sums every trip stays whole.
  Drain drain(kernel, target);
  if (drain.collect(kernel.getGrid().getBody().front())) {
    drain.cut();
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
