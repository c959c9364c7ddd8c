//===- Stagger.cpp - Two groups of waves take turns at the matrix unit ----===//
//
// Where waves share a matrix unit, one group multiplies while the other one
// reads and copies. Every product of the loop gets a phase; the second group
// runs one rendezvous late, so that its first half meets the second half of the
// first group's.
//
//   loop (%t) stagger(2)
//     for each product
//       load what it is the first to read, with tokens
//       copy the next trip into a place that an earlier phase has read
//       sync; mma; sync
//
// A place is read once in a trip and filled again in one of the next phases for
// the trip that is `slots` later: copies run further ahead than where one
// rendezvous guards the whole slot. Waits are placed by what counts them.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Rings.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Trips.h"
#include "lib/SchedulePasses/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
/// A copy and the phase that issues it, counted on from the trip that reads its
/// place: beyond the last phase it is one of the next trip.
struct Refill {
  CopyOp copy;
  int64_t phase = 0;
};

/// One product and the reads that come with it.
struct Phase {
  MmaOp mma;
  SmallVector<LoadOp> loads;
};

class Stagger {
public:
  Stagger(KernelOp kernel, const Target &target, int64_t groups)
      : kernel(kernel), target(target), groups(groups) {}
  LogicalResult run(LoopOp loop);

private:
  LogicalResult findPhases();
  LogicalResult chooseRingSlots();
  void planRefills();
  void makePrologue();
  void makeBody();
  void refill(OpBuilder &builder, int64_t phase);
  void makeRead(OpBuilder &builder, LoadOp load);

