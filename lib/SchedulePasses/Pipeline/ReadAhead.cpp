//===- ReadAhead.cpp - Reads and copies between the products of a wave ----===//
//
// Where every wave has a matrix unit of its own, it reads for its next product
// while one runs, at the end of a trip for the first one of the next trip:
//
//   copies of trips 0 .. slots - 1, sync, load %A0, sync
//   loop (%t) carry(%A = %A0) stagger(1)
//     load %B[%t]      copy %C[%t+slots-1]   mma %A
//     load %A1[%t+1]   copy %A[%t+slots]     mma %B
//     sync
//
// One rendezvous a trip: places that were read before it are filled after it,
// and what lands before it is read after it. Which moves go between which
// products is left to the emitter, which knows how many there are of each.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Pipeline/Phases.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
class ReadAhead : public PhasedLoop {
public:
  using PhasedLoop::PhasedLoop;
  void run();

private:
  void planRefills();
  SmallVector<Value> readFirst();
  void makeBody();
  void carry(ArrayRef<Value> inits, ArrayRef<Value> next);
};
} // namespace

/// Places in the order in which the next trips read them. With two slots the
/// whole ring has to land within the trip: copies go first in it.
void ReadAhead::planRefills() {
  auto copies = static_cast<int64_t>(ring.copies.size());
  int64_t spread = ring.slots > 2 ? count() : std::max<int64_t>(count() / 2, 1);
  int64_t perPhase = llvm::divideCeil(copies, spread), placed = 0;
  for (int64_t number = 1; number <= count(); ++number) {
    // The first product's were read in the trip before.
    int64_t trip = number == count() ? 0 : count();
    for (LoadOp load : phases[number % count()].loads) {
      refills.push_back({copyOf(load), trip + placed++ / perPhase});
    }
  }
}

/// What the first product reads, before the loop.
SmallVector<Value> ReadAhead::readFirst() {
  OpBuilder builder(ring.loop);
  Location loc = ring.loop.getLoc();
  for (int64_t trip = 0; trip < ring.slots; ++trip) {
    copyBefore(builder, trip);
  }
  SyncOp::create(builder, loc, Scope::Workgroup);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> values;
  for (LoadOp load : phases.front().loads) {
    values.push_back(loadAt(builder, load, zero, ring.loop));
  }
  SyncOp::create(builder, loc, Scope::Workgroup);
  return values;
}

/// The loop with more values from trip to trip: what the first product reads.
void ReadAhead::carry(ArrayRef<Value> inits, ArrayRef<Value> next) {
  LoopOp wide = carryMore(ring.loop, inits);
  wide.getYield().getValuesMutable().append(next);
  auto carried = wide.getBody().getArguments().take_back(inits.size());
  for (auto [load, value] : llvm::zip_equal(phases.front().loads, carried)) {
    value.setLoc(load.getLoc());
    load.getResult().replaceAllUsesWith(value);
    load.erase();
  }
  wide.setStagger(1);
}

void ReadAhead::makeBody() {
  Operation *end = ring.loop.getBody().front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Operation *> naive = naiveOps();
  SmallVector<Value> inits = readFirst(), next;
  Value nextTrip;
  for (int64_t number = 0; number < count(); ++number) {
    bool isLast = number + 1 == count();
    for (LoadOp load : phases[(number + 1) % count()].loads) {
      if (!isLast) {
        load->moveBefore(end);
        continue;
      }
      if (!nextTrip) {
        nextTrip = advanced(builder, ring, ring.loop.getInductionVars()[0], 1);
      }
      next.push_back(loadAt(builder, load, nextTrip, ring.loop));
    }
    refill(builder, number);
    phases[number].mma->moveBefore(end);
  }
  SyncOp::create(builder, ring.loop.getLoc(), Scope::Workgroup);
  for (Operation *op : llvm::reverse(naive)) {
    op->erase();
  }
  carry(inits, next);
}

void ReadAhead::run() {
  planRefills();
  makeBody();
}

LogicalResult modelc::readAhead(LoopOp loop, const Target &target) {
  ReadAhead ahead(target);
  if (failed(ahead.find(loop, /*spareSlots=*/0))) {
    return failure();
  }
  ahead.run();
  return success();
}
