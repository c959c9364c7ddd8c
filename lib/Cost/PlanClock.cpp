#include "lib/Cost/PlanClock.h"

#include "lib/Cost/Time/Early.h"

namespace modelc {

double PendingLaunch::early(double clockHz, const Target &target) const {
  return before ? earlyBytes(before->launched, before->timeAt(clockHz, target),
                             launch->launched, target)
                : 0;
}

/// Of everything but the bound.
static double secondsAt(const PlanCost &cost,
                        llvm::ArrayRef<PendingLaunch> pending, double clockHz,
                        const Target &target) {
  double seconds = cost.startTime.value;
  for (const StepCost &step : cost.steps) {
    seconds += step.collective ? step.count * step.cost.expectation.seconds : 0;
  }
  for (const PendingLaunch &one : pending) {
    seconds += cost.steps[one.step].count * one.timeAt(clockHz, target).seconds;
  }
  return seconds;
}

static void addSums(PlanCost &cost) {
  for (const StepCost &step : cost.steps) {
    for (auto [sum, one] :
         {std::pair(&cost.bound, &step.cost.bound),
          std::pair(&cost.expectation, &step.cost.expectation)}) {
      sum->seconds += step.count * one->seconds;
      sum->joules += step.count * one->joules;
    }
    cost.launches += step.count;
  }
  cost.expectation.seconds += cost.startTime.value;
  cost.expectation.joules += cost.startEnergy.value;
}

void settle(PlanCost &cost, llvm::ArrayRef<PendingLaunch> pending,
            const Target &target) {
  WorkJoules joules;
  for (const StepCost &step : cost.steps) {
    const Estimate &one = step.cost.expectation;
    joules.beside +=
        step.count * (one.joules - target.power.idle * one.seconds);
  }
  for (const PendingLaunch &one : pending) {
    joules.add(cost.steps[one.step].count, one.launch->launched.joules);
  }
  PowerState state = underPower(joules, target, [&](double clockHz) {
    return secondsAt(cost, pending, clockHz, target);
  });
  for (const PendingLaunch &one : pending) {
    cost.steps[one.step].cost = costAt(one.launch->launched, target, state,
                                       one.timeAt(state.clockHz, target),
                                       one.early(state.clockHz, target));
  }
  addSums(cost);
  cost.bound.clockHz = target.clock.boostHz;
  cost.expectation.clockHz = state.clockHz;
  cost.power = powerTerm(state, target);
}

} // namespace modelc
