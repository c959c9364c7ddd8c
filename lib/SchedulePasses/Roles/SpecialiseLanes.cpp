//===- SpecialiseLanes.cpp - Waves that copy beside waves that multiply ---===//
//
// Where no box fetches what a product reads (pages), four waves of a role copy
// for the others. A copy is announced when the next one has been asked for:
//
//     role matrix, its waves                 role load, four waves
//       loop (%t)                              copies that are made once
//         wait on %full[%t]                    copies of 0
//         mma, what becomes of it              loop (%t)
//         wait {queue = matrix}                  wait on %empty[%t + 1 - S]
//         arrive %empty[%t]                      copies of t + 1
//         ...                                    wait {queue = copies}
//                                                arrive %full[%t]
//
// A condition around all that a workgroup does stands in both.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Roles/Specialise.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// A loop of 0 or 1 trips that holds all that the grid does but for numbers,
/// and asks memory for none.
void Specialise::findCondition() {
  auto loop =
      dyn_cast_or_null<LoopOp>(kernel.getGrid().getYield()->getPrevNode());
  bool holdsAll =
      loop && loop.getInits().empty() && isCondition(loop) &&
      loop.getInductionVars()[0].use_empty() &&
      llvm::all_of(loop.getBody().getOps<LoadOp>(), [](LoadOp load) {
        return isa<TileType>(load.getResult().getType());
      });
  condition = holdsAll ? loop : LoopOp();
}

Block &Specialise::work() {
  LoopOp around = condition ? condition : kernel.getGrid();
  return around.getBody().front();
}

void Specialise::hoistNumbers() {
  if (!condition) {
    return;
  }
  for (Operation &op : llvm::make_early_inc_range(work())) {
    if (isa<arith::ArithDialect>(op.getDialect())) {
      op.moveBefore(condition);
    }
  }
}

OpBuilder Specialise::openWork(RoleOp role) {
  Block &body = role.getBody().front();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  if (!condition) {
    return builder;
  }
  if (body.empty()) {
    auto own =
        LoopOp::create(builder, condition.getLoc(), condition.getLowerBounds(),
                       condition.getUpperBounds(), ValueRange(), ValueRange());
    own.setExpectAttr(condition.getExpectAttr());
  }
  auto own = cast<LoopOp>(body.front());
  builder.setInsertionPoint(own.getYield());
  return builder;
}

//===----------------------------------------------------------------------===//
// Copies of lanes
//===----------------------------------------------------------------------===//

bool Specialise::isOnce(Operation &op) {
  auto copy = dyn_cast<CopyOp>(op);
  return copy && !copy.getBox() && copy.getSlot().empty() &&
         isa<TileType>(copy.getDestination().getType());
}

/// Waits on copies and the rendezvous behind them go; there is no other.
static SmallVector<Operation *> naiveWaits(LoopOp loop) {
  SmallVector<Operation *> ops;
  for (WaitOp wait : loop.getBody().getOps<WaitOp>()) {
    if (!wait.getTokens().empty()) {
      ops.push_back(wait);
      if (isa_and_nonnull<SyncOp>(wait->getNextNode())) {
        ops.push_back(wait->getNextNode());
      }
    }
  }
  return ops;
}

bool Specialise::canCutLanes(LoopOp loop) {
  SmallVector<Operation *> naive = naiveWaits(loop);
  bool counts = constantIndex(loop.getLowerBounds()[0]) == 0 &&
                loop.getSteps().empty() && !isIntoTensor();
  return counts && canRunAhead(*ring) &&
         llvm::all_of(loop.getBody().front(), [&](Operation &op) {
           auto wait = dyn_cast<WaitOp>(op);
           return isa<arith::ArithDialect>(op.getDialect()) ||
                  isa<CopyOp, YieldOp>(op) || llvm::is_contained(naive, &op) ||
                  (wait && wait.getQueue() == Queue::Matrix) || canMove(op);
         });
}

int64_t Specialise::onceBytes() {
  int64_t bytes = 0;
  for (CopyOp copy : work().getOps<CopyOp>()) {
    bytes += cast<TileType>(copy.getDestination().getType()).getBytes();
  }
  return bytes;
}

/// The waves that multiply wait for those that copy, not for each other.
void Specialise::awaitLanes() {
  LoopOp loop = ring->loop;
  for (Operation *op : naiveWaits(loop)) {
    op->erase();
  }
  ring->full = makeBarrier(ring->slots);
  OpBuilder builder(ring->reader);
  waitOn(builder, loop.getLoc(), ring->full, loop.getInductionVars()[0]);
}

void Specialise::makeLaneCopies(RoleOp role) {
  LoopOp loop = ring->loop;
  Location loc = loop.getLoc();
  OpBuilder builder = openWork(role);
  for (CopyOp copy : llvm::make_early_inc_range(work().getOps<CopyOp>())) {
    copy->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  }
  Value zero = constantOf(builder, loc, 0);
  for (CopyOp copy : ring->copies) {
    copyAt(builder, *ring, copy, zero, Value());
  }
  IRMapping mapping;
  OpBuilder inner = openTrips(role, mapping);
  Value trip = mapping.lookup(loop.getInductionVars()[0]);
  Value next = advanced(inner, *ring, trip, 1);
  Value slots = constantOf(inner, loc, ring->slots);
  Value freed = arith::SubIOp::create(inner, loc, next, slots);
  waitOn(inner, loc, empty, freed).setEmpty(true);
  Value live = isTrip(inner, *ring, next);
  for (CopyOp copy : ring->copies) {
    copyAt(inner, *ring, copy, next, live);
    copy.erase();
  }
  waitQueue(inner, loc, Queue::Copies);
  arriveAt(inner, loc, ring->full, trip, ValueRange());
  builder = openWork(role);
  waitQueue(builder, loc, Queue::Copies);
}
