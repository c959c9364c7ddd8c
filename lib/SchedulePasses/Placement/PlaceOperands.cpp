//===- PlaceOperands.cpp - Loads of an mma become copy, place and load ----===//
//
// Three forms, by what the instruction reads:
//   registers        copy, wait, sync, load           (a wave multiplies)
//                    or just a load, for LoadAhead     (`ahead`)
//   shared memory    arrive, box copies, wait on      (four waves together)
//   and tensor       the same; the accumulator is a   (one thread for all)
//                    place that is drained once
// How boxes come to their places: PlaceBoxes.cpp. Where no box fetches what is
// read, lanes copy it: PlaceByLanes.cpp; where waves read tensor memory every
// trip: PlaceDrained.cpp. Nothing runs ahead yet: slots and prefetch are the
// work of the pipeline.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/Placement/Places.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

LoopOp modelc::sequenceAround(Operation *op) {
  auto loop = dyn_cast<LoopOp>(op->getParentOp());
  return loop && loop.getKind() == LoopKind::Sequence ? loop : LoopOp();
}

Value modelc::tripOf(OpBuilder &builder, LoopOp loop) {
  Value index = loop.getInductionVars()[0];
  if (loop.getSteps().empty()) {
    return index;
  }
  Location loc = loop.getLoc();
  Value from =
      arith::SubIOp::create(builder, loc, index, loop.getLowerBounds()[0]);
  return arith::DivSIOp::create(builder, loc, from, loop.getSteps()[0]);
}

Location modelc::locOfPart(Location whole, StringRef part) {
  auto name = dyn_cast<NameLoc>(whole);
  if (!name) {
    return whole;
  }
  return NameLoc::get(StringAttr::get(whole.getContext(),
                                      name.getName().getValue() + "_" + part));
}

Value modelc::makeAlloc(Places &places, Location loc, Type type) {
  OpBuilder builder(places.kernel.getContext());
  Operation *grid = places.kernel.getGrid();
  builder.setInsertionPoint(grid);
  return AllocOp::create(builder, loc, type);
}

//===----------------------------------------------------------------------===//
// Which loads go through shared memory
//===----------------------------------------------------------------------===//

/// The loads of global memory in the same loop that an operand is mapped from.
static void collectLoads(Value operand, LoopOp loop,
                         SmallVectorImpl<LoadOp> &loads) {
  Operation *op = operand.getDefiningOp();
  if (!op || op->getParentOp() != loop) {
    return;
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto tile = dyn_cast<TileType>(load.getResult().getType());
    if (tile && isa<BufferType>(load.getSource().getType()) &&
        tile.getRows() > 1 && tile.getColumns() > 1) {
      loads.push_back(load);
    }
  } else if (auto map = dyn_cast<MapOp>(op)) {
    for (Value input : map.getInputs()) {
      collectLoads(input, loop, loads);
    }
  }
}

Value modelc::placeFor(Places &places, LoadOp load, bool &isNew) {
  Value &place = places.ofLoad[load];
  isNew = !place;
  if (isNew) {
    auto tile = cast<TileType>(load.getResult().getType());
    place = makeAlloc(places, load.getLoc(), tile.with(Space::Shared, {}));
  }
  return place;
}

CopyOp modelc::copyByLanes(OpBuilder &builder, LoadOp load, Value place,
                           ValueRange trip) {
  return CopyOp::create(
      builder, load.getLoc(), TokenType::get(load.getContext()),
      load.getSource(), load.getOffsets(), place, trip, load.getRows(),
      load.getPageTable(), load.getSequence(), load.getValid(), Value(),
      load.getDimsAttr(), load.getPageSizeAttr(), UnitAttr(), UnitAttr(),
      IntegerAttr());
}

Value modelc::makePlace(Places &places, LoadOp load, LoopOp loop) {
  bool isNew;
  Value place = placeFor(places, load, isNew);
  if (isNew) {
    OpBuilder builder(load);
    CopyOp copy = copyByLanes(builder, load, place, tripOf(builder, loop));
    waitTokens(builder, load.getLoc(), copy.getToken());
    SyncOp::create(builder, load.getLoc(), Scope::Workgroup);
  }
  return place;
}

