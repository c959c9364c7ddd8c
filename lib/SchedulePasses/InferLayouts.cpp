//===- InferLayouts.cpp - Registers for every value -----------------------===//
//
// First every value gets one layout: from the fragments of matrix instructions,
// spread through the ops that keep elements where they are; what is left gets
// vectors along the columns, the largest memory access first. Then every use
// that needs another layout gets its own: a constant or a load of a place is
// made again, anything else goes through a relayout.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/MmaLayouts.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Scratch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static TileType tileOf(Value value) {
  return dyn_cast<TileType>(value.getType());
}

/// Whether the value lives in registers.
static bool isValue(Value value) {
  TileType tile = tileOf(value);
  return tile && !tile.isPlace();
}

/// The operand that says which rows of memory the op touches, or null.
static OpOperand *rowNumbers(Operation *op) {
  auto only = [](MutableOperandRange range) {
    return range.empty() ? nullptr : &range[0];
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    return only(load.getRowsMutable());
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    return only(store.getRowsMutable());
  }
  auto copy = dyn_cast<CopyOp>(op);
  return copy ? only(copy.getRowsMutable()) : nullptr;
}

namespace {
class Inference {
public:
  Inference(KernelOp kernel, const Target &target)
      : kernel(kernel), target(target) {}
  void run();

private:
  void anchorAccumulator(MmaOp mma);
  void anchorOperands(MmaOp mma);
  void anchorProducts();
  void anchorLargest();
  void set(Value value, LayoutAttr layout);
  void spread();
  void spreadForward(Value value, LayoutAttr layout);
  void spreadBackward(Value value, LayoutAttr layout);
  void spreadMap(MapOp map, LayoutAttr layout);
  void spreadLoop(Value value, LayoutAttr layout);
  void settle();
  void settleUses(Operation *op);
  void demand(OpOperand &use, LayoutAttr layout);
  Value remake(Value value, TileType type, Operation *before);
  LayoutAttr attribute(const Layout &layout) const {
    return LayoutAttr::get(kernel->getContext(), layout);
  }
  LayoutAttr ofAccumulator(MmaOp mma) const {
    return attribute(accumulatorLayout(splitOf(mma, target)));
  }
  LayoutAttr ofA(MmaOp mma) const {
    return attribute(operandALayout(splitOf(mma, target)));
  }
  LayoutAttr ofB(MmaOp mma) const {
    Layout layout = operandBLayout(splitOf(mma, target));
    return attribute(mma.getBTransposed() ? layout.transposed() : layout);
  }
  /// Of an input of a map whose result has `layout`.
  LayoutAttr ofInput(LayoutAttr layout, TileType input, TileType result) const {
    return input.getShape() == result.getShape()
               ? layout
               : attribute(layoutOfInput(layout.getLayout(), input, result));
  }
  LayoutAttr ofRowNumbers(Value numbers) {
    return attribute(rowNumbersLayout(
        tileOf(numbers), target.execution.waveSize, kernel.getWaves()));
  }

  KernelOp kernel;
  const Target &target;
  DenseMap<Value, LayoutAttr> layouts;
  SmallVector<Value> worklist;
};
} // namespace

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

/// A product lies where its instruction leaves it, whatever its users wish.
void Inference::set(Value value, LayoutAttr layout) {
  if (!isValue(value) || layouts.contains(value)) {
    return;
  }
  auto mma = value.getDefiningOp<MmaOp>();
  layouts[value] = mma ? ofAccumulator(mma) : layout;
  worklist.push_back(value);
}

/// An accumulator in tensor memory is read and written as its instruction
/// leaves it.
void Inference::anchorAccumulator(MmaOp mma) {
  LayoutAttr layout = ofAccumulator(mma);
  set(mma.getAccumulator(), layout);
  set(mma.getResult(), layout);
  for (Operation *user : mma.getAccumulator().getUsers()) {
    if (auto load = dyn_cast<LoadOp>(user)) {
      set(load.getResult(), layout);
    } else if (auto store = dyn_cast<StoreOp>(user)) {
      set(store.getValue(), layout);
    }
  }
}

