//===- PrintCost.cpp - The cost of every kernel and plan of a module ------===//

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Support/Support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace modelc {

static void printEstimate(StringRef name, const Estimate &estimate,
                          raw_ostream &os) {
  os << "  " << name << ": " << formatQuantity(estimate.seconds, "s", 4) << ", "
     << formatQuantity(estimate.joules, "J", 4) << ", bound by "
     << estimate.limit << "\n";
}

static void printKernel(const KernelCost &cost, raw_ostream &os) {
  os << "kernel " << cost.name << "\n";
  printEstimate("bound", cost.bound, os);
  printEstimate("expectation", cost.expectation, os);
  os << "  workgroups: " << formatQuantity(cost.workgroups, "") << ", "
     << formatQuantity(cost.workgroupsPerUnit, "") << " on a unit, "
     << formatQuantity(cost.rounds, "") << " rounds\n";
  os << "  matrix: " << formatQuantity(cost.matrixFlop, "flop", 4)
     << ", memory: " << formatQuantity(cost.traffic.read, "B", 4) << " read, "
     << formatQuantity(cost.traffic.written, "B", 4)
     << " written, L2: " << formatQuantity(cost.traffic.l2, "B", 4)
     << ", shared: " << formatQuantity(cost.sharedBytes, "B", 4)
     << ", links: " << formatQuantity(cost.traffic.link, "B", 4) << "\n";
}

static void printPlan(const PlanCost &cost, raw_ostream &os) {
  os << "plan " << cost.name << "\n";
  printEstimate("bound", cost.bound, os);
  printEstimate("expectation", cost.expectation, os);
  os << "  weights: " << formatQuantity(cost.storage.weights, "B", 4)
     << ", caches: " << formatQuantity(cost.storage.caches, "B", 4)
     << ", workspace: " << formatQuantity(cost.storage.workspace, "B", 4)
     << "\n";
  for (const StepCost &step : cost.steps) {
    os << "  " << step.label << ": " << formatQuantity(step.count, "") << " x "
       << formatQuantity(step.cost.expectation.seconds, "s", 4) << ", bound by "
       << step.cost.expectation.limit << "\n";
  }
}

namespace {
/// Prints what `costKernel` and `PlanCoster` say. Options are words:
/// target=PATH, explain, sizes=name:number and groups=SEQUENCESxNEW@CONTEXT.
struct PrintCost : PassWrapper<PrintCost, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintCost)
  PrintCost() = default;
  PrintCost(const PrintCost &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "schedule-print-cost"; }
  StringRef getDescription() const final {
    return "Print time and energy of every kernel and plan on a target";
  }
  void runOnOperation() final;
  LogicalResult readSizes(Bindings &bindings);
  FailureOr<StepShape> readStep();
  FailureOr<PlanCost> costOf(func::FuncOp plan, PlanCoster &plans,
                             const Bindings &bindings);
  CostOptions costOptions() const;

  Option<std::string> targetName{
      *this, "target",
      llvm::cl::desc("name or path of the target; empty: the module's")};
  Option<std::string> folder{*this, "targets-dir",
                             llvm::cl::desc("folder of the target files")};
  ListOption<std::string> overrides{
      *this, "set", llvm::cl::desc("facts to replace, as key=value")};
  ListOption<std::string> sizes{
      *this, "sizes", llvm::cl::desc("sizes and symbols: m:64,context:1024")};
  ListOption<std::string> groups{
      *this, "groups",
      llvm::cl::desc("of the step that plans run: 64x1@2048,1x512@512")};
  Option<bool> explain{*this, "explain", llvm::cl::init(false),
                       llvm::cl::desc("print the sums and the facts")};
};
} // namespace

LogicalResult PrintCost::readSizes(Bindings &bindings) {
  for (const std::string &text : sizes) {
    auto [name, value] = StringRef(text).split(':');
    double number = 0;
    if (value.getAsDouble(number)) {
      getOperation().emitError("expected name:number in sizes, got '")
          << text << "'";
      return failure();
    }
    bindings[name.str()] = number;
  }
  return success();
}

FailureOr<StepShape> PrintCost::readStep() {
  StepShape step;
  for (const std::string &text : groups) {
    StepGroup group;
    StringRef rest = text;
    if (rest.consumeInteger(10, group.sequences) || !rest.consume_front("x") ||
        rest.consumeInteger(10, group.newTokens) || !rest.consume_front("@") ||
        rest.getAsInteger(10, group.context)) {
      return getOperation().emitError(
                 "expected SEQUENCESxNEW@CONTEXT in groups, got '")
             << text << "'";
    }
    step.groups.push_back(group);
  }
  return step;
}

CostOptions PrintCost::costOptions() const {
  CostOptions options;
  options.explain = explain;
  options.chosen = true;
  return options;
}

FailureOr<PlanCost> PrintCost::costOf(func::FuncOp plan, PlanCoster &plans,
                                      const Bindings &bindings) {
  if (groups.empty()) {
    return plans.cost(plan, bindings, costOptions());
  }
  FailureOr<StepShape> step = readStep();
  if (failed(step)) {
    return failure();
  }
  return plans.cost(plan, *step, bindings, costOptions());
}

void PrintCost::runOnOperation() {
  Bindings bindings;
  ModuleOp module = getOperation();
  auto own = module->getAttrOfType<StringAttr>("schedule.target");
  std::string name = targetName.empty() && own ? own.str() : targetName;
  FailureOr<Target> target =
      loadTarget(name, llvm::to_vector(overrides), {folder}, llvm::errs());
  if (failed(target) || failed(readSizes(bindings))) {
    return signalPassFailure();
  }
  PlanCoster plans(module, *target);
  for (auto plan : module.getOps<func::FuncOp>()) {
    FailureOr<PlanCost> cost = costOf(plan, plans, bindings);
    if (failed(cost)) {
      return signalPassFailure();
    }
    printPlan(*cost, llvm::outs());
  }
  // Kernels that a plan launches are printed with it.
  bool hasPlan = !module.getOps<func::FuncOp>().empty();
  for (auto kernel : module.getOps<schedule::KernelOp>()) {
    if (hasPlan) {
      break;
    }
    FailureOr<KernelCost> cost =
        costKernel(kernel, *target, bindings, costOptions());
    if (failed(cost)) {
      return signalPassFailure();
    }
    printKernel(*cost, llvm::outs());
    if (explain) {
      printTerm(cost->time, *target, llvm::outs());
      printTerm(cost->energy, *target, llvm::outs());
    }
  }
}

void registerCostPasses() { PassRegistration<PrintCost>(); }

} // namespace modelc
