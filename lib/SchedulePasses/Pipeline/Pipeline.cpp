//===- Pipeline.cpp - Copies run ahead of their use -----------------------===//
//
// One loop at a time. With S slots the copies of trip t + S - 1 are issued in
// trip t, after the rendezvous that ends all reads of trip t - 1, whose slot
// they fill. Three forms, by what completes a copy and what reads its place:
//
//   counted copies (see below)         boxes, asynchronous mma into registers
//     loop (%p) = 0 to S-1: copies       loop (%p) = 0 to S-1: arrive, copies
//     loop (%t)                          loop (%t)
//       wait copies; sync                  wait on %full[%t]; mma
//       loads from memory                  wait matrix, 1 pending; sync
//       copies of t + S - 1                if (t + S - 1 < n) arrive, copies
//       load, mma (asynchronous mma:
//       begun before the copies)
//     wait copies, 0 pending             wait matrix, 0 pending
//
//   boxes, mma of one thread into tensor memory
//     loop (%p) = 0 to S-1: arrive, copies
//     loop (%t)
//       wait on %full[%t]; mma; arrive %empty[%t] after it
//       if (t + S - 1 < n) wait on %empty[%t - 1]; arrive, copies
//     arrive %done[0]; wait on %done[0]
//
// Counted copies for products into tensor memory that waves await in their
// trip need no rendezvous: a slot has been read when its product is done.
// Copies run S trips ahead then:
//
//     loop (%p) = 0 to S: copies
//     loop (%t)
//       wait copies; sync; mma; arrive %done[%t] after it
//       wait on %done[%t]; copies of t + S
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Pipeline/Rings.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
class Pipeline {
public:
  Pipeline(KernelOp kernel, const Target &target)
      : kernel(kernel), target(target) {}
  void run();

private:
  int64_t scratchBytes();
  void eraseNaive(Ring &ring);
  Value makeBarrier(Ring &ring, int64_t slots);
  void copyAll(OpBuilder &builder, Ring &ring, Value index, Value live);
  LoopOp openLoop(OpBuilder &builder, Location loc, Value from, Value to);
  void makePrologue(Ring &ring);
  void makeSingle(Ring &ring);
  void makeCounted(Ring &ring);
  void refillAtOnce(Ring &ring, ArrayRef<WaitOp> reads);
  void makeBoxes(Ring &ring);
  void refill(OpBuilder &builder, Ring &ring, Value empty);
  void finishBoxes(Ring &ring, Value empty);

  KernelOp kernel;
  const Target &target;
};
} // namespace

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Removes the waits and syncs that made each copy complete at once.
void Pipeline::eraseNaive(Ring &ring) {
  SmallVector<Operation *> dead;
  for (Operation &op : ring.loop.getBody().front()) {
    auto wait = dyn_cast<WaitOp>(op);
    bool ours = wait && (wait.getBarrier() ? wait.getBarrier() == ring.full
                                           : !wait.getTokens().empty());
    if (ours) {
      dead.push_back(&op);
      if (isa_and_nonnull<SyncOp>(op.getNextNode())) {
        dead.push_back(op.getNextNode());
      }
    }
  }
  for (Operation *op : dead) {
    op->erase();
  }
}

Value Pipeline::makeBarrier(Ring &ring, int64_t slots) {
  OpBuilder builder(kernel.getGrid());
  return AllocOp::create(
      builder, ring.loop.getLoc(),
      BarrierType::get(kernel.getContext(), 1, slots, Reach::Own));
}

//===----------------------------------------------------------------------===//
// The copies of another trip
//===----------------------------------------------------------------------===//

/// All copies of the ring at the trip of `index`, and the bytes that they
/// announce.
void Pipeline::copyAll(OpBuilder &builder, Ring &ring, Value index,
                       Value live) {
  if (ring.announce) {
    IRMapping mapping;
    mapping.map(ring.loop.getInductionVars()[0], index);
    Value trip =
        atTrip(builder, ring.announce.getTrip()[0], ring.loop, mapping);
    arriveAt(builder, ring.announce.getLoc(), ring.full, trip, ValueRange(),
             ring.announce.getBytesAttr());
  }
  for (CopyOp copy : ring.copies) {
    copyAt(builder, ring, copy, index, live);
  }
}

LoopOp Pipeline::openLoop(OpBuilder &builder, Location loc, Value from,
                          Value to) {
  auto loop = LoopOp::create(builder, loc, ValueRange(from), ValueRange(to),
                             ValueRange(), ValueRange());
  builder.setInsertionPointToStart(&loop.getBody().front());
  return loop;
}

