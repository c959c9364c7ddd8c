//===- Phases.cpp - Products of a loop, and when places are filled --------===//

#include "lib/SchedulePasses/Pipeline/Phases.h"

#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Placement/OperandSource.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// The load of a place that the loop's copies fill, or null.
static LoadOp readOf(Value operand, const Ring &ring) {
  auto load = operand.getDefiningOp<LoadOp>();
  bool ours = load && load->getParentOp() == ring.loop &&
              llvm::any_of(ring.copies, [&](CopyOp copy) {
                return copy.getDestination() == load.getSource();
              });
  return ours ? load : LoadOp();
}

/// Products in order, each with the places that it is the first to read. The
/// loop may hold nothing else that takes time.
/// Whether the loop carries the operand from a load of trips before.
static bool isLoadedAhead(Value operand, LoopOp loop) {
  Block *body = &loop.getBody().front();
  for (unsigned i = 0; i < loop.getInits().size(); ++i) {
    operand = handedOn(operand, body);
    if (auto load = operand.getDefiningOp<LoadOp>()) {
      return load.getAhead().has_value();
    }
  }
  return false;
}

LogicalResult PhasedLoop::findPhases() {
  llvm::SmallPtrSet<Operation *, 8> loaded;
  for (Operation &op : ring.loop.getBody().front().without_terminator()) {
    if (auto mma = dyn_cast<MmaOp>(op)) {
      ProductPhase phase{mma, {}};
      for (Value operand : {Value(mma.getA()), Value(mma.getB()),
                            Value(mma.getAScales()), Value(mma.getBScales())}) {
        LoadOp load = operand ? readOf(operand, ring) : LoadOp();
        // Scales are none, or too few for a copy and loaded a trip ahead.
        bool isNumbers = operand == mma.getA() || operand == mma.getB();
        if (!load && isNumbers && !isLoadedAhead(operand, ring.loop)) {
          return mma.emitOpError("expected operands that the loop copies and "
                                 "reads, or loads ahead, to be staggered");
        }
        if (load && loaded.insert(load).second) {
          phase.loads.push_back(load);
        }
      }
      phases.push_back(phase);
    } else if (!isa<CopyOp, WaitOp, SyncOp, LoadOp>(op) &&
               !isa<arith::ArithDialect>(op.getDialect())) {
      return op.emitOpError("expected products of places only in a loop that "
                            "is to be staggered");
    }
  }
  if (phases.size() < 2 || loaded.size() != ring.copies.size()) {
    return ring.loop.emitOpError(
               "expected a loop of two or more products, and one read of each "
               "place, to be staggered; got ")
           << phases.size() << " products and " << loaded.size() << " reads of "
           << ring.copies.size() << " places";
  }
  return success();
}

LogicalResult PhasedLoop::chooseRingSlots(int64_t spareSlots) {
  int64_t most = chooseSlots(ring, target, /*takenBytes=*/0);
  if (most < 2) {
    return ring.loop.emitOpError("expected two slots of ")
           << ring.slotBytes() << " bytes to fit, to be staggered";
  }
  bool isGiven = ring.loop->getParentOfType<KernelOp>().getSlots().has_value();
  ring.slots = isGiven ? most : std::max<int64_t>(2, most - spareSlots);
  setSlots(ring);
  return success();
}

CopyOp PhasedLoop::copyOf(LoadOp load) {
  return *llvm::find_if(ring.copies, [&](CopyOp copy) {
    return copy.getDestination() == load.getSource();
  });
}

SmallVector<Operation *> PhasedLoop::naiveOps() {
  SmallVector<Operation *> ops;
  for (Operation &op : ring.loop.getBody().front()) {
    if (isa<CopyOp, WaitOp, SyncOp>(op)) {
      ops.push_back(&op);
    }
  }
  return ops;
}

LogicalResult PhasedLoop::find(LoopOp loop, int64_t spareSlots) {
  std::optional<Ring> found = findRing(loop);
  auto grid = dyn_cast<LoopOp>(loop->getParentOp());
  if (!found || found->full || !loop.getSteps().empty() ||
      constantIndex(loop.getLowerBounds()[0]) != 0 || !grid ||
      grid.getKind() != LoopKind::Workgroups || grid.getPersistent()) {
    return loop.emitOpError("expected a loop from 0 by 1 that lanes copy for "
                            "and that runs once, to be staggered");
  }
  ring = *found;
  return failed(findPhases()) ? failure() : chooseRingSlots(spareSlots);
}

void PhasedLoop::copyBefore(OpBuilder &builder, int64_t trip) {
  Location loc = ring.loop.getLoc();
  std::optional<int64_t> trips = constantIndex(ring.loop.getUpperBounds()[0]);
  Value index = arith::ConstantIndexOp::create(builder, loc, trip);
  bool exists = trips && trip < *trips;
  Value live = exists ? Value() : isTrip(builder, ring, index);
  for (const Refill &refill : refills) {
    if (refill.phase < count() || trip + 1 < ring.slots) {
      copyAt(builder, ring, refill.copy, index, live);
    }
  }
}

void PhasedLoop::refill(OpBuilder &builder, int64_t phase) {
  for (const Refill &refill : refills) {
    if (refill.phase % count() != phase) {
      continue;
    }
    Value index = advanced(builder, ring, ring.loop.getInductionVars()[0],
                           ring.slots - refill.phase / count());
    copyAt(builder, ring, refill.copy, index, isTrip(builder, ring, index));
  }
}
