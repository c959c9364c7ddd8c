//===- CountWaits.cpp - Pending counts, derived and checked ---------------===//

#include "lib/SchedulePasses/Layouts/MmaLayouts.h"
#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Roles/RoleCheck.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Waits/Flatten.h"
#include "lib/SchedulePasses/Waits/Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Waits on tokens become waits on the queue of what gave them.
static LogicalResult nameQueues(KernelOp kernel) {
  WalkResult result = kernel.walk([](WaitOp wait) {
    if (wait.getTokens().empty()) {
      return WalkResult::advance();
    }
    std::optional<Queue> queue;
    for (Value token : wait.getTokens()) {
      auto load = token.getDefiningOp<LoadOp>();
      bool reads = load && isa<TileType>(load.getSource().getType());
      Queue own = reads ? Queue::Reads : Queue::Copies;
      if (queue && *queue != own) {
        wait.emitOpError("expected tokens of one queue, got several; split "
                         "the wait");
        return WalkResult::interrupt();
      }
      queue = own;
    }
    wait.getTokensMutable().clear();
    wait.setQueue(*queue);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Writes the counts into the waits and adds the missing ones. A count that the
/// machine cannot hold is the largest that it can: it waits for more.
static void applyPlan(KernelOp kernel, const Target &target,
                      const WaitPlan &plan) {
  auto held = [&](Queue queue, int64_t count) {
    bool isHeld = queue == Queue::Copies && target.copy.maxPending > 0;
    return isHeld ? std::min(count, target.copy.maxPending) : count;
  };
  kernel.walk([&](WaitOp wait) {
    auto it = plan.given.find(wait.getOperation());
    if (it != plan.given.end()) {
      wait.setPending(held(*wait.getQueue(), it->second));
    }
  });
  DenseMap<const void *, Operation *> ops;
  kernel.walk([&](Operation *op) { ops[op] = op; });
  for (const auto &[site, pending] : plan.added) {
    Operation *before = ops.lookup(site.first);
    OpBuilder builder(before);
    auto queue = static_cast<Queue>(site.second);
    waitQueue(builder, before->getLoc(), queue, held(queue, pending));
  }
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Counts the queues of each role. What roles owe each other, and with it the
/// length of rings, is the matter of barriers.
static LogicalResult countQueues(KernelOp kernel, const Target &target) {
  WalkResult result = kernel.walk([&](RoleOp role) {
    WaitCounter counter(flattenQueues(role, target), /*lag=*/0, kUnrolledTrips,
                        /*oneWave=*/true, static_cast<int>(Queue::Reads));
    WaitPlan plan = counter.plan();
    if (!plan.mistake.empty()) {
      role.emitOpError("expected an order that waits can keep: ")
          << plan.mistake;
      return WalkResult::interrupt();
    }
    applyPlan(kernel, target, plan);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What is counted: arrivals at barriers are no matter of a judgement.
enum class Counts { Queues, All };

/// Arrivals and bytes of the barriers between roles.
static LogicalResult countBarriers(KernelOp kernel, const Target &target) {
  RoleCheck::Barriers barriers;
  kernel.walk([&](AllocOp alloc) {
    if (auto type = dyn_cast<BarrierType>(alloc.getResult().getType())) {
      barriers[alloc.getResult().getAsOpaquePointer()].slots = type.getSlots();
    }
  });
  if (!RoleCheck::count(flattenRoles(kernel, target), barriers)) {
    return kernel.emitOpError("expected as many arrivals in each phase of a "
                              "barrier between roles");
  }
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (auto type = dyn_cast<BarrierType>(alloc.getResult().getType())) {
        alloc.getResult().setType(type.withCount(
            barriers[alloc.getResult().getAsOpaquePointer()].arrivals));
      }
    } else if (auto arrive = dyn_cast<ArriveOp>(op);
               arrive && arrive.getBytes()) {
      const BarrierCount &phase =
          barriers[arrive.getBarrier().getAsOpaquePointer()];
      arrive.setBytes(phase.bytes / std::max<int64_t>(phase.announced, 1));
    }
  });
  return success();
}

static LogicalResult countRoles(KernelOp kernel, const Target &target,
                                Counts counts) {
  if (failed(countQueues(kernel, target))) {
    return failure();
  }
  return counts == Counts::All ? countBarriers(kernel, target) : success();
}

//===----------------------------------------------------------------------===//
// The final form
//===----------------------------------------------------------------------===//

static Space spaceOf(OperandSpace space) {
  switch (space) {
  case OperandSpace::Register:
    return Space::Register;
  case OperandSpace::Shared:
    return Space::Shared;
  case OperandSpace::Tensor:
    return Space::Tensor;
  }
  return Space::None;
}

/// Scales in tensor memory come from places that lie as a copy reads them.
static LogicalResult checkScalesInTensor(MmaOp mma, const MmaRow &row) {
  for (Value scales : {mma.getAScales(), mma.getBScales()}) {
    auto type = cast<TileType>(scales.getType());
    if (type.getSpace() != Space::Tensor) {
      return mma.emitOpError("expected scales where ")
             << row.name << " reads them, got " << type;
    }
    Layout layout = scalesPlaceLayout(row, type);
    for (Operation *user : scales.getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      auto from =
          copy ? dyn_cast<TileType>(copy.getSource().getType()) : TileType();
      if (from &&
          (!from.getLayout() || from.getLayout().getLayout() != layout)) {
        return copy.emitOpError(
                   "expected words of scales in the order in which ")
               << row.name << " reads them, got " << from;
      }
    }
  }
  return success();
}

/// Operands lie where the row of the instruction says.
static LogicalResult checkMma(MmaOp mma, const Target &target) {
  MmaSplit split = splitOf(mma, target);
  Layout b = operandBLayout(split);
  struct Operand {
    StringRef name;
    TileType type;
    OperandSpace space;
    Layout layout;
  };
  SmallVector<Operand, 5> operands = {
      Operand{"a", mma.getA().getType(), split.row->aSpace,
              operandALayout(split)},
      Operand{"b", mma.getB().getType(), split.row->bSpace,
              mma.getBTransposed() ? b.transposed() : b},
      Operand{"accumulator", mma.getAccumulator().getType(), split.row->cSpace,
              accumulatorLayout(split)}};
  bool inTensor = split.row->scaleSpace == OperandSpace::Tensor;
  if (split.row->scaled && !inTensor) {
    operands.push_back({"scales of a", mma.getAScales().getType(),
                        split.row->aSpace, scalesALayout(split)});
    operands.push_back({"scales of b", mma.getBScales().getType(),
                        split.row->bSpace, scalesBLayout(split)});
  }
  for (const Operand &operand : operands) {
    bool fits = operand.type.getSpace() == spaceOf(operand.space);
    bool inRegisters = operand.space == OperandSpace::Register;
    if (!fits || (inRegisters &&
                  (!operand.type.getLayout() ||
                   operand.type.getLayout().getLayout() != operand.layout))) {
      return mma.emitOpError("expected ")
             << operand.name << " where " << split.row->name
             << " reads it, got " << operand.type;
    }
  }
  return inTensor ? checkScalesInTensor(mma, *split.row) : success();
}

/// Tensor memory gives every wave its own part: only in the layout of the row.
static LogicalResult checkTensor(Operation *op, Value place, Value value,
                                 const Target &target) {
  auto source = dyn_cast<TileType>(place.getType());
  if (!source || source.getSpace() != Space::Tensor) {
    return success();
  }
  for (Operation *user : place.getUsers()) {
    auto mma = dyn_cast<MmaOp>(user);
    auto tile = cast<TileType>(value.getType());
    if (!mma) {
      continue;
    }
    MmaSplit split = splitOf(mma, target);
    split.waves = wavesOf(op);
    if (tile.getLayout().getLayout() != drainLayout(split, tile)) {
      return op->emitOpError("expected the layout in which ")
             << *mma.getInstruction() << " leaves its accumulator, got "
             << tile;
    }
  }
  return success();
}

/// Every value has registers, every place an address.
static LogicalResult checkFinal(KernelOp kernel, const Target &target) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto tile = dyn_cast<TileType>(value.getType());
      if (tile && (tile.getSpace() == Space::None ||
                   (tile.getSpace() == Space::Register && !tile.getLayout()))) {
        op->emitOpError("expected a value in registers with a layout, got ")
            << tile;
        return WalkResult::interrupt();
      }
    }
    if (auto alloc = dyn_cast<AllocOp>(op); alloc && !alloc.getAt()) {
      alloc.emitOpError("expected a place with an address");
      return WalkResult::interrupt();
    }
    if (auto mma = dyn_cast<MmaOp>(op)) {
      return WalkResult(checkMma(mma, target));
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      return WalkResult(
          checkTensor(op, load.getSource(), load.getResult(), target));
    }
    auto store = dyn_cast<StoreOp>(op);
    return WalkResult(store ? checkTensor(op, store.getDestination(),
                                          store.getValue(), target)
                            : success());
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult countWhole(KernelOp kernel, const Target &target) {
  int64_t trips = unrolledTrips(kernel);
  WaitCounter counter(flatten(kernel, target, trips), lagOf(kernel), trips,
                      kernel.getWaves() == 1, static_cast<int>(Queue::Reads));
  WaitPlan plan = counter.plan();
  if (!plan.mistake.empty()) {
    return kernel.emitOpError("expected an order that waits can keep: ")
           << plan.mistake;
  }
  applyPlan(kernel, target, plan);
  return success();
}

static LogicalResult count(KernelOp kernel, const Target &target,
                           Counts counts) {
  if (failed(nameQueues(kernel)) ||
      failed(hasRoles(kernel) ? countRoles(kernel, target, counts)
                              : countWhole(kernel, target)) ||
      failed(checkFinal(kernel, target))) {
    return failure();
  }
  kernel.setStage(Stage::Final);
  return success();
}

LogicalResult modelc::countWaits(KernelOp kernel, const Target &target) {
  return success(succeeded(count(kernel, target, Counts::All)) &&
                 succeeded(proveWaits(kernel, target)));
}

LogicalResult modelc::countWaitsUnproven(KernelOp kernel,
                                         const Target &target) {
  return count(kernel, target, Counts::Queues);
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULECOUNTWAITS
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct CountWaits : impl::ScheduleCountWaitsBase<CountWaits> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(
            runOnKernels(getOperation(), targetsDir, overrides, countWaits))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
