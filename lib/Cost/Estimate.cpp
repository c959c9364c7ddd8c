//===- Estimate.cpp - Bound and expectation of one launch -----------------===//

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Energy.h"
#include "lib/Cost/TimeTerm.h"

namespace modelc {

/// The type that most matrix work is of; empty without matrix work.
static std::string mainType(const EnergyAmounts &amounts) {
  std::string type;
  double most = 0;
  for (const auto &[name, flop] : amounts.flopByType) {
    if (flop > most) {
      most = flop;
      type = name;
    }
  }
  return type;
}

namespace {
/// Everything of one launch that does not depend on the clock.
struct Launched {
  const KernelWork &work;
  const Target &target;
  TrafficByAccess traffic;
  EnergyAmounts energy;
  double perUnit;
};

struct Clocked {
  double clockHz;
  KernelTime time;
};
} // namespace

static Clocked timeAt(const Launched &launched, View view, double clockHz) {
  Rates rates(launched.target, view, clockHz, launched.traffic.sum);
  return {clockHz,
          timeOf(launched.work, launched.traffic, launched.perUnit, rates)};
}

/// The clock under load is a state: what binds on the matrix unit runs at the
/// measured sustained clock, the rest at boost; then it falls until the work
/// takes as long as the board's power needs for its energy.
static Clocked expectedTime(const Launched &launched, double dynamic) {
  const Target &target = launched.target;
  constexpr unsigned kMostSteps = 12;
  constexpr double kLowestClock = 0.2; // of boost
  Clocked now = timeAt(launched, View::Expectation, target.clock.boostHz);
  if (now.time.limit == resourceName(Resource::Matrix)) {
    now = timeAt(launched, View::Expectation,
                 target.sustainedHz(mainType(launched.energy)));
  }
  double least = dynamic / (target.power.tdp - target.power.idle);
  for (unsigned step = 0; step < kMostSteps; ++step) {
    double clock = now.clockHz * now.time.seconds / least;
    if (now.time.seconds >= 0.999 * least ||
        clock < kLowestClock * target.clock.boostHz) {
      break;
    }
    now = timeAt(launched, View::Expectation, clock);
  }
  if (now.time.seconds < 0.99 * least) {
    now.time.limit = "board power";
  }
  now.time.seconds = std::max(now.time.seconds, least);
  return now;
}

static Estimate finish(const Clocked &clocked, double dynamic,
                       const Target &target) {
  return {clocked.time.seconds,
          dynamic + target.power.idle * clocked.time.seconds, clocked.clockHz,
          clocked.time.limit};
}

KernelCost estimate(const KernelWork &work, const Target &target,
                    const CostOptions &options) {
  KernelCost cost;
  cost.name = work.name;
  cost.workgroups = work.workgroups();
  if (cost.workgroups <= 0) {
    // An empty grid is still a launch.
    cost.bound = {target.launch.gap, target.power.idle * target.launch.gap,
                  target.clock.boostHz, "launch"};
    cost.expectation = cost.bound;
    return cost;
  }
  llvm::StringRef limit;
  Launched launched{work, target, trafficOf(work, target, options), {}, 1};
  launched.energy = energyAmounts(work, launched.traffic.sum);
  launched.perUnit = workgroupsPerUnit(work, target, limit);
  double dynamic = dynamicJoules(launched.energy, target);
  Clocked bound = timeAt(launched, View::Bound, target.clock.boostHz);
  Clocked expected = expectedTime(launched, dynamic);
  cost.bound = finish(bound, dynamic, target);
  cost.expectation = finish(expected, dynamic, target);
  cost.workgroupsPerUnit = launched.perUnit;
  cost.rounds = cost.workgroups / (launched.perUnit * target.execution.units);
  for (const auto &[type, flop] : launched.energy.flopByType) {
    cost.matrixFlop += flop;
  }
  cost.sharedBytes = launched.energy.sharedBytes;
  cost.traffic = launched.traffic.sum;
  if (options.explain) {
    Rates rates(target, View::Expectation, expected.clockHz,
                launched.traffic.sum);
    cost.time = timeTerm(work, launched.traffic, expected.time, rates);
    cost.time.children.push_back(trafficTerm(work, launched.traffic));
    Term perUnit{"workgroups that a unit runs at once",
                 launched.perUnit,
                 "",
                 "",
                 {limit.str()},
                 {}};
    cost.time.children.push_back(std::move(perUnit));
    cost.energy = energyTerm(launched.energy, target, cost.expectation.seconds);
  }
  return cost;
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