/// The copies of the first trips, before the loop.
void Pipeline::makePrologue(Ring &ring) {
  OpBuilder builder(ring.loop);
  Location loc = ring.loop.getLoc();
  Operation *parent = ring.loop->getParentOp();
  auto around = dyn_cast<LoopOp>(parent);
  bool repeats = around && (around.getKind() == LoopKind::Sequence ||
                            around.getPersistent());
  if (repeats) {
    // The last reads of the previous run.
    SyncOp::create(builder, loc, Scope::Workgroup);
  }
  Value zero = constant(builder, loc, 0);
  Value count = constant(builder, loc, ring.ahead());
  Value from = ring.loop.getLowerBounds()[0];
  LoopOp prologue = openLoop(builder, loc, zero, count);
  Value trip = prologue.getInductionVars()[0];
  Value index = trip;
  if (!ring.loop.getSteps().empty()) {
    index = arith::MulIOp::create(builder, loc, index, ring.loop.getSteps()[0]);
  }
  if (constantIndex(from) != 0) {
    index = arith::AddIOp::create(builder, loc, index, from);
  }
  std::optional<int64_t> trips = constantIndex(ring.loop.getUpperBounds()[0]);
  bool allExist = trips && ring.loop.getSteps().empty() &&
                  constantIndex(from) == 0 && *trips >= ring.ahead();
  Value live = allExist ? Value() : isTrip(builder, ring, index);
  if (ring.full && live) {
    Value one = constant(builder, loc, 1);
    Value trips = arith::SelectOp::create(builder, loc, live, one, zero);
    openLoop(builder, loc, zero, trips);
    live = Value();
  }
  copyAll(builder, ring, index, live);
}

//===----------------------------------------------------------------------===//
// The three forms
//===----------------------------------------------------------------------===//

/// Copy, wait, use; nobody may copy again before all have used it.
void Pipeline::makeSingle(Ring &ring) {
  Location loc = ring.loop.getLoc();
  Block &body = ring.loop.getBody().front();
  for (WaitOp wait : llvm::make_early_inc_range(body.getOps<WaitOp>())) {
    if (!wait.getTokens().empty()) {
      OpBuilder builder(wait);
      waitQueue(builder, loc, Queue::Copies);
      wait.erase();
    }
  }
  OpBuilder builder(body.getTerminator());
  SyncOp::create(builder, loc, Scope::Workgroup);
}

/// After which all products are begun that need no wait in between: while they
/// run lanes may copy.
static Operation *lastBegun(const Ring &ring) {
  Operation *last = ring.mmas.front();
  for (Operation *op = last; op && !isa<WaitOp, SyncOp>(op);
       op = op->getNextNode()) {
    last = isa<MmaOp, ArriveOp>(op) ? op : last;
  }
  return last;
}

/// The last of the loads from memory that a loop begins with, or null: issued
/// behind copies they would be counted with those that may still be pending.
static Operation *lastLeadingLoad(Block &body) {
  Operation *last = nullptr;
  for (Operation &op : body) {
    auto load = dyn_cast<LoadOp>(op);
    if (load && isa<BufferType>(load.getSource().getType())) {
      last = load;
    } else if (!isa<arith::ArithDialect>(op.getDialect())) {
      break;
    }
  }
  return last;
}

/// Every copy of the ring where its slot has just been read, for one trip more
/// than there are other slots.
void Pipeline::refillAtOnce(Ring &ring, ArrayRef<WaitOp> reads) {
  Value trip = ring.loop.getInductionVars()[0];
  for (auto [copy, read] : llvm::zip_equal(ring.copies, reads)) {
    OpBuilder builder(read);
    builder.setInsertionPointAfter(read);
    Value index = advanced(builder, ring, trip, ring.ahead());
    copyAt(builder, ring, copy, index, isTrip(builder, ring, index));
  }
}

void Pipeline::makeCounted(Ring &ring) {
  LoopOp loop = ring.loop;
  Location loc = loop.getLoc();
  Block &body = loop.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Operation *load = lastLeadingLoad(body);
  SmallVector<WaitOp> reads = waitsOfReads(ring);
  ring.refillsAtOnce = !reads.empty();
  makePrologue(ring);
  waitQueue(builder, loc, Queue::Copies);
  SyncOp::create(builder, loc, Scope::Workgroup);
  if (ring.refillsAtOnce) {
    refillAtOnce(ring, reads);
  } else {
    if (!ring.mmas.empty()) {
      builder.setInsertionPointAfter(lastBegun(ring));
    } else if (load) {
      builder.setInsertionPointAfter(load);
    }
    Value index =
        advanced(builder, ring, loop.getInductionVars()[0], ring.ahead());
    copyAll(builder, ring, index, isTrip(builder, ring, index));
  }
  for (CopyOp copy : ring.copies) {
    copy.erase();
  }
  builder.setInsertionPointAfter(loop);
  waitQueue(builder, loc, Queue::Copies);
}

