//===- SettleLayouts.cpp - Uses that need another layout ------------------===//
//
// Every use that needs another layout than its value has gets its own: a
// constant or a load of a place is made again, anything else goes through a
// relayout. Before that, what it costs to move: instructions of a wave.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Layouts/Inference.h"
#include "lib/SchedulePasses/Layouts/MmaLayouts.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static TileType tileOf(Value value) {
  return dyn_cast<TileType>(value.getType());
}

template <typename Op>
static OpOperand *rowNumbersOf(Op op) {
  return op.getRows() ? &op.getRowsMutable()[0] : nullptr;
}

OpOperand *modelc::rowNumbersOf(Operation *op) {
  return TypeSwitch<Operation *, OpOperand *>(op)
      .Case<LoadOp, StoreOp, CopyOp>(
          [](auto access) { return ::rowNumbersOf(access); })
      .Default([](Operation *) { return nullptr; });
}

//===----------------------------------------------------------------------===//
// Demands
//===----------------------------------------------------------------------===//

/// Calls `visit` for every operand in registers with the layout that the op
/// reads it in.
void Inference::demands(Operation *op, Visit visit) {
  auto each = [&](OpOperand &use, LayoutAttr layout) {
    if (isRegisterValue(use.get())) {
      visit(use, layout);
    }
  };
  if (auto map = dyn_cast<MapOp>(op)) {
    auto result = cast<TileType>(map.getResult(0).getType());
    LayoutAttr layout = layouts.lookup(map.getResult(0));
    for (OpOperand &use : map->getOpOperands()) {
      each(use, ofInput(layout, tileOf(use.get()), result));
    }
  } else if (auto mma = dyn_cast<MmaOp>(op)) {
    each(mma.getAccumulatorMutable(), ofAccumulator(mma));
    each(mma.getAMutable(), ofA(mma));
    each(mma.getBMutable(), ofB(mma));
    if (readsScalesInRegisters(mma)) {
      each(mma.getAScalesMutable()[0], ofScalesOfA(mma));
      each(mma.getBScalesMutable()[0], ofScalesOfB(mma));
    }
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    bool carries = op->getNumResults() > 0;
    unsigned first = carries ? loop.getInits().getBeginOperandIndex() : 0;
    for (auto [index, result] : llvm::enumerate(loop.getResults())) {
      each(op->getOpOperand(first + index), layouts.lookup(result));
    }
    for (OpOperand &use : loop.getYield()->getOpOperands()) {
      each(use, layouts.lookup(loop.getResult(use.getOperandNumber())));
    }
  } else if (OpOperand *numbers = rowNumbersOf(op)) {
    each(*numbers, ofRowNumbers(numbers->get()));
  }
}

//===----------------------------------------------------------------------===//
// What moving costs
//===----------------------------------------------------------------------===//

static double registersOf(const Layout &layout, TileType tile) {
  return layout.inputSize("register") * tile.getElementBits() / 32.0;
}

/// Neighbours along a dimension that one access of a lane of at most 16 bytes
/// can move: registers in any order, which no lane and no wave shifts.
static int64_t neighbours(const Layout &layout, StringRef name, TileType tile) {
  unsigned index = layout.outputIndex(name);
  int64_t run = 1, most = 128 / tile.getElementBits();
  auto has = [&](StringRef input, int64_t step) {
    return llvm::any_of(
        layout.input(input).bits,
        [&](const Layout::Image &image) { return image[index] == step; });
  };
  while (run < most && has("register", run) && !has("lane", run) &&
         !has("wave", run)) {
    run *= 2;
  }
  return run;
}

/// Accesses of one lane that move a tile to or from memory.
template <typename Op>
static double accesses(Op op, Type memory, TileType tile,
                       const Layout &layout) {
  bool alongRow = true;
  if (auto buffer = dyn_cast<BufferType>(memory)) {
    alongRow = !op.getDims() || (*op.getDims())[1] == buffer.getRank() - 1;
  } else {
    alongRow = !op.getTransposed();
  }
  StringRef name = alongRow ? "column" : "row";
  return double(layout.inputSize("register")) / neighbours(layout, name, tile);
}

/// Reads of one lane from a place: of neighbours of its rows, or of 8 bytes of
/// a column, which the hardware gives lanes that own neighbours of a row. Where
/// registers have neighbours of a column of what rows have brought, each is
/// packed.
static double readsOfPlace(LoadOp load, const Layout &layout,
                           const Target &target) {
  auto tile = cast<TileType>(load.getResult().getType());
  StringRef along = load.getTransposed() ? "row" : "column";
  StringRef across = load.getTransposed() ? "column" : "row";
  constexpr int64_t kRegisterBits = 32;
  int64_t bits = tile.getElementBits();
  int64_t run = neighbours(layout, along, tile);
  double registers = layout.inputSize("register");
  double packed = neighbours(layout, across, tile) > 1 ? double(bits) : 0;
  const SharedMemory &shared = target.shared;
  int64_t lanes = shared.transposedReadLanes;
  if (llvm::is_contained(shared.transposedReadBits, bits) &&
      (lanes == 0 || layout.lanesOwnNeighbours(along, lanes))) {
    packed = 0;
    if (run == 1 && lanes > 0) {
      run = std::min(neighbours(layout, across, tile), 64 / bits);
    }
  }
  return registers / run + registers * packed / kRegisterBits;
}

