//===- LoadAhead.cpp - Loads that no copy can fetch -----------------------===//
//
// What is too small for a copy of all lanes (the scales of few rows) a product
// reads from global memory itself. Its loads wait for all copies asked for
// before them, so they are issued trips ahead and carried:
//
//   load %S0[0]   load %S1[1]
//   loop (%t) carry(%S = %S0, %Next = %S1)
//     load %Later[min(%t + 2, last)]
//     mma ... scaled(%S)   yield %Next, %Later
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Places.h"
#include "lib/SchedulePasses/Trips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static constexpr int64_t kTripsAhead = 2;

/// Whether the load reads memory by what the trip alone tells.
static bool canRunAhead(LoadOp load, LoopOp loop) {
  auto dependsOnTrip = [&](Value value) {
    return isFunctionOfTrip(value, loop);
  };
  bool isPlain = isa<BufferType>(load.getSource().getType()) &&
                 !load.getToken() && !load.getRows() && !load.getPageTable() &&
                 !load.getPeer() && load->getParentOp() == loop;
  return isPlain && loop.getSteps().empty() &&
         constantIndex(loop.getLowerBounds()[0]) == 0 &&
         llvm::all_of(load.getOffsets(), dependsOnTrip) &&
         llvm::all_of(load.getValid(), dependsOnTrip);
}

LoopOp modelc::loadAhead(LoadOp load, LoopOp loop) {
  if (!canRunAhead(load, loop)) {
    return loop;
  }
  Location loc = load.getLoc();
  OpBuilder before(loop);
  Value last = arith::SubIOp::create(before, loc, loop.getUpperBounds()[0],
                                     constantOf(before, loc, 1));
  SmallVector<Value> first;
  for (int64_t trip = 0; trip < kTripsAhead; ++trip) {
    Value index = arith::MinSIOp::create(before, loc,
                                         constantOf(before, loc, trip), last);
    first.push_back(loadAt(before, load, index, loop));
  }
  OpBuilder inside(load);
  Value ahead = arith::AddIOp::create(inside, loc, loop.getInductionVars()[0],
                                      constantOf(inside, loc, kTripsAhead));
  Value later = loadAt(inside, load,
                       arith::MinSIOp::create(inside, loc, ahead, last), loop);
  LoopOp wide = carryMore(loop, first);
  auto carried = wide.getBody().getArguments().take_back(kTripsAhead);
  SmallVector<Value> next(carried.drop_front());
  next.push_back(later);
  wide.getYield().getValuesMutable().append(next);
  for (BlockArgument value : carried) {
    value.setLoc(loc);
  }
  load.getResult().replaceAllUsesWith(carried.front());
  load.erase();
  return wide;
}
