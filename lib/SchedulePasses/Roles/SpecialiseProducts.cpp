//===- SpecialiseProducts.cpp - A thread multiplies, waves add ------------===//

#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Roles/Specialise.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

bool Specialise::isFresh() {
  MmaOp mma = ring->mmas.front();
  return isIntoTensor() ? mma.getInit() && matchPattern(mma.getInit(), m_Zero())
                        : !isa<BlockArgument>(mma.getAccumulator());
}

/// Whether sums and half as many products, a quarter more for addresses, exceed
/// what a lane of all roles can have.
bool Specialise::exceedsLaunch() {
  int64_t waves = kernel.getWaves(), sums = 0;
  int64_t lanes = waves * target.execution.waveSize;
  for (MmaOp mma : ring->mmas) {
    sums += mma.getAccumulator().getType().getNumElements() / lanes;
  }
  int64_t registers = target.execution.registersOf(waves + kWavesOfGroup);
  return isFresh() && 4 * (sums + sums / 2) > 3 * registers;
}

/// What is asked of the matrix unit, and what it waits for and signals, leaves
/// the loop, which keeps the additions.
static SmallVector<Operation *> productsOf(LoopOp loop, Value full) {
  SmallVector<Operation *> ops;
  for (Operation &op : loop.getBody().front()) {
    auto wait = dyn_cast<WaitOp>(op);
    if (isa<MmaOp, ArriveOp>(op) || (wait && wait.getBarrier() == full)) {
      ops.push_back(&op);
    }
  }
  return ops;
}

/// The products of the loop in a loop of their own, each when the waves have
/// left the product that its place held.
void Specialise::makeProducts(RoleOp role) {
  LoopOp loop = ring->loop;
  Location loc = loop.getLoc();
  IRMapping mapping;
  OpBuilder builder = openTrips(role, mapping);
  int64_t places = turns();
  drained = makeBarrier(places);
  SmallVector<Operation *> ops = productsOf(loop, ring->full);
  Value number = ring->mmas.front().getCSlot();
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      mapping.map(operand, atTrip(builder, operand, loop, mapping));
    }
    if (op == ring->mmas.front()) {
      Value freed = arith::SubIOp::create(builder, loc, mapping.lookup(number),
                                          constantOf(builder, loc, places));
      waitOn(builder, loc, drained, freed).setEmpty(true);
    }
    builder.clone(*op, mapping);
  }
  OpBuilder last(loop.getYield());
  arriveAt(last, loc, drained, number, ValueRange());
  for (Operation *op : llvm::reverse(ops)) {
    auto arrive = dyn_cast<ArriveOp>(op);
    if (arrive && arrive.getBarrier() != empty) {
      done.push_back(arrive.getBarrier());
      auto barrier = cast<BarrierType>(done.back().getType());
      done.back().setType(barrier.withSlots(places));
    }
    op->erase();
  }
}
