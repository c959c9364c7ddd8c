//===- Specialise.cpp - Waves that only copy, only multiply, only store ---===//
//
// Where a product runs beside its waves, they need not wait for one another at
// every trip: one thread copies as far ahead as the ring allows, another or the
// waves of the product multiply, and they meet at barriers only.
//
//   product into tensor memory             product into registers
//     role epilogue, its waves               role matrix, its waves
//       wait on %done[0]                       loop (%t)
//       loads of tensor memory, stores           wait on %full[%t]; mma
//     role load, one thread                      wait {queue = matrix}
//       loop (%t)                                arrive %empty[%t - 1]
//         wait on %empty[%t - S]               wait {queue = matrix}; stores
//         arrive, copies of t                role load, one thread: the same
//     role matrix, one thread
//       loop (%t)
//         wait on %full[%t]; mma
//         arrive %empty[%t] after it
//       arrive %done[0]
//
// S slots. Where the unit holds one workgroup anyway and the trips of all tiles
// are as many, the grid is persistent: it carries the number %i of the tile of
// its unit, trips of the ring are %i * n + %t, and two accumulators take turns,
// so that the next tile is multiplied while this one is stored:
//
//     role epilogue: wait on %done[%i]; loads of %D[%i]; arrive %drained[%i]
//     role matrix:   wait on %drained[%i - 2]; loop: mma %D[%i]; arrive
//     %done[%i]
//
// Where the workgroups of a cluster multiply together, only the first of them
// has a role matrix: %full and %drained are awaited there and count all, %empty
// and %done are sent to all.
//
// Where each trip has a product of its own, which the waves add to their sums:
//
//   product into tensor memory             product into registers
//     role epilogue: loop (%t)               role matrix: loop (%t)
//       wait on %done[%t]                      wait on %full[%t]; mma
//       loads of %D[%t], additions             wait {queue = matrix}
//       arrive %drained[%t]                    arrive %empty[%t]; additions
//     role matrix: loop (%t)
//       wait on %full[%t]
//       wait on %drained[%t - P]; mma %D[%t]
//       arrive %empty[%t], %done[%t] after it
//
// P places of products. Counts of arrivals and of the queue are left to
// count-waits.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Roles/Specialise.h"
#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// Index arithmetic that all roles share.
static bool isShared(Operation &op) {
  auto load = dyn_cast<LoadOp>(op);
  return isa<arith::ArithDialect>(op.getDialect()) ||
         (load && !isa<TileType>(load.getResult().getType()));
}

/// Ops of tiles in registers: a role of some waves runs them as a whole
/// workgroup would, unless they meet the other waves.
bool Specialise::canMove(Operation &op) {
  if (isShared(op)) {
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return !maker || maker->getBlock() != op.getBlock() || isShared(*maker);
    });
  }
  bool meets = op.walk([](Operation *inner) {
                   bool waits = isa<SyncOp, WaitOp, ArriveOp, CopyOp>(inner);
                   auto reduce = dyn_cast<ReduceOp>(inner);
                   auto relayout = dyn_cast<RelayoutOp>(inner);
                   bool exchanges = (reduce && reduce.getScratch()) ||
                                    (relayout && relayout.getScratch());
                   return WalkResult(failure(waits || exchanges));
                 }).wasInterrupted();
  return !meets;
}

bool Specialise::isPossible() {
  if (!kernel.getRoles() || kernel.getWaves() % kWavesOfGroup != 0) {
    return false;
  }
  findCondition();
  bool fillsOnce = false;
  for (Operation &op : work().without_terminator()) {
    auto loop = dyn_cast<LoopOp>(op);
    std::optional<Ring> own = loop ? findRing(loop) : std::nullopt;
    if (own && !ring) {
      ring = own;
    } else if (isOnce(op)) {
      fillsOnce = true;
    } else if (own || !canMove(op)) {
      return false;
    }
  }
  if (!ring || ring->mmas.empty()) {
    return false;
  }
  return copiesByLanes() ? canCutLanes(ring->loop)
                         : !fillsOnce && canCut(ring->loop);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Where the unit holds one workgroup anyway, waves that copy or ask for
/// products leave their registers to those that hold sums.
void Specialise::setRegisters() {
  const Execution &execution = target.execution;
  if (!execution.reassignsRegisters || !fillsUnit() ||
      (isIntoTensor() && !exceedsLaunch())) {
    return;
  }
  int64_t waves = kernel.getWaves();
  int64_t most = execution.registersOfRole(waves);
  if (most > execution.registersOf(waves + kWavesOfGroup)) {
    loadWaves = kWavesOfGroup - (isIntoTensor() ? 1 : 0);
    matrixRegisters = most;
    loadRegisters = kCopyRegisters;
  }
}

RoleOp Specialise::makeRole(StringRef name, int64_t waves, bool elect,
                            int64_t registers) {
  OpBuilder builder(kernel.getGrid().getYield());
  auto role = RoleOp::create(
      builder, ring->loop.getLoc(), builder.getStringAttr(name),
      builder.getI64IntegerAttr(firstWave), builder.getI64IntegerAttr(waves),
      elect ? builder.getUnitAttr() : UnitAttr(), UnitAttr(),
      registers ? builder.getI64IntegerAttr(registers) : IntegerAttr());
  role.getBody().emplaceBlock();
  firstWave += waves;
  return role;
}

Value Specialise::makeBarrier(int64_t slots) {
  OpBuilder builder(kernel.getGrid());
  return AllocOp::create(
      builder, ring->loop.getLoc(),
      BarrierType::get(kernel.getContext(), 1, slots, Reach::Own));
}

/// The trips of the ring in another role: where to build, and the index there.
OpBuilder Specialise::openTrips(RoleOp role, IRMapping &mapping) {
  LoopOp loop = ring->loop;
  OpBuilder builder = openWork(role);
  auto own =
      LoopOp::create(builder, loop.getLoc(), loop.getLowerBounds(),
                     loop.getUpperBounds(), loop.getSteps(), ValueRange());
  own.setExpectAttr(loop.getExpectAttr());
  own.getInductionVars()[0].setLoc(loop.getInductionVars()[0].getLoc());
  mapping.map(loop.getInductionVars()[0], own.getInductionVars()[0]);
  return OpBuilder::atBlockBegin(&own.getBody().front());
}

/// A product leaves its slot when it is awaited, and where the loop carries the
/// sums, when the next one has been issued.
void Specialise::releaseInOrder(Value trip) {
  Location loc = ring->loop.getLoc();
  OpBuilder builder(ring->loop.getContext());
  if (isFresh()) {
    WaitOp last;
    for (WaitOp wait : ring->loop.getBody().getOps<WaitOp>()) {
      last = wait.getQueue() == Queue::Matrix ? wait : last;
    }
    builder.setInsertionPointAfter(last);
    arriveAt(builder, loc, empty, trip, ValueRange());
    return;
  }
  builder.setInsertionPointAfter(ring->mmas.back());
  waitQueue(builder, loc, Queue::Matrix);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, trip, one);
  arriveAt(builder, loc, empty, last, ValueRange());
  builder.setInsertionPointAfter(ring->loop);
  waitQueue(builder, loc, Queue::Matrix);
}