/// Replaces a load of global memory by one of a place in shared memory.
static void loadThroughPlace(Places &places, LoadOp load, LoopOp loop) {
  Value place = makePlace(places, load, loop);
  OpBuilder builder(load);
  auto read = LoadOp::create(builder, load.getLoc(), load.getResult().getType(),
                             place, tripOf(builder, loop));
  load.getResult().replaceAllUsesWith(read.getResult());
}

/// Turns the K x N operand of `mma` into a transposed load of its place.
static void transposeOperand(MmaOp mma) {
  auto load = mma.getB().getDefiningOp<LoadOp>();
  if (!mma.getBTransposed() || !load ||
      !isa<TileType>(load.getSource().getType())) {
    return;
  }
  OpBuilder builder(mma);
  auto type = load.getResult().getType();
  auto tile = cast<TileType>(type);
  auto read = LoadOp::create(
      builder, load.getLoc(),
      TileType::get({tile.getColumns(), tile.getRows()}, tile.getElementType()),
      load.getSource(), load.getOffsets());
  read.setTransposed(true);
  mma.getBMutable().assign(read.getResult());
  mma.setBTransposed(false);
  if (load.getResult().use_empty()) {
    load.erase();
  }
}

void modelc::readThroughPlaces(Places &places, Value operand, LoopOp loop) {
  SmallVector<LoadOp> loads;
  collectLoads(operand, loop, loads);
  for (LoadOp load : loads) {
    if (isCopyable(load, places.target)) {
      loadThroughPlace(places, load, loop);
    }
  }
}

/// An operand in registers: through shared memory where the loop reads it anew
/// every trip, straight from global memory where it is read once. Scales are
/// fewer than a copy of the lanes of two groups of waves, of which the second
/// would write again what the first has read: those are loaded.
static void placeInRegisters(Places &places, MmaOp mma) {
  if (LoopOp loop = sequenceAround(mma)) {
    readThroughPlaces(places, mma.getA(), loop);
    readThroughPlaces(places, mma.getB(), loop);
    int64_t groups = mma->getParentOfType<KernelOp>().getStagger().value_or(1);
    if (mma.getAScales() && groups == 1) {
      readThroughPlaces(places, mma.getAScales(), loop);
      readThroughPlaces(places, mma.getBScales(), loop);
    }
  }
  transposeOperand(mma);
}

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

LoopOp modelc::dropCarried(LoopOp loop, unsigned index) {
  SmallVector<Value> inits(loop.getInits());
  inits.erase(inits.begin() + index);
  OpBuilder builder(loop);
  auto shorter = LoopOp::create(builder, loop.getLoc(), loop.getLowerBounds(),
                                loop.getUpperBounds(), loop.getSteps(), inits);
  shorter.setExpectAttr(loop.getExpectAttr());
  Block &from = loop.getBody().front(), &to = shorter.getBody().front();
  from.getArgument(1 + index).dropAllUses();
  SmallVector<Value> arguments(to.getArguments());
  arguments.insert(arguments.begin() + 1 + index, nullptr);
  for (auto [old, now] : llvm::zip_equal(from.getArguments(), arguments)) {
    if (now) {
      now.setLoc(old.getLoc());
      old.replaceAllUsesWith(now);
    }
  }
  if (inits.empty()) {
    to.getTerminator()->erase();
  }
  to.getOperations().splice(to.end(), from.getOperations());
  auto yield = cast<YieldOp>(to.getTerminator());
  yield.getValuesMutable().erase(index);
  for (unsigned i = 0, next = 0; i < loop.getNumResults(); ++i) {
    if (i != index) {
      loop.getResult(i).replaceAllUsesWith(shorter.getResult(next++));
    }
  }
  return shorter;
}

/// What a product reads beside its accumulator.
struct Operands {
  Value a, b, aScales, bScales;
};

