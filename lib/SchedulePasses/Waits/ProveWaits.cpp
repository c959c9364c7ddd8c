//===- ProveWaits.cpp - The waits of a final form, proven from it ---------===//
//
// Nothing that the passes knew is used: the kernel is walked again with the
// counts that it holds, wherever it came from.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Roles/RoleCheck.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/Waits/Flatten.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Orders in which roles are run.
constexpr unsigned kRuns = 12;

/// How a list of steps is followed.
struct Following {
  int64_t lag = 0, trips = kUnrolledTrips;
  bool oneWave = true;
};

static Operation *opOf(const void *op) {
  return static_cast<Operation *>(const_cast<void *>(op));
}

static LogicalResult proveQueues(std::vector<WaitStep> steps,
                                 const Following &how) {
  for (WaitStep &step : steps) {
    if (step.waits >= 0 && !step.pending) {
      step.pending = 0; // as it is emitted
    }
  }
  WaitCounter counter(std::move(steps), how.lag, how.trips, how.oneWave);
  std::optional<WaitMistake> mistake = counter.mistake();
  if (!mistake) {
    return success();
  }
  return opOf(mistake->op)->emitOpError(mistake->text);
}

/// Barriers of a kernel without roles are told of the bytes that come.
static LogicalResult proveBytes(ArrayRef<WaitStep> steps) {
  struct Phase {
    const void *copy = nullptr, *arrive = nullptr;
    int64_t bytes = 0, expected = 0;
  };
  std::map<std::pair<const void *, int64_t>, Phase> phases;
  for (const WaitStep &step : steps) {
    const BarrierSignal &signal = step.signal;
    Phase &phase = phases[{signal.of, signal.trip}];
    phase.bytes += signal.bytes;
    phase.expected += signal.expects;
    (signal.bytes ? phase.copy : phase.arrive) = step.op;
  }
  for (const auto &[key, phase] : phases) {
    if (key.first && phase.bytes != phase.expected) {
      return opOf(phase.arrive ? phase.arrive : phase.copy)
                 ->emitOpError("expected arrivals that announce the ")
             << phase.bytes << " bytes of a trip's copies, got "
             << phase.expected;
    }
  }
  return success();
}

/// Runs the roles in several orders.
static LogicalResult proveRoles(KernelOp kernel, const Target &target) {
  RoleCheck::Barriers barriers;
  kernel.walk([&](AllocOp alloc) {
    if (auto type = dyn_cast<BarrierType>(alloc.getResult().getType())) {
      BarrierCount &barrier = barriers[alloc.getResult().getAsOpaquePointer()];
      barrier.slots = type.getSlots();
      barrier.arrivals = type.getCount();
    }
  });
  RoleCheck check(flattenRoles(kernel, target));
  for (unsigned seed = 1; seed <= kRuns; ++seed) {
    std::string mistake = check.run(barriers, seed);
    if (!mistake.empty()) {
      return kernel.emitOpError("expected roles that meet at their barriers: ")
             << mistake;
    }
  }
  return success();
}

/// No workgroup ends while others of its cluster reach its memory. Those that
/// have tensor memory free it together.
static LogicalResult proveEnd(KernelOp kernel) {
  bool isReached = false;
  kernel.walk([&](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    auto alloc = dyn_cast<AllocOp>(op);
    auto barrier =
        alloc ? dyn_cast<BarrierType>(alloc.getType()) : BarrierType();
    isReached |= (copy && copy.getMulticast()) ||
                 (barrier && barrier.getReach() != Reach::Own);
  });
  bool meets = llvm::any_of(
      kernel.getGrid().getBody().getOps<SyncOp>(),
      [](SyncOp sync) { return sync.getScope() == Scope::Cluster; });
  if (!isReached || meets || kernel.getTensorColumns()) {
    return success();
  }
  return kernel.emitOpError("expected a 'schedule.sync cluster' behind its "
                            "roles: others still reach the memory of a "
                            "workgroup that ends");
}

LogicalResult modelc::proveWaits(KernelOp kernel, const Target &target) {
  if (!hasRoles(kernel)) {
    Following how{lagOf(kernel), unrolledTrips(kernel), kernel.getWaves() == 1};
    std::vector<WaitStep> steps = flatten(kernel, target, how.trips);
    return failed(proveBytes(steps)) ? failure()
                                     : proveQueues(std::move(steps), how);
  }
  WalkResult queues = kernel.walk([&](RoleOp role) {
    return WalkResult(proveQueues(flattenQueues(role, target), {}));
  });
  return success(!queues.wasInterrupted() && succeeded(proveEnd(kernel)) &&
                 succeeded(proveRoles(kernel, target)));
}
