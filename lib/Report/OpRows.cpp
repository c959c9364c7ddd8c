#include "lib/Report/OpRows.h"
#include "llvm/ADT/STLExtras.h"

namespace modelc {

std::vector<OpRow> opRows(const PlanCost &plan) {
  std::vector<OpRow> rows;
  for (const StepCost &step : plan.steps) {
    auto row = llvm::find_if(
        rows, [&](const OpRow &known) { return known.label == step.label; });
    if (row == rows.end()) {
      rows.push_back({});
      row = rows.end() - 1;
      row->label = step.label;
      row->kernel = step.cost.name;
      row->limit = step.cost.expectation.limit;
    }
    const KernelCost &cost = step.cost;
    row->count += step.count;
    row->seconds.bound += step.count * cost.bound.seconds;
    row->seconds.expectation += step.count * cost.expectation.seconds;
    row->joules += step.count * cost.expectation.joules;
    row->memoryBytes += step.count * cost.traffic.memory();
    row->linkBytes += step.count * cost.traffic.link;
    row->flop += step.count * cost.matrixFlop;
  }
  double all = plan.expectation.seconds;
  OpRow start;
  start.label = kStartLabel;
  start.count = plan.starts;
  start.limit = "launch";
  start.seconds = {plan.bound.seconds, all};
  start.joules = plan.expectation.joules;
  for (const OpRow &row : rows) {
    start.seconds.bound -= row.seconds.bound;
    start.seconds.expectation -= row.seconds.expectation;
    start.joules -= row.joules;
  }
  // What is left of rounding is nothing.
  constexpr double kNothing = 1e-9;
  auto dropRest = [](double &left, double whole) {
    left = left < kNothing * whole ? 0 : left;
  };
  dropRest(start.seconds.bound, all);
  dropRest(start.joules, plan.expectation.joules);
  if (start.seconds.expectation > kNothing * all) {
    rows.push_back(start);
  }
  for (OpRow &row : rows) {
    row.share = all > 0 ? row.seconds.expectation / all : 0;
  }
  return rows;
}

} // namespace modelc