void Inference::anchorOperands(MmaOp mma) {
  set(mma.getA(), ofA(mma));
  set(mma.getB(), ofB(mma));
}

/// What is computed from an accumulator keeps its layout, and an operand is
/// exchanged as late as possible: narrow, and after its rows were reduced in
/// place. Only where a row lies in several waves it is gathered first.
void Inference::anchorProducts() {
  auto each = [&](auto visit) {
    kernel.walk([&](MmaOp mma) { visit(mma); });
    spread();
  };
  each([&](MmaOp mma) {
    if ((*mma.getGrid())[1] == 1) {
      anchorAccumulator(mma);
    }
  });
  each([&](MmaOp mma) { anchorOperands(mma); });
  each([&](MmaOp mma) { anchorAccumulator(mma); });
}

/// Vectors of 16 bytes for the largest value without a layout.
void Inference::anchorLargest() {
  Value largest;
  auto size = [](Value value) { return tileOf(value).getNumElements(); };
  auto consider = [&](Value value) {
    if (isValue(value) && !layouts.contains(value) &&
        (!largest || size(value) > size(largest))) {
      largest = value;
    }
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      consider(load.getResult());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      consider(store.getValue());
    }
  });
  if (!largest) {
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        consider(result);
      }
    });
  }
  if (largest) {
    TileType tile = tileOf(largest);
    set(largest,
        attribute(blockedLayout(tile.getRows(), tile.getColumns(),
                                128 / tile.getElementBits(),
                                target.execution.waveSize, kernel.getWaves())));
  }
}

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

void Inference::spreadMap(MapOp map, LayoutAttr layout) {
  auto result = cast<TileType>(map.getResult(0).getType());
  for (Value value : map.getResults()) {
    set(value, layout);
  }
  for (Value input : map.getInputs()) {
    set(input, ofInput(layout, tileOf(input), result));
  }
}

/// What a loop carries keeps its layout from trip to trip.
void Inference::spreadLoop(Value value, LayoutAttr layout) {
  auto spreadIndex = [&](LoopOp loop, unsigned index) {
    set(loop.getInits()[index], layout);
    set(loop.getCarried()[index], layout);
    set(loop.getYield().getValues()[index], layout);
    set(loop.getResult(index), layout);
  };
  if (auto loop = value.getDefiningOp<LoopOp>()) {
    spreadIndex(loop, cast<OpResult>(value).getResultNumber());
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp())) {
      spreadIndex(loop,
                  argument.getArgNumber() - loop.getInductionVars().size());
    }
  }
  for (OpOperand &use : value.getUses()) {
    if (auto loop = dyn_cast<LoopOp>(use.getOwner())) {
      unsigned first = loop.getInits().getBeginOperandIndex();
      spreadIndex(loop, use.getOperandNumber() - first);
    } else if (isa<YieldOp>(use.getOwner()) &&
               isa<LoopOp>(use.getOwner()->getParentOp())) {
      spreadIndex(cast<LoopOp>(use.getOwner()->getParentOp()),
                  use.getOperandNumber());
    }
  }
}

void Inference::spreadForward(Value value, LayoutAttr layout) {
  for (Operation *user : value.getUsers()) {
    if (auto map = dyn_cast<MapOp>(user)) {
      if (tileOf(value).getShape() ==
          cast<TileType>(map.getResult(0).getType()).getShape()) {
        spreadMap(map, layout);
      }
    } else if (auto reduce = dyn_cast<ReduceOp>(user)) {
      StringRef gone = reduce.getDimension() == 0 ? "row" : "column";
      set(reduce.getResult(), attribute(layout.getLayout().reduced(gone)));
    }
  }
}

