//===- Round.h - Clocks of one round of a grid ----------------------------===//
//
// Inner to lib/Cost: what Time adds up.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_TIME_ROUND_H
#define LIB_COST_TIME_ROUND_H

#include "lib/Cost/Time/Time.h"

namespace modelc {

/// Of one execution of each step of each block by one workgroup: a unit's
/// resources at the unit's rate, those below L2 at the device's.
using StepClocks = std::vector<std::vector<Clocks>>;
StepClocks clocksOfSteps(const KernelWork &work, const TrafficByAccess &traffic,
                         const Rates &rates);

/// Times one round of the grid.
class RoundTimer {
public:
  RoundTimer(const KernelWork &work, const TrafficByAccess &traffic,
             const Rates &rates, const StepClocks &clocks, Load load)
      : work(work), traffic(traffic), rates(rates), clocks(clocks), load(load) {
  }
  /// `follows`: the next tile of its own roles fills the gaps of a workgroup.
  RoundTime time(bool follows);

private:
  double sharing(Resource resource, const Step &step,
                 const Load &running) const;
  StepTime timeOfStep(const Step &step, const Clocks &own, const Body &block,
                      llvm::ArrayRef<BlockTime> blocks) const;
  double latencyOf(const Step &step) const;
  unsigned groupsOf(const Body &block) const;
  double issueClocks(const Step &step, unsigned groups) const;
  double simulate(unsigned number, llvm::ArrayRef<StepTime> times) const;
  void timeBlock(unsigned number, bool follows,
                 std::vector<BlockTime> &blocks) const;
  void countExecutions(std::vector<BlockTime> &blocks) const;
  double chainOfTurn(const RoundTime &round) const;
  std::string limitOfChain(const RoundTime &round) const;

  const KernelWork &work;
  const TrafficByAccess &traffic;
  const Rates &rates;
  const StepClocks &clocks;
  Load load;
};

} // namespace modelc

#endif // LIB_COST_TIME_ROUND_H
