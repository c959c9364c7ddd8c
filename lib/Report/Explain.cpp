#include "lib/Report/OpRows.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static void printStep(const PlanCost &plan, const StepCost &step,
                      const Target &target, llvm::raw_ostream &os) {
  const KernelCost &cost = step.cost;
  double all = step.count * cost.expectation.seconds;
  os << step.label << " in " << plan.name << ": "
     << (step.collective ? "collective " : "kernel ") << cost.name << ", "
     << formatQuantity(step.count, "") << " x "
     << formatQuantity(cost.expectation.seconds, "s", 4) << " = "
     << formatQuantity(all, "s", 4) << " of "
     << formatQuantity(plan.expectation.seconds, "s", 4) << "\n";
  os << "bound: " << formatQuantity(cost.bound.seconds, "s", 4) << ", "
     << formatQuantity(cost.bound.joules, "J", 4) << ", by " << cost.bound.limit
     << "\nexpectation: " << formatQuantity(cost.expectation.seconds, "s", 4)
     << ", " << formatQuantity(cost.expectation.joules, "J", 4) << ", by "
     << cost.expectation.limit << ", at "
     << formatQuantity(cost.expectation.clockHz, "Hz") << "\n";
  printTerm(cost.time, target, os);
  printTerm(cost.energy, target, os);
}

static void printStart(const PlanCost &plan, const Target &target,
                       llvm::raw_ostream &os) {
  os << kStartLabel << " in " << plan.name << ": "
     << formatQuantity(plan.starts, "") << " x "
     << formatQuantity(plan.startTime.value, "s", 4) << " = "
     << formatQuantity(plan.starts * plan.startTime.value, "s", 4) << " of "
     << formatQuantity(plan.expectation.seconds, "s", 4) << "\n";
  printTerm(plan.startTime, target, os);
  printTerm(plan.startEnergy, target, os);
}

llvm::LogicalResult explainOp(const PlanCost &plan, llvm::StringRef label,
                              const Target &target, llvm::raw_ostream &os,
                              llvm::raw_ostream &errors) {
  if (label == kStartLabel) {
    printStart(plan, target, os);
    return llvm::success();
  }
  std::vector<llvm::StringRef> known;
  bool found = false;
  for (const StepCost &step : plan.steps) {
    if (!llvm::is_contained(known, step.label)) {
      known.push_back(step.label);
    }
    if (step.label == label) {
      printStep(plan, step, target, os);
      found = true;
    }
  }
  if (!found) {
    known.push_back(kStartLabel);
    sayError(errors) << "expected an op of " << plan.name << " ("
                     << listWords(known) << "), got \"" << label << "\""
                     << didYouMean(label, known) << "\n";
  }
  return llvm::success(found);
}

} // namespace modelc
