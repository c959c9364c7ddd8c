//===- Simulate.h - The trips of a loop, event by event -------------------===//

#ifndef LIB_COST_TIME_SIMULATE_H
#define LIB_COST_TIME_SIMULATE_H

#include "lib/Cost/Time/Rates.h"

namespace modelc {

/// What one execution of a step asks, by one group of waves.
struct StepDemand {
  Clocks clocks{};      // of each unit
  double latency = 0;   // from then until others can use the result
  double duration = 0;  // at least: of a nested loop, of a wave that is alone
  double issue = 0;     // for which its stream issues it
  bool inOrder = false; // its stream waits until it is over
  /// Its stream waits until the port to L2 has what it has asked for.
  bool awaitsPort = false;
};

/// A loop body and all that runs of it on one unit of the machine.
struct UnitLoad {
  const Body &block;
  std::vector<StepDemand> steps; // parallel to the block's
  unsigned workgroups = 1;
  unsigned groups = 1; // of waves in a workgroup
  unsigned lag = 0;    // syncs that a group is behind the one before it
  /// Groups of waves that a resource serves at once.
  std::array<unsigned, kResources> servers{};
};

/// Clocks of a trip in steady state, however few the loop has: every stream
/// issues in order, a unit serves who comes first, a result is there after its
/// latency, groups of a workgroup meet at each sync.
double simulateTrips(const UnitLoad &load);

/// Matrix pipes that waves use apart; other products use all as one.
double pipesOf(const Body &block, const Execution &execution);

} // namespace modelc

#endif // LIB_COST_TIME_SIMULATE_H
