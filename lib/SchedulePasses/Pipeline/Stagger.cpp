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
#include "lib/SchedulePasses/Pipeline/Phases.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
class Stagger : public PhasedLoop {
public:
  using PhasedLoop::PhasedLoop;
  LogicalResult run(LoopOp loop);

private:
  void planRefills();
  void makePrologue();
  void makeBody();
  void makeRead(OpBuilder &builder, LoadOp load);
};
} // namespace

/// Places in the order in which they are read; each is filled in the next phase
/// that has no copy yet, or as few as there can be.
void Stagger::planRefills() {
  auto perPhase =
      static_cast<int64_t>(llvm::divideCeil(ring.copies.size(), phases.size()));
  int64_t next = 1, inPhase = 0;
  for (auto [number, phase] : llvm::enumerate(phases)) {
    for (LoadOp load : phase.loads) {
      int64_t earliest = static_cast<int64_t>(number) + 1;
      if (next < earliest || inPhase == perPhase) {
        next = std::max(next + (inPhase == perPhase ? 1 : 0), earliest);
        inPhase = 0;
      }
      refills.push_back({copyOf(load), next});
      ++inPhase;
    }
  }
}

/// All copies of the first trips but those that the first trip issues itself. A
/// rendezvous behind the first trip's and one behind all: what they need is
/// complete a group's lag before.
void Stagger::makePrologue() {
  OpBuilder builder(ring.loop);
  for (int64_t trip = 0; trip < ring.slots; ++trip) {
    copyBefore(builder, trip);
    if (trip == 0 || trip + 1 == ring.slots) {
      SyncOp::create(builder, ring.loop.getLoc(), Scope::Workgroup);
    }
  }
}

/// The same read, in flight until it is waited for.
void Stagger::makeRead(OpBuilder &builder, LoadOp load) {
  auto read = LoadOp::create(
      builder, load.getLoc(), load.getResult().getType(),
      TokenType::get(load.getContext()), load.getSource(), load.getOffsets(),
      Value(), Value(), Value(), ValueRange(), Value(), load.getDimsAttr(),
      IntegerAttr(), load.getTransposed(), load.getStream(), StringAttr(),
      IntegerAttr(), StringAttr());
  load.getResult().replaceAllUsesWith(read.getResult());
}

void Stagger::makeBody() {
  Block &body = ring.loop.getBody().front();
  Location loc = ring.loop.getLoc();
  SmallVector<Operation *> naive = naiveOps();
  for (ProductPhase &phase : phases) {
    llvm::append_range(naive, phase.loads);
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
  // Copies run as far ahead as there are slots.
  if (failed(find(loop, /*spareSlots=*/1))) {
    return failure();
  }
  planRefills();
  makePrologue();
  makeBody();
  loop.setStagger(2);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// How many groups the waves form: as many waves as there are matrix pipes in
/// each.
static LogicalResult verifyGroups(KernelOp kernel, const Target &target,
                                  int64_t groups) {
  int64_t pipes = target.execution.matrixPipesPerUnit;
  auto waves = static_cast<int64_t>(kernel.getWaves());
  bool counted = target.copy.completion == Completion::Counted;
  if ((groups == 1 || groups == 2) && waves == groups * pipes && counted &&
      target.copy.asyncToShared) {
    return success();
  }
  return kernel.emitOpError("expected one or two groups of ")
         << pipes << " waves, one for each matrix pipe, and copies that are "
         << "counted, got " << groups << " groups of " << kernel.getWaves()
         << " waves on '" << target.identity.name << "'";
}

LogicalResult modelc::staggerLoops(KernelOp kernel, const Target &target) {
  std::optional<int64_t> groups = kernel.getStagger();
  if (!groups) {
    return success();
  }
  if (failed(verifyGroups(kernel, target, *groups))) {
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
  Location loc = loops.front().getLoc();
  Operation *behind = loops.front()->getNextNode();
  if (failed(*groups == 1 ? readAhead(loops.front(), target)
                          : Stagger(target).run(loops.front()))) {
    return failure();
  }
  OpBuilder builder(behind);
  // Copies for trips that do not come.
  waitQueue(builder, loc, Queue::Copies);
  return success();
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
