//===- LoadAhead.cpp - Loads that no copy fetches, trips ahead ------------===//
//
// What is too small for a copy of all lanes (scales), or shall not pass through
// shared memory (`ahead`), the waves load from global memory themselves, beside
// the ring of what they multiply. A load of their own trip would hold them up
// until memory answers, and where copies and loads come back in order, until
// all copies asked for before it have landed. So it is issued trips ahead and
// carried:
//
//   load %S0[0]   load %S1[1]
//   loop (%t) carry(%S = %S0, %Next = %S1)
//     load %Later[min(%t + 2, last)]
//     mma ... scaled(%S)   yield %Next, %Later
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Whether the loop walks from 0 and has a trip, whatever the sizes: what its
/// first trips read can be read before it.
static bool hasFirstTrip(LoopOp loop) {
  if (loop.getKind() != LoopKind::Sequence || !loop.getSteps().empty() ||
      constantIndex(loop.getLowerBounds()[0]) != 0) {
    return false;
  }
  Value trips = loop.getUpperBounds()[0];
  auto larger = trips.getDefiningOp<arith::MaxSIOp>();
  return constantIndex(trips).value_or(0) > 0 ||
         (larger && llvm::any_of(larger->getOperands(), [](Value least) {
            return constantIndex(least).value_or(0) > 0;
          }));
}

/// Whether the load reads memory by what the trip alone tells.
static bool canRunAhead(LoadOp load, LoopOp loop) {
  auto dependsOnTrip = [&](Value value) {
    return isFunctionOfTrip(value, loop);
  };
  bool isPlain = isa<TileType>(load.getResult().getType()) &&
                 isa<BufferType>(load.getSource().getType()) &&
                 !load.getToken() && !load.getRows() && !load.getPageTable() &&
                 !load.getPeer();
  return isPlain && llvm::all_of(load.getOffsets(), dependsOnTrip) &&
         llvm::all_of(load.getValid(), dependsOnTrip);
}

/// Trips in which memory answers, beside the products of the loop and what is
/// copied for them. A staggered loop waits in a trip for the copies that it
/// asked for in the last, and so for all that it loaded before them.
static int64_t tripsAhead(LoadOp load, LoopOp loop, const Target &target,
                          int64_t threads) {
  if (std::optional<int64_t> asked = load.getAhead()) {
    return *asked;
  }
  if (loop->getParentOfType<KernelOp>().getStagger()) {
    return 1;
  }
  double matrix = 0, bytes = 0;
  for (MmaOp mma : loop.getBody().getOps<MmaOp>()) {
    if (const MmaRow *row =
            target.instruction(mma.getInstruction().value_or(""))) {
      matrix += mma.getWork().front().amount / row->flopPerClock;
    }
  }
  for (CopyOp copy : loop.getBody().getOps<CopyOp>()) {
    bytes += copy.getWork().front().amount;
  }
  auto tile = cast<TileType>(load.getResult().getType());
  return target.tripsAhead(matrix, bytes, registersOf(tile, threads));
}

/// Issues `load` so many trips ahead; the loop is then another.
static LoopOp issueAhead(LoadOp load, LoopOp loop, int64_t ahead) {
  Location loc = load.getLoc();
  OpBuilder before(loop);
  Value last = arith::SubIOp::create(before, loc, loop.getUpperBounds()[0],
                                     constantOf(before, loc, 1));
  SmallVector<Value> first;
  for (int64_t trip = 0; trip < ahead; ++trip) {
    Value index = arith::MinSIOp::create(before, loc,
                                         constantOf(before, loc, trip), last);
    first.push_back(loadAt(before, load, index, loop));
    first.back().getDefiningOp<LoadOp>().removeAheadAttr();
  }
  OpBuilder inside(load);
  Location name = NameLoc::get(inside.getStringAttr("later"), loc);
  Value trip = arith::AddIOp::create(inside, name, loop.getInductionVars()[0],
                                     constantOf(inside, loc, ahead));
  Value later = loadAt(inside, load,
                       arith::MinSIOp::create(inside, name, trip, last), loop);
  LoopOp wide = carryMore(loop, first);
  auto carried = wide.getBody().getArguments().take_back(ahead);
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

LogicalResult modelc::loadAhead(KernelOp kernel, const Target &target) {
  int64_t threads = kernel.getWaves() * target.execution.waveSize;
  SmallVector<LoopOp> loops;
  kernel.walk([&](LoopOp loop) {
    if (hasFirstTrip(loop) && !loop.getBody().getOps<MmaOp>().empty()) {
      loops.push_back(loop);
    }
  });
  for (LoopOp loop : loops) {
    SmallVector<LoadOp> loads(loop.getBody().getOps<LoadOp>());
    for (LoadOp load : loads) {
      if (canRunAhead(load, loop)) {
        loop = issueAhead(load, loop, tripsAhead(load, loop, target, threads));
      }
    }
  }
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULELOADAHEAD
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct LoadAhead : impl::ScheduleLoadAheadBase<LoadAhead> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(
            runOnKernels(getOperation(), targetsDir, overrides, loadAhead))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