void Inference::spreadBackward(Value value, LayoutAttr layout) {
  Operation *op = value.getDefiningOp();
  if (auto map = dyn_cast_or_null<MapOp>(op)) {
    spreadMap(map, layout);
  } else if (auto mma = dyn_cast_or_null<MmaOp>(op)) {
    set(mma.getAccumulator(), layout);
  }
}

void Inference::spread() {
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    LayoutAttr layout = layouts[value];
    spreadLoop(value, layout);
    spreadBackward(value, layout);
    spreadForward(value, layout);
  }
}

//===----------------------------------------------------------------------===//
// Settling: types, and another layout where a use needs it
//===----------------------------------------------------------------------===//

/// A second copy of a value that costs less to make than to exchange.
Value Inference::remake(Value value, TileType type, Operation *before) {
  Operation *op = value.getDefiningOp();
  bool constant = isa_and_nonnull<MapOp>(op) && op->getNumOperands() == 0;
  auto load = dyn_cast_or_null<LoadOp>(op);
  auto source =
      load ? dyn_cast<TileType>(load.getSource().getType()) : TileType();
  bool place = source && source.getSpace() == Space::Shared &&
               op->getBlock() == before->getBlock();
  OpBuilder builder(before);
  if (constant || place) {
    builder.setInsertionPointAfter(op);
    Operation *again = builder.clone(*op);
    Value result = again->getResult(
        op->getNumResults() == 1 ? 0 : cast<OpResult>(value).getResultNumber());
    for (Value other : again->getResults()) {
      if (isValue(other)) {
        other.setType(type);
      }
    }
    return result;
  }
  return RelayoutOp::create(builder, before->getLoc(), type, value, Value());
}

void Inference::demand(OpOperand &use, LayoutAttr layout) {
  Value value = use.get();
  if (!isValue(value) || layouts[value] == layout) {
    return;
  }
  TileType type = tileOf(value).with(Space::Register, layout);
  Value other = remake(value, type, use.getOwner());
  layouts[other] = layout;
  use.set(other);
}

void Inference::settleUses(Operation *op) {
  if (auto map = dyn_cast<MapOp>(op)) {
    auto result = cast<TileType>(map.getResult(0).getType());
    LayoutAttr layout = layouts[map.getResult(0)];
    for (OpOperand &use : map->getOpOperands()) {
      demand(use, ofInput(layout, tileOf(use.get()), result));
    }
  } else if (auto mma = dyn_cast<MmaOp>(op)) {
    if (isValue(mma.getAccumulator())) {
      demand(mma.getAccumulatorMutable(), ofAccumulator(mma));
    }
    demand(mma.getAMutable(), ofA(mma));
    demand(mma.getBMutable(), ofB(mma));
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    for (auto [index, use] : llvm::enumerate(loop.getInitsMutable())) {
      if (isValue(use.get())) {
        demand(use, layouts[loop.getResult(index)]);
      }
    }
    for (OpOperand &use : loop.getYield()->getOpOperands()) {
      if (isValue(use.get())) {
        demand(use, layouts[loop.getResult(use.getOperandNumber())]);
      }
    }
  } else if (OpOperand *numbers = rowNumbers(op)) {
    demand(*numbers, ofRowNumbers(numbers->get()));
  }
}

void Inference::settle() {
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    settleUses(op);
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

void Inference::run() {
  anchorProducts();
  kernel.walk([&](Operation *op) {
    if (OpOperand *numbers = rowNumbers(op)) {
      set(numbers->get(), ofRowNumbers(numbers->get()));
    }
  });
  spread();
  for (size_t before = layouts.size() + 1; before != layouts.size();) {
    before = layouts.size();
    anchorLargest();
    spread();
  }
  settle();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult modelc::inferLayouts(KernelOp kernel, const Target &target) {
  Inference(kernel, target).run();
  addScratch(kernel);
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEINFERLAYOUTS
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct InferLayouts : impl::ScheduleInferLayoutsBase<InferLayouts> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            inferLayouts))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
