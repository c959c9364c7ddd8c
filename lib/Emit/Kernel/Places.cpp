//===- Places.cpp - Rings and the trips that index them -------------------===//
//
// A ring is indexed by the logical trip number. Where copies of lanes land in
// shared memory one behind the other and are counted, the device compiler
// tracks them itself, by object: an index that it cannot see makes it wait for
// all of them. There every slot is an object of its own, and loops over a ring
// are unrolled by the number of slots.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Kernel/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

bool modelc::slotsLieApart(const Target &target) {
  return target.copy.completion == Completion::Counted &&
         target.copy.laneContiguous;
}

/// Whether a trip is the variable of the loop, or that plus a constant.
static bool isTripOf(Value trip, Value variable) {
  if (trip == variable) {
    return true;
  }
  Operation *op = trip.getDefiningOp();
  APInt constant;
  return op && isa<arith::AddIOp, arith::SubIOp>(op) &&
         matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
         isTripOf(op->getOperand(0), variable);
}

/// f(ring, trip) for every index of a ring below an op.
static void forEachRingIndex(Operation *root,
                             llvm::function_ref<void(TileType, Value)> f) {
  auto note = [&](Value place, Value trip) {
    auto tile = dyn_cast<TileType>(place.getType());
    if (trip && tile && tile.getSpace() == Space::Shared &&
        tile.getSlots() > 1) {
      f(tile, trip);
    }
  };
  auto first = [](ValueRange values) {
    return values.empty() ? Value() : values[0];
  };
  root->walk([&](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<LoadOp>([&](LoadOp load) {
          note(load.getSource(), first(load.getOffsets()));
        })
        .Case<StoreOp>([&](StoreOp store) {
          note(store.getDestination(), first(store.getOffsets()));
        })
        .Case<CopyOp>([&](CopyOp copy) {
          note(copy.getDestination(), first(copy.getSlot()));
        })
        .Case<MmaOp>([&](MmaOp mma) {
          note(mma.getA(), mma.getASlot());
          note(mma.getB(), mma.getBSlot());
        });
  });
}

int64_t modelc::tripsWrittenOut(LoopOp loop, const Target &target) {
  int64_t slots = 1;
  if (!slotsLieApart(target)) {
    return slots;
  }
  forEachRingIndex(loop, [&](TileType ring, Value trip) {
    if (isTripOf(trip, loop.getInductionVars()[0])) {
      slots = std::lcm(slots, ring.getSlots());
    }
  });
  return slots;
}

/// `ring[step + 2]`: with the constant outside, so that the type of `step`,
/// which knows its slot, is kept.
static Value tripBase(Value trip, int64_t &distance) {
  APInt constant;
  Operation *op = trip.getDefiningOp();
  if (op && isa<arith::AddIOp, arith::SubIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    int64_t value = constant.getSExtValue();
    distance += isa<arith::AddIOp>(op) ? value : -value;
    return tripBase(op->getOperand(0), distance);
  }
  return trip;
}

std::string KernelPrinter::placeText(Value place, Value trip) {
  std::string name = text(place);
  auto tile = dyn_cast<TileType>(place.getType());
  if (tile && tile.getSlots() == 1) {
    return name;
  }
  if (!trip) {
    return name + "[0]";
  }
  int64_t distance = 0;
  Value base = tripBase(trip, distance);
  std::string index = distance == 0 ? text(base) : text(base, 12);
  if (distance != 0) {
    index +=
        (distance < 0 ? " - " : " + ") + std::to_string(std::abs(distance));
  }
  return name + "[" + index + "]";
}
