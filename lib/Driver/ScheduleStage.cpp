//===- ScheduleStage.cpp - From graphs to kernels in their final form -----===//

#include "lib/Driver/Stages.h"

#include "dialects/Schedule/Schedule.h"
#include "lib/Driver/Judge.h"
#include "lib/Kernels/Kernels.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace modelc;

EstimatedSteps modelc::estimatedSteps(const RequestShape &workload) {
  int64_t length = workload.inputLength, batch = workload.batch;
  int64_t budget = workload.maxBatchedTokens;
  EstimatedSteps steps;
  steps.promptsTogether =
      promptsTogether(batch, length, workload.outputLength, budget);
  steps.prefillAll = prefillSteps(batch, length, budget);
  steps.prefillOne = prefillSteps(1, length, budget);
  steps.prefillInFlight = prefillSteps(steps.promptsTogether, length, budget);
  return steps;
}

StepShape modelc::decodeStep(const RequestShape &workload, int64_t context) {
  return {{{workload.batch, 1, context}}};
}

static std::vector<StepShape> shapesOf(const RequestShape &workload) {
  EstimatedSteps steps = estimatedSteps(workload);
  std::vector<StepShape> shapes = {
      decodeStep(workload, workload.inputLength + 1)};
  for (const auto *phase :
       {&steps.prefillAll, &steps.prefillOne, &steps.prefillInFlight}) {
    for (const CountedStep &counted : *phase) {
      shapes.push_back(counted.step);
    }
  }
  return shapes;
}

/// Brings a kernel into its final form and proves its waits; one that the input
/// holds in that form is proven as it is.
static LogicalResult finish(schedule::KernelOp kernel,
                            const KernelFinisher &finisher,
                            const Target &target,
                            const CompileOptions &options) {
  bool isFinal = kernel.getStage() == schedule::Stage::Final;
  // Proofs change no kernel, and none of an estimate alone leaves.
  if (options.wantsEstimateOnly()) {
    return isFinal ? success() : finisher.finishUnproven(kernel);
  }
  return isFinal ? proveWaits(kernel, target) : finisher.finish(kernel);
}

/// The same of a kernel that this run has made: that it has no final form is
/// said once, at the op that asked for it, as the user wrote no schedule.
static LogicalResult finishMade(schedule::KernelOp kernel,
                                const KernelFinisher &finisher,
                                const Target &target,
                                const CompileOptions &options) {
  if (kernel.getStage() == schedule::Stage::Final) {
    return finish(kernel, finisher, target, options);
  }
  std::string why;
  {
    ScopedDiagnosticHandler first(kernel->getContext(), [&](Diagnostic &said) {
      why = why.empty() ? said.str() : why;
      return success();
    });
    if (succeeded(finish(kernel, finisher, target, options))) {
      return success();
    }
  }
  return emitError(kernel.getLoc(), "expected sizes and types of which '")
         << target.identity.name << "' runs a kernel, got '"
         << kernel.getSymName() << "': " << why;
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::lowerToFinalSchedule(ModuleOp phases, const Target &target,
                             const CompileOptions &options,
                             SearchCount *count) {
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(phases->clone());
  (*module)->setAttr("schedule.target",
                     StringAttr::get(module->getContext(), options.target));
  KernelOptions kernels;
  const RequestShape &workload = options.workload;
  kernels.maxTokens = workload.maxBatchedTokens;
  kernels.maxSequences = std::max(kernels.maxSequences, workload.batch);
  kernels.maxContext = std::max(kernels.maxContext,
                                workload.inputLength + workload.outputLength);
  if (options.wantsEstimateOnly() && !options.wantsAnyStep) {
    kernels.steps = shapesOf(workload);
  }
  kernels.count = count;
  kernels.cut = options.cut;
  KernelFinisher finisher(module->getContext(), target);
  Judge judge(finisher, target);
  CostOptions followed;
  followed.chosen = true;
  kernels.evaluate = judge.evaluateWith({});
  kernels.follow = judge.evaluateWith(followed);
  if (failed(lowerToSchedule(*module, target, kernels))) {
    return failure();
  }
  for (schedule::KernelOp kernel : module->getOps<schedule::KernelOp>()) {
    if (failed(finishMade(kernel, finisher, target, options))) {
      return failure();
    }
  }
  return module;
}
