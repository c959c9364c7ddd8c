//===- SpecialiseBoxes.cpp - A thread that copies for waves or another ----===//

#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Roles/Specialise.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// One thread copies and, into tensor memory, one multiplies: nothing else
/// happens in the loop unless waves add products to their sums.
bool Specialise::canCut(LoopOp loop) {
  bool onlyProducts = llvm::all_of(loop.getBody().front(), [&](Operation &op) {
    return isa<arith::ArithDialect>(op.getDialect()) ||
           isa<ArriveOp, CopyOp, WaitOp, MmaOp, YieldOp>(op) ||
           (isFresh() && isa<LoadOp, MapOp>(op));
  });
  bool sums = llvm::all_of(ring->mmas, [](MmaOp mma) {
    return isa<TokenType>(mma.getResult().getType()) ||
           llvm::all_of(mma.getResult().getUsers(),
                        llvm::IsaPred<YieldOp, MapOp>);
  });
  return onlyProducts && canRunAhead(*ring) && sums && ring->announce &&
         (!isFresh() || accumulatorsFit(2));
}

/// The copies of the loop, each trip when its slot is free again.
void Specialise::makeLoad(RoleOp role) {
  LoopOp loop = ring->loop;
  Location loc = loop.getLoc();
  IRMapping mapping;
  OpBuilder builder = openTrips(role, mapping);
  Value trip = atTrip(builder, ring->announce.getTrip()[0], loop, mapping);
  Value slots = arith::ConstantIndexOp::create(builder, loc, ring->slots);
  Value freed = arith::SubIOp::create(builder, loc, trip, slots);
  waitOn(builder, loc, empty, freed).setEmpty(true);
  builder.clone(*ring->announce, mapping);
  for (CopyOp copy : ring->copies) {
    for (Value operand : copy->getOperands()) {
      mapping.map(operand, atTrip(builder, operand, loop, mapping));
    }
    builder.clone(*copy, mapping);
  }
  ring->announce.erase();
  for (CopyOp copy : ring->copies) {
    copy.erase();
  }
}

/// The thread that multiplies for the cluster hears from all workgroups and
/// tells all.
void Specialise::reachCluster() {
  auto reach = [](Value barrier, Reach whose) {
    if (barrier) {
      barrier.setType(cast<BarrierType>(barrier.getType()).withReach(whose));
    }
  };
  reach(ring->full, Reach::Leader);
  reach(drained, Reach::Leader);
  reach(empty, Reach::All);
  for (Value barrier : done) {
    reach(barrier, Reach::All);
  }
}

/// Who fills the places of all workgroups awaits that all have left them, and
/// no workgroup ends while others fill its places or signal to it.
void Specialise::shareCopies() {
  empty.setType(cast<BarrierType>(empty.getType()).withReach(Reach::All));
  OpBuilder builder(kernel.getGrid().getYield());
  SyncOp::create(builder, kernel.getLoc(), Scope::Cluster);
}
