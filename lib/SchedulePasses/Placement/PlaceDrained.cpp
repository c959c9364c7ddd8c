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
// A product that adds to another one of the trip (keys in parts) does so in the
// same place; the barrier arrives after it.
//
// The sync orders the stores of all waves before the product; the one of the
// ring at the top of the next trip orders their loads before its products.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/Placement/Places.h"
#include "lib/SchedulePasses/Waits/Waits.h"

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

/// The same of what stands between the product and the next trip.
static void changeAfter(Operation *after, MmaOp mma, Value place) {
  MapOp map = changeOf(after);
  OpBuilder builder(map);
  Value sums = loadFromPlace(builder, map.getLoc(),
                             cast<TileType>(mma.getResult().getType()), place);
  Value changed =
      map == after ? mma.getResult() : cast<LoopOp>(after).getCarried()[0];
  changed.replaceAllUsesWith(sums);
  builder.setInsertionPointAfter(map);
  storeToPlace(builder, map.getLoc(), map.getResult(0), place);
  if (auto loop = dyn_cast<LoopOp>(after)) {
    loop.getResult(0).replaceAllUsesWith(loop.getInits()[0]);
    loop.getYield()->setOperand(0, loop.getInits()[0]);
    dropCarried(loop, 0);
    loop.erase();
  }
}

static unsigned indexOfCarried(BlockArgument carried) {
  auto loop = cast<LoopOp>(carried.getOwner()->getParentOp());
  return carried.getArgNumber() - loop.getInductionVars().size();
}

/// A value that the loop carries, in its place from before the loop on; the
/// loop carries it no more.
static LoopOp keepInPlace(LoopOp loop, unsigned index, Value place) {
  OpBuilder builder(loop);
  Value start = loop.getInits()[index];
  storeToPlace(builder, start.getLoc(), start, place);
  loop.getYield()->setOperand(index, start);
  LoopOp shorter = dropCarried(loop, index);
  loop.erase();
  return shorter;
}

/// The sums of the product stay in their place, which is read behind the loop.
static void keepSums(MmaOp mma, Operation *after, unsigned index, Value place) {
  auto loop = cast<LoopOp>(mma->getParentOp());
  TileType type = mma.getAccumulator().getType();
  if (after) {
    changeAfter(after, mma, place);
  }
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  Value sums = loadFromPlace(builder, mma.getLoc(), type, place);
  loop.getResult(index).replaceAllUsesWith(sums);
  mma.getResult().replaceAllUsesWith(loop.getInits()[index]);
  mma.erase();
  keepInPlace(loop, index, place);
}

/// Weights that the loop hands on, stored when the product has read those of
/// the trip before.
static void storeForNext(const Found &found, WaitOp read) {
  auto loop = cast<LoopOp>(read->getParentOp());
  Value next = handedOn(found.carried, read->getBlock());
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(read);
  if (Operation *maker = next.getDefiningOp(); read->isBeforeInBlock(maker)) {
    builder.setInsertionPointAfter(maker);
  }
  storeToPlace(builder, next.getLoc(), next, found.operand);
  keepInPlace(loop, indexOfCarried(found.carried), found.operand);
}

/// Before this op the product must be done, or another one goes on with it.
static Operation *whereNeeded(MmaOp mma) {
  Operation *use = firstUse(mma.getResult(), mma->getBlock());
  return use ? use : *mma.getResult().user_begin();
}

/// A product that adds to one of the same trip: both in the place of the sums,
/// which are read when the second is done.
static void addInPlace(Places &places, MmaOp mma, const MmaRow &row,
                       LoadOp sums) {
  Found a = findOperand(places, mma, mma.getA(), row.aSpace);
  Found b = findOperand(places, mma, mma.getB(), row.bSpace);
  Value place = sums.getSource();
  auto wait = cast<WaitOp>(sums->getPrevNode());
  auto before = *llvm::find_if(place.getUsers(), llvm::IsaPred<MmaOp>);
  auto arrive = cast<ArriveOp>(*before->getResult(0).user_begin());
  meetBefore(mma, {a, b});
  OpBuilder builder(mma);
  Location loc = mma.getLoc();
  Value adds = arith::ConstantIntOp::create(builder, loc, 1, 1);
  auto now = MmaOp::create(builder, loc, TokenType::get(loc.getContext()),
                           place, a.operand, b.operand, a.slot, b.slot, adds,
                           mma.getInstructionAttr(), mma.getGridAttr(),
                           mma.getBTransposedAttr(), builder.getUnitAttr());
  arrive->moveAfter(now);
  arrive.getAfterMutable().assign(now.getResult());
  wait->moveBefore(whereNeeded(mma));
  sums->moveAfter(wait);
  mma.getResult().replaceAllUsesWith(sums.getResult());
  mma.erase();
}

void modelc::placeDrained(Places &places, MmaOp mma, const MmaRow &row) {
  if (auto sums = mma.getAccumulator().getDefiningOp<LoadOp>()) {
    addInPlace(places, mma, row, sums);
    return;
  }
  Location loc = mma.getLoc();
  LoopOp loop = sequenceAround(mma);
  BlockArgument carried = carriedAccumulator(mma);
  Value accumulator = mma.getAccumulator();
  auto type = cast<TileType>(accumulator.getType());
  Value place = makeAlloc(places, loc, type.with(Space::Tensor, {}));
  Value done = makeAlloc(places, locOfPart(loc, "done"),
                         BarrierType::get(loc.getContext(), 1, 1, Reach::Own));
  Operation *after =
      carried && carried == accumulator ? changedAfter(mma) : nullptr;
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
  now.setWorkgroupsAttr(mma.getWorkgroupsAttr());
  Value trip = tripOf(builder, loop);
  arriveAt(builder, loc, done, trip, now.getResult());
  builder.setInsertionPoint(whereNeeded(mma));
  WaitOp wait = waitOn(builder, loc, done, trip);
  unsigned index = carried ? indexOfCarried(carried) : 0;
  if (a.carried) {
    index -= indexOfCarried(a.carried) < index;
    storeForNext(a, wait);
  }
  if (carried) {
    keepSums(mma, after, index, place);
    return;
  }
  builder.setInsertionPointAfter(wait);
  mma.getResult().replaceAllUsesWith(loadFromPlace(builder, loc, type, place));
  mma.erase();
  if (Operation *zero = accumulator.getDefiningOp(); zero->use_empty()) {
    zero->erase();
  }
}