/// `if (t + ahead < n) { wait on empty; announce; copy }` as a loop of 0 or 1
/// trips.
void Pipeline::refill(OpBuilder &builder, Ring &ring, Value empty) {
  Location loc = ring.loop.getLoc();
  Value trip = ring.loop.getInductionVars()[0];
  Value index = advanced(builder, ring, trip, ring.ahead());
  Value zero = constant(builder, loc, 0), one = constant(builder, loc, 1);
  Value live = isTrip(builder, ring, index);
  Value trips = arith::SelectOp::create(builder, loc, live, one, zero);
  openLoop(builder, loc, zero, trips);
  if (empty) {
    IRMapping mapping;
    mapping.map(trip, advanced(builder, ring, trip, -1));
    Value freed = atTrip(builder, ring.mmas[0].getASlot(), ring.loop, mapping);
    waitOn(builder, loc, empty, freed).setEmpty(true);
  }
  copyAll(builder, ring, index, Value());
}

void Pipeline::finishBoxes(Ring &ring, Value empty) {
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(ring.loop);
  Location loc = ring.loop.getLoc();
  if (!empty) {
    waitQueue(builder, loc, Queue::Matrix, 0);
    return;
  }
  Value done = makeBarrier(ring, 1), zero = constant(builder, loc, 0);
  arriveAt(builder, loc, done, zero, ValueRange());
  waitOn(builder, loc, done, zero);
}

void Pipeline::makeBoxes(Ring &ring) {
  Location loc = ring.loop.getLoc();
  bool byOneThread = isa<TokenType>(ring.mmas[0].getResult().getType());
  Value empty = byOneThread ? makeBarrier(ring, ring.slots) : Value();
  makePrologue(ring);
  OpBuilder builder(ring.reader);
  Value trip = ring.mmas.front().getASlot();
  waitOn(builder, loc, ring.full, trip);
  builder.setInsertionPointAfter(ring.mmas.back());
  if (byOneThread) {
    SmallVector<Value> tokens;
    for (MmaOp mma : ring.mmas) {
      tokens.push_back(mma.getResult());
    }
    arriveAt(builder, loc, empty, trip, tokens);
  } else {
    waitQueue(builder, loc, Queue::Matrix, ring.mmas.size());
    SyncOp::create(builder, loc, Scope::Workgroup);
  }
  refill(builder, ring, empty);
  ring.announce.erase();
  for (CopyOp copy : ring.copies) {
    copy.erase();
  }
  finishBoxes(ring, empty);
}

/// Places that no ring fills.
int64_t Pipeline::scratchBytes() {
  int64_t bytes = 0;
  kernel.walk([&](AllocOp alloc) {
    auto tile = dyn_cast<TileType>(alloc.getResult().getType());
    bool rings =
        llvm::any_of(alloc.getResult().getUsers(), [](Operation *user) {
          auto copy = dyn_cast<CopyOp>(user);
          return copy && !copy.getSlot().empty();
        });
    bytes += tile && tile.getSpace() == Space::Shared && !rings
                 ? tile.getBytes()
                 : 0;
  });
  return bytes;
}

void Pipeline::run() {
  SmallVector<LoopOp> loops;
  kernel.walk([&](LoopOp loop) { loops.push_back(loop); });
  int64_t takenBytes = scratchBytes();
  for (LoopOp loop : loops) {
    std::optional<Ring> ring = findRing(loop);
    // Staggered copies run ahead by themselves, as do those between roles.
    if (!ring || loop.getStagger() || loop->getParentOfType<RoleOp>()) {
      continue;
    }
    ring->slots = chooseSlots(*ring, target, takenBytes);
    if (ring->full) {
      // A box is filled ahead or not at all: two slots at least.
      ring->slots = std::max<int64_t>(ring->slots, 2);
    }
    takenBytes += ring->slots * ring->slotBytes();
    setSlots(*ring);
    if (ring->slots == 1) {
      makeSingle(*ring);
      continue;
    }
    eraseNaive(*ring);
    if (ring->full) {
      makeBoxes(*ring);
    } else {
      makeCounted(*ring);
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult modelc::pipelineLoops(KernelOp kernel, const Target &target) {
  Pipeline(kernel, target).run();
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEPIPELINE
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct PipelinePass : impl::SchedulePipelineBase<PipelinePass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            pipelineLoops))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