/// The accumulator as a place in tensor memory, drained after the loop.
static void accumulateInTensor(Places &places, MmaOp mma, Operands boxes,
                               LoopOp loop) {
  auto argument = cast<BlockArgument>(mma.getAccumulator());
  unsigned index = argument.getArgNumber() - 1;
  TileType type = mma.getAccumulator().getType();
  Location loc = mma.getLoc();
  Value place = makeAlloc(places, loc, type.with(Space::Tensor, {}));
  OpBuilder builder(mma);
  Value trip = tripOf(builder, loop);
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  Location accumulates =
      NameLoc::get(builder.getStringAttr("accumulates"), loc);
  Value later = arith::CmpIOp::create(builder, accumulates,
                                      arith::CmpIPredicate::sgt, trip, first);
  Value aScales, bScales;
  if (boxes.aScales) {
    IntegerAttr workgroups = mma.getWorkgroupsAttr();
    aScales = scalesInTensor(places, builder, boxes.aScales, trip, workgroups);
    bScales = scalesInTensor(places, builder, boxes.bScales, trip, workgroups);
  }
  auto now = MmaOp::create(builder, loc, TokenType::get(mma.getContext()),
                           place, boxes.a, boxes.b, trip, trip, later,
                           mma.getInstructionAttr(), mma.getGridAttr(),
                           UnitAttr(), builder.getUnitAttr());
  now.setWorkgroupsAttr(mma.getWorkgroupsAttr());
  if (aScales) {
    now.getAScalesMutable().assign(aScales);
    now.getBScalesMutable().assign(bScales);
  }
  builder.setInsertionPointAfter(loop);
  auto drained = LoadOp::create(builder, loc, type, place, ValueRange());
  loop.getResult(index).replaceAllUsesWith(drained.getResult());
  mma.getResult().dropAllUses();
  // The yield still names the old result: it goes with the carried value.
  mma.getResult().replaceAllUsesWith(argument);
  Operation *yield = loop.getYield();
  yield->setOperand(index, loop.getInits()[index]);
  mma.erase();
  Operation *zero = loop.getInits()[index].getDefiningOp();
  LoopOp shorter = dropCarried(loop, index);
  places.ofLoop[shorter] = places.ofLoop.lookup(loop);
  loop.erase();
  if (zero->use_empty()) {
    zero->erase();
  }
}

static void placeInShared(Places &places, MmaOp mma, const MmaRow &row) {
  LoopOp loop = sequenceAround(mma);
  auto boxOf = [&](Value operand) {
    return operand ? makeBox(places, operand.getDefiningOp<LoadOp>(), loop)
                   : Value();
  };
  Value placeA = boxOf(mma.getA()), placeB = boxOf(mma.getB());
  Value aScales = boxOf(mma.getAScales()), bScales = boxOf(mma.getBScales());
  if (row.cSpace == OperandSpace::Tensor) {
    accumulateInTensor(places, mma, {placeA, placeB, aScales, bScales}, loop);
  } else {
    OpBuilder builder(mma);
    Value trip = tripOf(builder, loop);
    auto now = MmaOp::create(
        builder, mma.getLoc(), mma.getResult().getType(), mma.getAccumulator(),
        placeA, placeB, trip, trip, Value(), mma.getInstructionAttr(),
        mma.getGridAttr(), UnitAttr(), builder.getUnitAttr());
    mma.getResult().replaceAllUsesWith(now.getResult());
    mma.erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult modelc::placeOperands(KernelOp kernel, const Target &target) {
  SmallVector<MmaOp> mmas;
  kernel.walk([&](MmaOp mma) { mmas.push_back(mma); });
  Places places(kernel, target);
  // Before any of them loses its loads.
  for (MmaOp mma : mmas) {
    if (isFedByBoxes(mma, target)) {
      places.fedByBoxes.insert(mma);
    }
  }
  for (MmaOp mma : mmas) {
    const MmaRow *row = target.instruction(mma.getInstruction().value_or(""));
    if (!row) {
      return mma.emitOpError("expected an instruction of '")
             << target.identity.name
             << "', got none; run schedule-choose-instruction first";
    }
    if (row->bSpace != OperandSpace::Shared) {
      placeInRegisters(places, mma);
    } else if (row->aSpace == OperandSpace::Shared &&
               places.fedByBoxes.contains(mma) && isCarriedFromZero(mma)) {
      placeInShared(places, mma, *row);
    } else if (row->cSpace == OperandSpace::Tensor) {
      placeDrained(places, mma, *row);
    } else {
      placeByLanes(places, mma, *row);
    }
  }
  // Loads whose every reader now reads a place.
  for (auto &[load, place] : places.ofLoad) {
    if (load->use_empty()) {
      load->erase();
    }
  }
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEPLACEOPERANDS
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct PlaceOperands : impl::SchedulePlaceOperandsBase<PlaceOperands> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            placeOperands))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
