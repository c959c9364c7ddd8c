//===- PlaceDrained.cpp - Products into tensor memory, read every trip ----===//
//
// One thread multiplies into tensor memory; a barrier says when the product of
// the trip is done, and the waves read it. A value that the waves have computed
// reaches the next product through shared memory. Sums that the loop carries
// stay where they are; where a map changes them on their way, waves load them,
// change them and store them back:
//
//     %s0 = mma %S, %Q, %K[%t] init(false)   arrive %done[%t] after(%s0)
//     wait on %done[%t]
//     %s = load %S                           ... %p, %decay from %s ...
//     store %p, %P
//     %old = load %O   %new = map(%old, %decay)   store %new, %O
//     sync
//     %o0 = mma %O, %P, %V[%t]               arrive %summed[%t] after(%o0)
//     wait on %summed[%t]
//
// The sync orders the stores of all waves before the product; the one of the
// ring at the top of the next trip orders their loads before its products.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/OperandSource.h"
#include "lib/SchedulePasses/Places.h"
#include "lib/SchedulePasses/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static Value loadFromPlace(OpBuilder &builder, Location loc, TileType type,
                           Value place) {
  return LoadOp::create(builder, loc, type, place, ValueRange()).getResult();
}

/// The map between the carried sums and the product becomes one of the place.
static void changeInPlace(MmaOp mma, BlockArgument carried, Value place) {
  TileType type = mma.getAccumulator().getType();
  if (mma.getAccumulator() == carried) {
    return;
  }
  Operation *map = mma.getAccumulator().getDefiningOp();
  OpBuilder builder(map);
  Value old = loadFromPlace(builder, map->getLoc(), type, place);
  carried.replaceAllUsesWith(old);
  builder.setInsertionPointAfter(map);
  storeToPlace(builder, map->getLoc(), mma.getAccumulator(), place);
}

/// Zeros before the loop, the sums after it; the loop carries them no more.
static void keepInPlace(MmaOp mma, BlockArgument carried, Value place) {
  auto loop = cast<LoopOp>(mma->getParentOp());
  unsigned index = carried.getArgNumber() - loop.getInductionVars().size();
  Location loc = mma.getLoc();
  OpBuilder builder(loop);
  Value zero = loop.getInits()[index];
  storeToPlace(builder, loc, zero, place);
  builder.setInsertionPointAfter(loop);
  Value sums =
      loadFromPlace(builder, loc, mma.getAccumulator().getType(), place);
  loop.getResult(index).replaceAllUsesWith(sums);
  loop.getYield()->setOperand(index, zero);
  mma.erase();
  dropCarried(loop, index);
  loop.erase();
}

void modelc::placeDrained(Places &places, MmaOp mma, const MmaRow &row) {
  Location loc = mma.getLoc();
  LoopOp loop = sequenceAround(mma);
  BlockArgument carried = carriedAccumulator(mma);
  Value accumulator = mma.getAccumulator();
  auto type = cast<TileType>(accumulator.getType());
  Value place = makeAlloc(places, loc, type.with(Space::Tensor, {}));
  Value done = makeAlloc(places, locOfPart(loc, "done"),
                         BarrierType::get(loc.getContext(), 1, 1, Reach::Own));
  if (carried) {
    changeInPlace(mma, carried, place);
  }
  Found a = findOperand(places, mma, mma.getA(), row.aSpace);
  Found b = findOperand(places, mma, mma.getB(), row.bSpace);
  OpBuilder builder(mma);
  // Sums that waves have stored are one more operand.
  bool isChanged = carried && carried != accumulator;
  meetBefore(mma, {a, b, {accumulator, Value(), isChanged}});
  Value fresh;
  if (!carried) {
    fresh = arith::ConstantIntOp::create(builder, loc, 0, 1);
  }
  auto now = MmaOp::create(builder, loc, TokenType::get(loc.getContext()),
                           place, a.operand, b.operand, a.slot, b.slot, fresh,
                           mma.getInstructionAttr(), mma.getGridAttr(),
                           mma.getBTransposedAttr(), builder.getUnitAttr());
  Value trip = tripOf(builder, loop);
  arriveAt(builder, loc, done, trip, now.getResult());
  waitOn(builder, loc, done, trip);
  if (carried) {
    keepInPlace(mma, carried, place);
  } else {
    mma.getResult().replaceAllUsesWith(
        loadFromPlace(builder, loc, type, place));
    mma.erase();
    if (Operation *zero = accumulator.getDefiningOp(); zero->use_empty()) {
      zero->erase();
    }
  }
}
