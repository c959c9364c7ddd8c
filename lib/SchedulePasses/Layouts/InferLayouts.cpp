//===- InferLayouts.cpp - Registers for every value -----------------------===//
//
// Every value gets one layout: from the fragments of matrix instructions,
// spread through the ops that keep elements where they are; what is left gets
// vectors along the columns, the largest memory access first. Operands of a
// product are exchanged where all that is then moved is less.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Layouts/Inference.h"
#include "lib/SchedulePasses/Layouts/MmaLayouts.h"
#include "lib/SchedulePasses/Layouts/Scratch.h"
#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static TileType tileOf(Value value) {
  return dyn_cast<TileType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

/// A product lies where its instruction leaves it, whatever its users wish.
void Inference::set(Value value, LayoutAttr layout) {
  if (!isRegisterValue(value) || layouts.contains(value)) {
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
  MmaSplit split = splitOf(mma, target);
  set(mma.getAccumulator(), layout);
  set(mma.getResult(), layout);
  for (Operation *user : mma.getAccumulator().getUsers()) {
    if (auto load = dyn_cast<LoadOp>(user)) {
      set(load.getResult(),
          attribute(drainLayout(split, tileOf(load.getResult()))));
    } else if (auto store = dyn_cast<StoreOp>(user)) {
      set(store.getValue(),
          attribute(drainLayout(split, tileOf(store.getValue()))));
    }
  }
}

/// An operand in tensor memory lies in lanes as the accumulator does.
void Inference::anchorInTensor(MmaOp mma) {
  MmaSplit split = splitOf(mma, target);
  for (Operation *user : mma.getA().getUsers()) {
    if (auto store = dyn_cast<StoreOp>(user)) {
      set(store.getValue(),
          attribute(drainLayout(split, tileOf(store.getValue()))));
    }
  }
}

void Inference::anchorOperands(MmaOp mma) {
  if (mma.getA().getType().getSpace() == Space::Tensor) {
    anchorInTensor(mma);
  }
  set(mma.getA(), ofA(mma));
  set(mma.getB(), ofB(mma));
  if (readsScalesInRegisters(mma)) {
    set(mma.getAScales(), ofScalesOfA(mma));
    set(mma.getBScales(), ofScalesOfB(mma));
  }
}

/// What is computed from an accumulator keeps its layout, and an operand is
/// exchanged as late as possible: narrow, and after its rows were reduced in
/// place. Only where a row lies in several waves it is gathered first.
void Inference::anchorProducts() {
  for (MmaOp mma : products) {
    if ((*mma.getGrid())[1] == 1) {
      anchorAccumulator(mma);
    }
  }
  spread();
  llvm::for_each(products, [&](MmaOp mma) { anchorOperands(mma); });
  spread();
  llvm::for_each(products, [&](MmaOp mma) { anchorAccumulator(mma); });
  spread();
}

/// Vectors of 16 bytes for each value that has no layout when its turn comes.
void Inference::anchorInVectors(ArrayRef<Value> largestFirst) {
  for (Value value : largestFirst) {
    if (layouts.contains(value)) {
      continue;
    }
    TileType tile = tileOf(value);
    set(value,
        attribute(blockedLayout(tile.getRows(), tile.getColumns(),
                                std::max(1u, 128 / tile.getElementBits()),
                                target.execution.waveSize, kernel.getWaves())));
    spread();
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

/// Of the result, where the lanes that hold the input have it.
LayoutAttr Inference::ofReduced(ReduceOp reduce) {
  StringRef gone = reduce.getDimension() == 0 ? "row" : "column";
  return attribute(layouts.lookup(reduce.getValue()).getLayout().reduced(gone));
}

void Inference::spreadForward(Value value, LayoutAttr layout) {
  for (Operation *user : value.getUsers()) {
    if (auto map = dyn_cast<MapOp>(user)) {
      if (tileOf(value).getShape() ==
          cast<TileType>(map.getResult(0).getType()).getShape()) {
        spreadMap(map, layout);
      }
    } else if (auto reduce = dyn_cast<ReduceOp>(user)) {
      set(reduce.getResult(), ofReduced(reduce));
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
// The order of operands
//===----------------------------------------------------------------------===//

void Inference::infer() {
  layouts.clear();
  anchorProducts();
  for (Value numbers : rowNumbers) {
    set(numbers, ofRowNumbers(numbers));
  }
  spread();
  anchorInVectors(accessed);
  anchorInVectors(values);
}

/// Exchanges the operands of all products that allow it, with as many runs of a
/// lane side by side as make the moves cheapest; none of equals. First all
/// alike, because what one leaves is often what the next reads, then each for
/// itself: one may be read along columns, and the other one be stored.
void Inference::chooseOrders() {
  constexpr int64_t kMostRuns = 4; // 16 numbers of 8 bits of an operand
  SmallVector<std::pair<MmaOp, int64_t>> allowing;
  for (MmaOp mma : products) {
    int64_t most = splitOf(mma, target).mostExchanged();
    if (most > 0 && !mma.getExchanged()) {
      allowing.push_back({mma, most});
    }
  }
  if (allowing.empty()) {
    return;
  }
  infer();
  double least = cost();
  /// The number of runs that makes moves cheaper than they are, if any does.
  auto choose = [&](MutableArrayRef<std::pair<MmaOp, int64_t>> some) {
    std::optional<int64_t> best = some.front().first.getExchanged();
    auto exchange = [&](std::optional<int64_t> runs) {
      for (auto [mma, most] : some) {
        mma.setExchanged(runs ? std::optional(std::min(*runs, most)) : runs);
      }
    };
    // More runs than any of them allows are tried already.
    int64_t most = 0;
    for (auto [mma, own] : some) {
      most = std::max(most, own);
    }
    for (int64_t runs = 1; runs <= kMostRuns && runs < 2 * most; runs *= 2) {
      exchange(runs);
      infer();
      if (double own = cost(); own < least) {
        least = own;
        best = runs;
      }
    }
    exchange(best);
  };
  choose(allowing);
  if (allowing.front().first.getExchanged() && allowing.size() > 1) {
    for (auto &product : allowing) {
      choose(product);
    }
  }
}

/// Whether numbers are converted to those of a tile.
static bool isConverted(Value tile) {
  auto map = tile.getDefiningOp<MapOp>();
  auto bits = [](Value value) {
    return cast<TileType>(value.getType()).getElementBits();
  };
  return map && llvm::any_of(map.getInputs(), [&](Value input) {
           return bits(input) < bits(tile);
         });
}

/// Whether a tile is read across the rows of its place, number by number.
static bool isReadAcross(Value tile, const Target &target) {
  auto load = tile.getDefiningOp<LoadOp>();
  return load && load.getTransposed() &&
         !llvm::is_contained(
             target.shared.transposedReadBits,
             int64_t(cast<TileType>(tile.getType()).getElementBits()));
}

/// Interleaves the columns of products that convert their second operand or
/// read it across, each for itself, where that makes the moves cheaper: of
/// narrow numbers a lane reads neighbours then, not single ones.
void Inference::chooseInterleaving() {
  constexpr int64_t kMostInterleaved = 4;
  SmallVector<std::pair<MmaOp, int64_t>> allowing;
  for (MmaOp mma : products) {
    int64_t most = splitOf(mma, target).mostInterleaved();
    if (most > 1 &&
        (isConverted(mma.getB()) || isReadAcross(mma.getB(), target))) {
      allowing.push_back({mma, std::min(most, kMostInterleaved)});
    }
  }
  for (auto [mma, most] : allowing) {
    infer();
    double least = cost();
    std::optional<int64_t> best;
    for (int64_t fragments = 2; fragments <= most; fragments *= 2) {
      mma.setInterleaved(fragments);
      infer();
      if (double own = cost(); own < least) {
        least = own;
        best = fragments;
      }
    }
    mma.setInterleaved(best);
  }
}

void Inference::run() {
  chooseOrders();
  chooseInterleaving();
  infer();
  settle();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Layouts of registers are linear over bits.
static LogicalResult checkExtents(KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    for (Value value : op->getResults()) {
      if (isRegisterValue(value) &&
          !llvm::isPowerOf2_64(
              cast<TileType>(value.getType()).getNumElements())) {
        return WalkResult(
            op->emitOpError("expected powers of two as the extents of a tile "
                            "in registers, got ")
            << value.getType() << "; use several tiles side by side");
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult modelc::inferLayouts(KernelOp kernel, const Target &target) {
  if (failed(checkExtents(kernel))) {
    return failure();
  }
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
