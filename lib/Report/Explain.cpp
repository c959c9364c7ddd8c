#include "lib/Report/Figures.h"
#include "lib/Report/OpRows.h"
#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static void printStep(const PlanCost &plan, const StepCost &step,
                      const Target &target, llvm::raw_ostream &os) {
  const KernelCost &cost = step.cost;
  double all = step.count * cost.expectation.seconds;
  os << oneLine(step.label) << " in "
     << (step.plan.empty() ? plan.name : step.plan) << ": "
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

/// All ops of that label; false if there is none.
static bool printOpsNamed(const PlanCost &plan, llvm::StringRef label,
                          const Target &target, llvm::raw_ostream &os) {
  if (label == kStartLabel && !plan.steps.empty()) {
    printStart(plan, target, os);
    return true;
  }
  bool found = false;
  for (const StepCost &step : plan.steps) {
    if (step.label == label) {
      printStep(plan, step, target, os);
      found = true;
    }
  }
  return found;
}

static void printFigure(const Figure &figure, const Target &target,
                        llvm::raw_ostream &os) {
  if (!figure.value) {
    os << figure.name << ": none, " << figure.reason << "\n";
    return;
  }
  os << figure.name << ": "
     << formatQuantity(figure.value->expectation, figure.unit, 4)
     << " expected, " << formatQuantity(figure.value->bound, figure.unit, 4)
     << " bound" << (figure.note.empty() ? "" : "; ") << figure.note << "\n";
  printTerm(figure.term, target, os);
}

static void complain(llvm::ArrayRef<Figure> figures, const PlanCost &plan,
                     llvm::StringRef item, llvm::raw_ostream &errors) {
  std::vector<llvm::StringRef> names, ops;
  // Those of the other batching have the same names with a word in front.
  for (const Figure &figure : figures) {
    if (!llvm::StringRef(figure.name).starts_with("static_")) {
      names.push_back(figure.name);
    }
  }
  for (const StepCost &step : plan.steps) {
    if (!llvm::is_contained(ops, step.label)) {
      ops.push_back(step.label);
    }
  }
  std::string listed = plan.name + " step, which does not run";
  if (!ops.empty()) {
    ops.push_back(kStartLabel);
    listed = plan.name + " (" + listWords(ops) + ")";
  }
  std::vector<llvm::StringRef> all = ops;
  llvm::append_range(all, names);
  sayError(errors) << "expected a figure (" << listWords(names)
                   << ") or an op of " << listed << ", got \"" << item << "\""
                   << didYouMean(item, all) << "\n";
}

llvm::LogicalResult explainItem(const Report &report, llvm::StringRef item,
                                llvm::StringRef phase, const Target &target,
                                llvm::raw_ostream &os,
                                llvm::raw_ostream &errors) {
  const PlanCost &plan = phase == "prefill" ? report.prefill : report.decode;
  if (printOpsNamed(plan, item, target, os)) {
    return llvm::success();
  }
  FigureList all = figures(report, target);
  bool found = false;
  for (const Figure &figure : all.all()) {
    if (figure.name == item || figure.key == item) {
      printFigure(figure, target, os);
      found = true;
    }
  }
  if (!found) {
    complain(all.all(), plan, item, errors);
  }
  return llvm::success(found);
}

} // namespace modelc