  KernelOp kernel;
  const Target &target;
  int64_t groups;
  Ring ring;
  SmallVector<Phase> phases;
  SmallVector<Refill> refills;
};
} // namespace

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
LogicalResult Stagger::findPhases() {
  llvm::SmallPtrSet<Operation *, 8> loaded;
  for (Operation &op : ring.loop.getBody().front().without_terminator()) {
    if (auto mma = dyn_cast<MmaOp>(op)) {
      Phase phase{mma, {}};
      for (Value operand : {Value(mma.getA()), Value(mma.getB())}) {
        LoadOp load = readOf(operand, ring);
        if (!load) {
          return mma.emitOpError("expected operands that the loop copies and "
                                 "reads, to be staggered");
        }
        if (loaded.insert(load).second) {
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

LogicalResult Stagger::chooseRingSlots() {
  int64_t most = chooseSlots(ring, target, /*takenBytes=*/0);
  if (most < 2) {
    return ring.loop.emitOpError("expected two slots of ")
           << ring.slotBytes() << " bytes to fit, to be staggered";
  }
  // Copies run as far ahead as there are slots, elsewhere one less.
  ring.slots = kernel->hasAttr("slots") ? most : std::max<int64_t>(2, most - 1);
  setSlots(ring);
  return success();
}

/// Places in the order in which they are read; each is filled in the next phase
/// that has no copy yet, or as few as there can be.
void Stagger::planRefills() {
  auto perPhase =
      static_cast<int64_t>(llvm::divideCeil(ring.copies.size(), phases.size()));
  int64_t next = 1, inPhase = 0;
  for (auto [number, phase] : llvm::enumerate(phases)) {
    for (LoadOp load : phase.loads) {
      auto *copy = llvm::find_if(ring.copies, [&](CopyOp copy) {
        return copy.getDestination() == load.getSource();
      });
      int64_t earliest = static_cast<int64_t>(number) + 1;
      if (next < earliest || inPhase == perPhase) {
        next = std::max(next + (inPhase == perPhase ? 1 : 0), earliest);
        inPhase = 0;
      }
      refills.push_back({*copy, next});
      ++inPhase;
    }
  }
}

//===----------------------------------------------------------------------===//
// Before the loop
//===----------------------------------------------------------------------===//

/// All copies of the first trips but those that the first trip issues itself. A
/// rendezvous behind the first trip's and one behind all: what they need is
/// complete a group's lag before.
void Stagger::makePrologue() {
  OpBuilder builder(ring.loop);
  Location loc = ring.loop.getLoc();
  auto count = static_cast<int64_t>(phases.size());
  std::optional<int64_t> trips = constantIndex(ring.loop.getUpperBounds()[0]);
  for (int64_t trip = 0; trip < ring.slots; ++trip) {
    Value index = arith::ConstantIndexOp::create(builder, loc, trip);
    bool exists = trips && trip < *trips;
    Value live = exists ? Value() : isTrip(builder, ring, index);
    for (const Refill &refill : refills) {
      if (refill.phase < count || trip + 1 < ring.slots) {
        copyAt(builder, ring, refill.copy, index, live);
      }
    }
    if (trip == 0 || trip + 1 == ring.slots) {
      SyncOp::create(builder, loc, Scope::Workgroup);
    }
  }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// The copies of one phase: of the trip that is `slots` later, or one less
/// where the place was read in the trip before.
void Stagger::refill(OpBuilder &builder, int64_t phase) {
  auto count = static_cast<int64_t>(phases.size());
  for (const Refill &refill : refills) {
    if (refill.phase % count != phase) {
      continue;
    }
    Value index = advanced(builder, ring, ring.loop.getInductionVars()[0],
                           ring.slots - refill.phase / count);
    copyAt(builder, ring, refill.copy, index, isTrip(builder, ring, index));
  }
}

/// The same read, in flight until it is waited for.
void Stagger::makeRead(OpBuilder &builder, LoadOp load) {
  auto read = LoadOp::create(
      builder, load.getLoc(), load.getResult().getType(),
      TokenType::get(load.getContext()), load.getSource(), load.getOffsets(),
      Value(), Value(), Value(), ValueRange(), Value(), load.getDimsAttr(),
      IntegerAttr(), load.getTransposed(), load.getStream(), StringAttr());
  load.getResult().replaceAllUsesWith(read.getResult());
}

void Stagger::makeBody() {
  Block &body = ring.loop.getBody().front();
  Location loc = ring.loop.getLoc();
  SmallVector<Operation *> naive;
  for (Operation &op : body) {
    if (isa<CopyOp, WaitOp, SyncOp, LoadOp>(op)) {
      naive.push_back(&op);
    }
  }
  OpBuilder builder(body.getTerminator());
  for (auto [number, phase] : llvm::enumerate(phases)) {
    for (LoadOp load : phase.loads) {
      makeRead(builder, load);
    }
    refill(builder, static_cast<int64_t>(number));
    SyncOp::create(builder, loc, Scope::Workgroup);
    phase.mma->moveBefore(body.getTerminator());
    SyncOp::create(builder, loc, Scope::Workgroup);
  }
  for (Operation *op : llvm::reverse(naive)) {
    op->erase();
  }
}

LogicalResult Stagger::run(LoopOp loop) {
  std::optional<Ring> found = findRing(loop);
  auto grid = dyn_cast<LoopOp>(loop->getParentOp());
  if (!found || found->full || !loop.getSteps().empty() ||
      constantIndex(loop.getLowerBounds()[0]) != 0 || !grid ||
      grid.getKind() != LoopKind::Workgroups || grid.getPersistent()) {
    return loop.emitOpError("expected a loop from 0 by 1 that lanes copy for "
                            "and that runs once, to be staggered");
  }
  ring = *found;
  if (failed(findPhases()) || failed(chooseRingSlots())) {
    return failure();
  }
  planRefills();
  makePrologue();
  makeBody();
  loop.setStagger(groups);
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  // Copies for trips that do not come.
  waitQueue(builder, loop.getLoc(), Queue::Copies);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// How many groups the waves form that take turns: as many waves as there are
/// matrix pipes in each.
static LogicalResult verifyGroups(KernelOp kernel, const Target &target,
                                  int64_t groups) {
  int64_t pipes = target.execution.matrixPipesPerUnit;
  auto waves = static_cast<int64_t>(kernel.getWaves());
  bool counted = target.copy.completion == Completion::Counted;
  if (groups == 2 && waves == groups * pipes && counted &&
      target.copy.asyncToShared) {
    return success();
  }
  return kernel.emitOpError("expected two groups of ")
         << pipes << " waves that share " << pipes
         << " matrix pipes, and copies that are counted, got " << groups
         << " groups of " << kernel.getWaves() << " waves on '"
         << target.identity.name << "'";
}

LogicalResult modelc::staggerLoops(KernelOp kernel, const Target &target) {
  auto groups = kernel->getAttrOfType<IntegerAttr>("stagger");
  if (!groups || groups.getInt() == 1) {
    return success();
  }
  if (failed(verifyGroups(kernel, target, groups.getInt()))) {
    return failure();
  }
  SmallVector<LoopOp> loops;
  kernel.walk([&](LoopOp loop) {
    if (llvm::any_of(loop.getBody().front(), llvm::IsaPred<MmaOp>)) {
      loops.push_back(loop);
    }
  });
  if (loops.size() != 1) {
    return kernel.emitOpError("expected one loop of products to stagger, got ")
           << loops.size();
  }
  return Stagger(kernel, target, groups.getInt()).run(loops.front());
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULESTAGGER
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct StaggerPass : impl::ScheduleStaggerBase<StaggerPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            staggerLoops))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
