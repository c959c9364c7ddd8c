//===- Estimate.cpp - Bound and expectation of one launch -----------------===//

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Evidence.h"
#include "lib/Cost/Time/Early.h"
#include "lib/Cost/Time/Launched.h"
#include "lib/Cost/Time/TimeTerm.h"

namespace modelc {

Launched::Launched(const KernelWork &work, const Target &target,
                   const CostOptions &options)
    : work(work), options(options), traffic(trafficOf(work, target, options)),
      energy(energyAmounts(work, traffic.sum)),
      perUnit(workgroupsPerUnit(work, target, perUnitBy)),
      joules(workJoules(energy, target)) {}

KernelTime Launched::timeAt(View view, double clockHz, const Target &target,
                            double early) const {
  if (work.workgroups() <= 0) { // an empty grid is still a launch
    KernelTime time;
    time.gapSeconds = time.seconds = target.startSeconds();
    time.limit = "launch";
    return time;
  }
  TrafficByAccess own = withEarly(work, traffic, early);
  Rates rates(target, view, clockHz, own.sum);
  return timeOf(work, own, perUnit, rates);
}

View Launched::expectation() const {
  return options.chosen ? View::Simulation : View::Expectation;
}

static Estimate finish(const KernelTime &time, double clockHz, double work,
                       const Target &target) {
  return {time.seconds, work + target.power.idle * time.seconds, clockHz,
          time.limit};
}

static void explain(KernelCost &cost, const Launched &launched,
                    const Target &target, const PowerState &state,
                    const KernelTime &expected, double early) {
  const KernelWork &work = launched.work;
  TrafficByAccess own = withEarly(work, launched.traffic, early);
  Rates rates(target, launched.expectation(), state.clockHz, own.sum);
  cost.time = timeTerm(work, own, expected, rates);
  if (early > 0) {
    cost.time.children.push_back(earlyTerm(early));
  }
  cost.time.children.push_back(powerTerm(state, target));
  cost.time.children.push_back(trafficTerm(work, launched.traffic));
  cost.time.children.push_back({"workgroups that a unit runs at once",
                                launched.perUnit,
                                "",
                                "",
                                {launched.perUnitBy.str()},
                                {}});
  cost.energy = energyTerm(launched.energy, target, state.clockHz,
                           cost.expectation.seconds);
}

KernelCost costAt(const Launched &launched, const Target &target,
                  const PowerState &state, KernelTime expected, double early) {
  constexpr double kNearlyOne = 1.01;
  KernelCost cost;
  cost.name = launched.work.name;
  cost.workgroups = launched.work.workgroups();
  if (state.stretch > kNearlyOne) {
    expected.limit = "board power";
  }
  expected.seconds *= state.stretch;
  // Of the bound too: a higher clock takes more.
  double boost = target.clock.boostHz;
  double work = launched.joules.at(state.clockHz, target);
  if (!launched.options.compared) {
    cost.bound = finish(launched.timeAt(View::Bound, boost, target, early),
                        boost, work, target);
  }
  cost.expectation = finish(expected, state.clockHz, work, target);
  cost.workgroupsPerUnit = launched.perUnit;
  cost.rounds = cost.workgroups / (launched.perUnit * target.execution.units);
  for (const auto &[row, flop] : launched.energy.flopByRow) {
    cost.matrixFlop += flop;
  }
  cost.sharedBytes = launched.energy.sharedBytes;
  cost.traffic = launched.traffic.sum;
  if (launched.options.evidence) {
    cost.evidence = evidenceOf(launched, target);
  }
  if (launched.options.explain && cost.workgroups > 0) {
    explain(cost, launched, target, state, expected, early);
  }
  return cost;
}

KernelCost estimate(const KernelWork &work, const Target &target,
                    const CostOptions &options) {
  Launched launched(work, target, options);
  double early = options.early ? work.earlyBytes() : 0;
  KernelTime expected;
  PowerState state = underPower(launched.joules, target, [&](double clockHz) {
    expected = launched.timeAt(launched.expectation(), clockHz, target, early);
    return expected.seconds;
  });
  return costAt(launched, target, state, std::move(expected), early);
}

llvm::FailureOr<KernelCost> costKernel(schedule::KernelOp kernel,
                                       const Target &target,
                                       const Bindings &bindings,
                                       const CostOptions &options) {
  llvm::FailureOr<KernelWork> work =
      readKernel(kernel, target, bindings, options);
  if (failed(work)) {
    return llvm::failure();
  }
  return estimate(*work, target, options);
}

} // namespace modelc
