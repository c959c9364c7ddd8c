//===- PlaceBoxes.cpp - Operands that one instruction copies --------------===//
//
//     arrive %full[%t] {bytes}
//     copy boxes of t to places, each arrives at %full
//     wait on %full[%t]
//     copy scales from their place to tensor memory
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Placement/Places.h"
#include "lib/SchedulePasses/Waits/Waits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// The phase of the loop, made at its first box copy.
static Phase &phaseOf(Places &places, LoopOp loop, OpBuilder &builder,
                      Value trip) {
  Phase &phase = places.ofLoop[loop];
  if (!phase.full) {
    Location loc = loop.getLoc();
    MLIRContext *context = loop.getContext();
    phase.full =
        makeAlloc(places, loc, BarrierType::get(context, 1, 1, Reach::Own));
    phase.arrive = arriveAt(builder, loc, phase.full, trip, ValueRange(),
                            builder.getI64IntegerAttr(0));
    phase.wait = waitOn(builder, loc, phase.full, trip);
    builder.setInsertionPoint(phase.wait);
  }
  return phase;
}

static bool isKnownBefore(Value value, Operation *op) {
  Operation *maker = value.getDefiningOp();
  return !maker || maker->getBlock() != op->getBlock() ||
         maker->isBeforeInBlock(op);
}

/// Whether a value is known before `op` of its block, or can be: numbers that
/// are computed from such ones.
static bool canBeKnownBefore(Value value, Operation *op) {
  if (isKnownBefore(value, op)) {
    return true;
  }
  Operation *maker = value.getDefiningOp();
  return maker->getNumRegions() == 0 && isMemoryEffectFree(maker) &&
         llvm::all_of(maker->getOperands(), [&](Value operand) {
           return canBeKnownBefore(operand, op);
         });
}

static void computeBefore(Value value, Operation *op) {
  if (isKnownBefore(value, op)) {
    return;
  }
  Operation *maker = value.getDefiningOp();
  for (Value operand : maker->getOperands()) {
    computeBefore(operand, op);
  }
  maker->moveBefore(op);
}

/// Computes all that a load asks for before `op` of its block, if possible.
static bool makeKnownBefore(LoadOp load, Operation *op) {
  if (!llvm::all_of(load->getOperands(), [&](Value operand) {
        return canBeKnownBefore(operand, op);
      })) {
    return false;
  }
  for (Value operand : load->getOperands()) {
    computeBefore(operand, op);
  }
  return true;
}

Value modelc::makeBox(Places &places, LoadOp load, LoopOp loop) {
  bool isNew;
  Value place = placeFor(places, load, isNew);
  if (!isNew) {
    return place;
  }
  auto tile = cast<TileType>(load.getResult().getType());
  Location loc = load.getLoc();
  OpBuilder builder(load);
  Operation *wait = places.ofLoop[loop].wait;
  if (wait && makeKnownBefore(load, wait)) {
    builder.setInsertionPoint(wait);
  }
  Value trip = tripOf(builder, loop);
  Phase &phase = phaseOf(places, loop, builder, trip);
  phase.arrive.setBytes(*phase.arrive.getBytes() + tile.getBytes());
  auto copy =
      CopyOp::create(builder, loc, TokenType::get(load.getContext()),
                     load.getSource(), load.getOffsets(), place, trip, Value(),
                     Value(), Value(), load.getValid(), phase.full,
                     load.getDimsAttr(), IntegerAttr(), builder.getUnitAttr(),
                     load->getAttrOfType<UnitAttr>(kMulticast), IntegerAttr());
  if (phase.wait->isBeforeInBlock(copy)) {
    phase.wait->moveAfter(copy);
  }
  return place;
}

Value modelc::scalesInTensor(Places &places, OpBuilder &builder, Value box,
                             Value trip, IntegerAttr workgroups) {
  auto tile = cast<TileType>(box.getType());
  Location loc = locOfPart(box.getLoc(), "in_tensor");
  Value place = makeAlloc(places, loc, tile.with(Space::Tensor, {}));
  CopyOp::create(builder, loc, TokenType::get(loc.getContext()), box, trip,
                 place, ValueRange(), Value(), Value(), Value(), ValueRange(),
                 Value(), DenseI64ArrayAttr(), IntegerAttr(), UnitAttr(),
                 UnitAttr(), workgroups);
  return place;
}