/// Exchanges across lanes and waves that sum up a dimension.
static double exchanges(ReduceOp reduce, const Layout &from, const Layout &to) {
  constexpr double kAcrossWaves = 8;
  double steps = 0;
  for (const Layout::Image &image : from.input("lane").bits) {
    steps += image[reduce.getDimension()] ? 1 : 0;
  }
  for (const Layout::Image &image : from.input("wave").bits) {
    steps += image[reduce.getDimension()] ? kAcrossWaves : 0;
  }
  return steps * to.inputSize("register");
}

/// Instructions of one wave for what an op itself moves.
double Inference::moves(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (!isRegisterValue(load.getResult())) {
      return 0;
    }
    Type memory = load.getSource().getType();
    const Layout &layout = layouts.lookup(load.getResult()).getLayout();
    auto place = dyn_cast<TileType>(memory);
    if (place && place.getSpace() == Space::Shared) {
      return readsOfPlace(load, layout, target);
    }
    return isa<BufferType>(memory)
               ? accesses(load, memory, tileOf(load.getResult()), layout)
               : 0;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    return isRegisterValue(store.getValue())
               ? accesses(store, store.getDestination().getType(),
                          tileOf(store.getValue()),
                          layouts.lookup(store.getValue()).getLayout())
               : 0;
  }
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce
             ? exchanges(reduce, layouts.lookup(reduce.getValue()).getLayout(),
                         layouts.lookup(reduce.getResult()).getLayout())
             : 0;
}

/// Whether another layout of the value is made again rather than exchanged.
static bool isRemade(Value value, Operation *before) {
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<LoadOp>(op);
  auto source =
      load ? dyn_cast<TileType>(load.getSource().getType()) : TileType();
  return (isa_and_nonnull<MapOp>(op) && op->getNumOperands() == 0) ||
         (source && source.getSpace() == Space::Shared &&
          op->getBlock() == before->getBlock());
}

/// Instructions of one wave that move what the kernel holds: memory, lanes that
/// exchange, values that change their layout.
double Inference::cost() {
  constexpr double kExchange = 2;
  double sum = 0;
  for (auto [op, often] : movers) {
    sum += often * moves(op);
    demands(op, [&](OpOperand &use, LayoutAttr layout) {
      if (layouts.lookup(use.get()) != layout && !isRemade(use.get(), op)) {
        sum += often * kExchange *
               registersOf(layout.getLayout(), tileOf(use.get()));
      }
    });
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Settling: types, and another layout where a use needs it
//===----------------------------------------------------------------------===//

/// A second copy of a value that costs less to make than to exchange.
Value Inference::remake(Value value, TileType type, Operation *before) {
  Operation *op = value.getDefiningOp();
  OpBuilder builder(before);
  if (isRemade(value, before)) {
    builder.setInsertionPointAfter(op);
    Operation *again = builder.clone(*op);
    Value result = again->getResult(
        op->getNumResults() == 1 ? 0 : cast<OpResult>(value).getResultNumber());
    for (Value other : again->getResults()) {
      if (isRegisterValue(other)) {
        other.setType(type);
      }
    }
    return result;
  }
  return RelayoutOp::create(builder, before->getLoc(), type, value, Value());
}

void Inference::demand(OpOperand &use, LayoutAttr layout) {
  Value value = use.get();
  if (layouts.lookup(value) == layout) {
    return;
  }
  TileType type = tileOf(value).with(Space::Register, layout);
  Value other = remake(value, type, use.getOwner());
  layouts[other] = layout;
  use.set(other);
}

/// A reduction leaves its result where the lanes of its input have it; from
/// there it moves.
void Inference::settleReduce(ReduceOp reduce) {
  Value result = reduce.getResult();
  LayoutAttr made = ofReduced(reduce), wanted = layouts.lookup(result);
  if (made == wanted) {
    return;
  }
  OpBuilder builder(reduce->getContext());
  builder.setInsertionPointAfter(reduce);
  auto moved = RelayoutOp::create(builder, reduce.getLoc(),
                                  tileOf(result).with(Space::Register, wanted),
                                  result, Value());
  result.replaceAllUsesExcept(moved, moved);
  layouts[moved.getResult()] = wanted;
  layouts[result] = made;
}

void Inference::settle() {
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      settleReduce(reduce);
    }
  }
  for (Operation *op : ops) {
    demands(op,
            [&](OpOperand &use, LayoutAttr layout) { demand(use, layout); });
  }
  for (Operation *op : ops) {
    if (auto store = dyn_cast<StoreOp>(op)) {
      widenStore(store);
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      widenLoad(load);
    }
  }
  auto settleType = [&](Value value) {
    auto it = layouts.find(value);
    if (it != layouts.end()) {
      value.setType(tileOf(value).with(Space::Register, it->second));
    }
  };
  kernel.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), settleType);
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        llvm::for_each(block.getArguments(), settleType);
      }
    }
  });
}
