#include "lib/Cost/PlanSum.h"

namespace modelc {

std::string mainLimit(const PlanCost &cost, Estimate KernelCost::*which) {
  std::map<std::string, double> seconds;
  for (const StepCost &step : cost.steps) {
    const Estimate &one = step.cost.*which;
    seconds[one.limit] += step.count * one.seconds;
  }
  auto most = std::max_element(
      seconds.begin(), seconds.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == seconds.end() ? "nothing" : most->first;
}

PlanCost repeated(PlanCost plan, double times) {
  for (StepCost &step : plan.steps) {
    step.count *= times;
  }
  for (Estimate *view : {&plan.bound, &plan.expectation}) {
    view->seconds *= times;
    view->joules *= times;
  }
  plan.launches *= times;
  plan.starts *= times;
  return plan;
}

/// Adds a plan that runs behind `all`. `longest`: seconds of the longest plan
/// so far, which is the one that says clock and power of all.
static void append(PlanCost &all, PlanCost next, double &longest) {
  for (StepCost &step : next.steps) {
    step.plan = next.name;
    all.steps.push_back(std::move(step));
  }
  if (next.expectation.seconds > longest) {
    longest = next.expectation.seconds;
    all.expectation.clockHz = next.expectation.clockHz;
    all.power = std::move(next.power);
  }
  for (auto [sum, one] : {std::pair(&all.bound, &next.bound),
                          std::pair(&all.expectation, &next.expectation)}) {
    sum->seconds += one->seconds;
    sum->joules += one->joules;
  }
  all.launches += next.launches;
  all.starts += next.starts;
  // Weights and caches are the same ones; workspace is reused.
  all.storage.workspace =
      std::max(all.storage.workspace, next.storage.workspace);
}

PlanCost inTurn(std::string name, std::vector<PlanCost> plans) {
  assert(!plans.empty() && "something runs");
  if (plans.size() == 1) {
    return std::move(plans.front());
  }
  PlanCost all;
  all.name = std::move(name);
  all.starts = 0;
  all.storage = plans.front().storage;
  all.startTime = plans.front().startTime;
  all.startEnergy = plans.front().startEnergy;
  all.bound.clockHz = plans.front().bound.clockHz;
  double longest = 0;
  for (PlanCost &plan : plans) {
    append(all, std::move(plan), longest);
  }
  all.bound.limit = mainLimit(all, &KernelCost::bound);
  all.expectation.limit = mainLimit(all, &KernelCost::expectation);
  return all;
}

} // namespace modelc
