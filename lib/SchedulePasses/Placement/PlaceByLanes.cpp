//===- PlaceByLanes.cpp - Products that read what lanes have copied -------===//
//
// What no box can fetch (pages, gathered rows, limits that live on the device)
// all lanes copy, in the swizzle that the matrix unit reads. An operand of the
// loop gets a ring as for a product of waves; one from outside a place that is
// filled once. The product runs beside the waves until its result is used:
//
//     copy %k to %K[%t]   wait   sync
//     %s = mma %zero, %Q, %K[%t] {asynchronous}
//     wait {queue = matrix, pending = 0}
//     ... %s ...
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/Placement/Places.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// A place that is filled where the load stands. Who reads it waits.
static Value makePlaceOnce(Places &places, LoadOp load) {
  bool isNew;
  Value place = placeFor(places, load, isNew);
  if (!isNew) {
    return place;
  }
  OpBuilder builder(load);
  if (isRepeated(load)) {
    // The reads of the previous run.
    SyncOp::create(builder, load.getLoc(), Scope::Workgroup);
  }
  copyByLanes(builder, load, place, ValueRange());
  return place;
}

/// A place that waves fill when they have computed the value. Who reads it
/// waits for the others.
static Value makeStoredPlace(Places &places, Value value, Space space) {
  Location loc = value.getLoc();
  auto tile = cast<TileType>(value.getType());
  Value place = makeAlloc(places, loc, tile.with(space, {}));
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  storeToPlace(builder, loc, value, place);
  return place;
}

void modelc::storeToPlace(OpBuilder &builder, Location loc, Value value,
                          Value place) {
  StoreOp::create(builder, loc, value, place, ValueRange(), Value(), Value(),
                  Value(), ValueRange(), Value(), DenseI64ArrayAttr(),
                  IntegerAttr(), UnitAttr(), UnitAttr());
}

Found modelc::findOperand(Places &places, MmaOp mma, Value operand,
                          OperandSpace space) {
  if (space == OperandSpace::Register) {
    return {operand, Value()};
  }
  auto load = operand.getDefiningOp<LoadOp>();
  LoopOp loop = sequenceAround(mma);
  Space stored = space == OperandSpace::Tensor ? Space::Tensor : Space::Shared;
  if (handedOn(operand, mma->getBlock()) != operand) {
    auto tile = cast<TileType>(operand.getType());
    Value place = makeAlloc(places, operand.getLoc(), tile.with(stored, {}));
    return {place, Value(), /*isStored=*/false, cast<BlockArgument>(operand)};
  }
  if (!load) {
    readThroughPlaces(places, operand, loop);
    return {makeStoredPlace(places, operand, stored), Value(),
            /*isStored=*/true};
  }
  if (load->getParentOp() != loop) {
    return {makePlaceOnce(places, load), Value()};
  }
  OpBuilder builder(mma);
  Value place = places.fedByBoxes.contains(mma) ? makeBox(places, load, loop)
                                                : makePlace(places, load, loop);
  return {place, tripOf(builder, loop)};
}

void modelc::meetBefore(MmaOp mma, ArrayRef<Found> operands) {
  OpBuilder builder(mma);
  bool isStored =
      llvm::any_of(operands, [](const Found &found) { return found.isStored; });
  // The rendezvous of a ring stands before all that the trip reads.
  bool hasRing =
      llvm::any_of(mma->getBlock()->getOps<CopyOp>(),
                   [](CopyOp copy) { return !copy.getSlot().empty(); });
  if (!hasRing) {
    waitQueue(builder, mma.getLoc(), Queue::Copies);
  }
  if (!hasRing || isStored) {
    SyncOp::create(builder, mma.getLoc(), Scope::Workgroup);
  }
}

Operation *modelc::firstUse(Value result, Block *block) {
  Operation *first = block->getTerminator();
  for (OpOperand &use : result.getUses()) {
    auto mma = dyn_cast<MmaOp>(use.getOwner());
    if (mma && mma->getBlock() == block && mma.getAccumulator() == result) {
      return nullptr;
    }
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (user && user->isBeforeInBlock(first)) {
      first = user;
    }
  }
  return first;
}

/// Products that are asked for behind `mma` and before `use`: they fly on.
static int64_t productsBetween(MmaOp mma, Operation *use) {
  return llvm::count_if(mma->getBlock()->getOps<MmaOp>(), [&](MmaOp other) {
    return mma->isBeforeInBlock(other) && other->isBeforeInBlock(use);
  });
}

void modelc::placeByLanes(Places &places, MmaOp mma, const MmaRow &row) {
  Location loc = mma.getLoc();
  Found a = findOperand(places, mma, mma.getA(), row.aSpace);
  Found b = findOperand(places, mma, mma.getB(), row.bSpace);
  OpBuilder builder(mma);
  meetBefore(mma, {a, b});
  auto now = MmaOp::create(
      builder, loc, mma.getResult().getType(), mma.getAccumulator(), a.operand,
      b.operand, a.slot, b.slot, Value(), mma.getInstructionAttr(),
      mma.getGridAttr(), mma.getBTransposedAttr(), builder.getUnitAttr());
  mma.getResult().replaceAllUsesWith(now.getResult());
  mma.erase();
  if (Operation *use = firstUse(now.getResult(), now->getBlock())) {
    builder.setInsertionPoint(use);
    waitQueue(builder, loc, Queue::Matrix, productsBetween(now, use));
  }
}