void Specialise::makeMatrix() {
  Location loc = ring->loop.getLoc();
  Value trip = ring->copies.front().getSlot()[0];
  if (!isIntoTensor()) {
    releaseInOrder(trip);
    return;
  }
  SmallVector<Value> tokens;
  for (MmaOp mma : ring->mmas) {
    tokens.push_back(mma.getResult());
  }
  OpBuilder builder(ring->loop.getContext());
  builder.setInsertionPointAfter(ring->mmas.back());
  arriveAt(builder, loc, empty, trip, tokens);
}

/// All that is not shared goes into `role`, in its order.
void Specialise::moveRest(RoleOp role) {
  OpBuilder builder = openWork(role);
  for (Operation &op : llvm::make_early_inc_range(work())) {
    if (!isShared(op) && !isa<RoleOp, YieldOp>(op)) {
      op.moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    }
  }
}

/// The thread that multiplies into tensor memory, and when it meets those that
/// drain it.
void Specialise::makeMatrixRole(RoleOp epilogue) {
  Location loc = ring->loop.getLoc();
  RoleOp role = makeRole("matrix", 1, true, loadRegisters);
  role.setLeader(isPaired());
  if (isFresh()) {
    moveRest(epilogue);
    makeProducts(role);
    return;
  }
  int64_t places = tile ? turns() : 1;
  done.push_back(makeBarrier(places));
  OpBuilder builder(condition ? condition : ring->loop);
  Value number = tile ? tile : constantOf(builder, loc, 0);
  builder.setInsertionPoint(ring->loop);
  waitOn(builder, loc, done[0], number);
  builder = openWork(role);
  if (tile) {
    drained = makeBarrier(places);
    Value distance = constantOf(builder, loc, places);
    Value freed = arith::SubIOp::create(builder, loc, tile, distance);
    waitOn(builder, loc, drained, freed).setEmpty(true);
  }
  ring->loop->moveBefore(builder.getInsertionBlock(),
                         builder.getInsertionPoint());
  arriveAt(builder, loc, done[0], number, ValueRange());
  moveRest(epilogue);
  if (tile) {
    builder.setInsertionPointToEnd(&epilogue.getBody().front());
    arriveAt(builder, loc, drained, tile, ValueRange());
  }
}

void Specialise::run() {
  bool isShared = llvm::any_of(ring->copies,
                               [](CopyOp copy) { return copy.getMulticast(); });
  hoistNumbers();
  ring->slots = std::max<int64_t>(chooseSlots(*ring, target, onceBytes()), 2);
  setSlots(*ring);
  setRegisters();
  if (!isShared && canPersist()) {
    carryTile();
    numberTrips();
  } else if (isFresh() && isIntoTensor()) {
    setTurns();
    numberProducts(ring->mmas.front().getASlot());
  }
  bool byLanes = copiesByLanes(), intoTensor = isIntoTensor();
  if (byLanes) {
    awaitLanes();
  }
  empty = makeBarrier(ring->slots);
  makeMatrix();
  RoleOp rest = makeRole(intoTensor ? "epilogue" : "matrix", kernel.getWaves(),
                         false, matrixRegisters);
  if (byLanes) {
    makeLaneCopies(makeRole("load", kWavesOfGroup, false, loadRegisters));
  } else {
    makeLoad(makeRole("load", loadWaves, true, loadRegisters));
  }
  if (intoTensor) {
    makeMatrixRole(rest);
    if (isPaired()) {
      reachCluster();
    }
  } else {
    moveRest(rest);
  }
  if (isShared) {
    shareCopies();
  }
  if (condition) {
    condition.erase();
  }
  kernel.setWaves(firstWave);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult modelc::specialiseRoles(KernelOp kernel, const Target &target) {
  Specialise specialise(kernel, target);
  if (specialise.isPossible()) {
    specialise.run();
  } else if (kernel.getCluster()) {
    return kernel.emitOpError("expected roles where the workgroups of a "
                              "cluster multiply or load together, got a kernel "
                              "that cannot be cut");
  }
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULESPECIALISE
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct SpecialisePass : impl::ScheduleSpecialiseBase<SpecialisePass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            specialiseRoles))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
