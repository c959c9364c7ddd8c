#include "lib/SchedulePasses/Waits/Flattener.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Tiles of a persistent grid that roles are followed over.
constexpr int64_t kRoleTiles = 4;

std::vector<WaitStep> Flattener::run(RoleOp only, int64_t waves,
                                     int64_t ofWorkgroup) {
  role = only;
  rank = ofWorkgroup;
  arrivals = only.getElect() ? 1 : waves;
  LoopOp grid = kernel.getGrid();
  for (int64_t i = 0; i < (grid.getPersistent() ? kRoleTiles : 1); ++i) {
    for (Value number : grid.getCarried()) {
      indices[number] = i;
    }
    block(only.getBody().front());
  }
  return std::move(steps);
}

void Flattener::reach(Value barrier, BarrierSignal &signal) const {
  switch (cast<BarrierType>(barrier.getType()).getReach()) {
  case Reach::Own:
    signal.firstRank = signal.lastRank = rank;
    return;
  case Reach::Leader:
    signal.firstRank = signal.lastRank = 0;
    return;
  case Reach::All:
    signal.firstRank = 0;
    signal.lastRank = KernelOp(kernel).getCluster().value_or(1) - 1;
    return;
  }
}

/// A signal between roles. Sent by waves, it gives the slots away that are
/// filled by who waits for it: their reads must be complete; and those that the
/// waves have filled themselves: they must have landed.
void Flattener::addSignal(ArriveOp arrive, WaitStep &step) {
  Value barrier = arrive.getBarrier(), trip = arrive.getTrip()[0];
  if (!isa<BarrierType>(barrier.getType())) {
    return;
  }
  step.signal = {barrier.getAsOpaquePointer(), evaluate(trip), arrivals,
                 static_cast<int64_t>(arrive.getBytes().value_or(0))};
  reach(barrier, step.signal);
  step.signal.afterProducts = role.getElect() && !arrive.getBytes();
  if (step.signal.afterProducts || arrive.getBytes() || step.signal.trip < 0) {
    return;
  }
  for (Operation *user : barrier.getUsers()) {
    if (isa<WaitOp>(user)) {
      for (CopyOp copy : user->getBlock()->getOps<CopyOp>()) {
        touch(step, copy.getDestination(), trip, true);
      }
    }
  }
  for (CopyOp copy : arrive->getBlock()->getOps<CopyOp>()) {
    touch(step, copy.getDestination(), trip, false);
  }
}

std::vector<WaitStep> modelc::flattenRole(RoleOp role, const Target &target,
                                          int64_t trips, int64_t waves,
                                          int64_t rank) {
  return Flattener(role->getParentOfType<KernelOp>(), target, trips)
      .run(role, waves, rank);
}

bool modelc::hasRoles(KernelOp kernel) {
  return !kernel.getGrid().getBody().front().getOps<RoleOp>().empty();
}

std::vector<WaitStep> modelc::flattenQueues(RoleOp role, const Target &target) {
  std::vector<WaitStep> steps = flattenRole(role, target, kUnrolledTrips, 1);
  for (WaitStep &step : steps) {
    if (step.byBarrier) {
      step.accesses.clear();
    }
  }
  return steps;
}

std::vector<std::vector<WaitStep>> modelc::flattenRoles(KernelOp kernel,
                                                        const Target &target) {
  int64_t slots = 1, cluster = kernel.getCluster().value_or(1);
  kernel.walk([&](AllocOp alloc) {
    if (auto type = dyn_cast<BarrierType>(alloc.getResult().getType())) {
      slots = std::max<int64_t>(slots, type.getSlots());
    }
  });
  int64_t trips = std::max<int64_t>(kUnrolledTrips, 2 * slots + 3);
  std::vector<std::vector<WaitStep>> roles;
  kernel.walk([&](RoleOp role) {
    int64_t waves = role.getElect() ? 1 : role.getWaves();
    int64_t parts = std::min<int64_t>(waves, 2);
    for (int64_t rank = 0; rank < (role.getLeader() ? 1 : cluster); ++rank) {
      for (int64_t part = 0; part < parts; ++part) {
        roles.push_back(flattenRole(role, target, trips, waves / parts, rank));
      }
    }
  });
  return roles;
}
