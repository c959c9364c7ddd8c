//===- ScheduleStage.cpp - From graphs to kernels in their final form -----===//

#include "lib/Driver/Stages.h"

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Kernels/Kernels.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace modelc;

/// Adds the names of the buffers of a kernel of so many rows that are `wanted`
/// and stay in the last cache from one kernel to the next.
static void addCached(schedule::KernelOp kernel, const Target &target,
                      double rows, llvm::function_ref<bool(StringRef)> wanted,
                      std::vector<std::string> &names) {
  Block &entry = kernel.getEntry();
  for (auto [position, argument] : llvm::enumerate(entry.getArguments())) {
    auto type = dyn_cast<schedule::BufferType>(argument.getType());
    StringRef name = kernel.getArgumentName(position);
    if (type && wanted(name) && staysCached(type.getBytes(rows), target)) {
      names.push_back(name.str());
    }
  }
}

/// What the kernel before a linear has just written.
static bool isInputOfLinear(StringRef name) {
  return name == "a" || name.starts_with("a_") || name == "residual";
}
static bool isAny(StringRef) { return true; }

/// What a candidate takes, by the real passes and the real cost: what is judged
/// is what would be emitted.
static FailureOr<Judgement> judge(const KernelSequence &kernels,
                                  const KernelFinisher &finisher,
                                  const Target &target,
                                  ArrayRef<Bindings> sizes,
                                  const CostOptions &options) {
  // A candidate that does not fit the machine is no mistake of the user.
  ScopedDiagnosticHandler quiet(kernels.front()->getContext(),
                                [](Diagnostic &) { return success(); });
  for (schedule::KernelOp kernel : kernels) {
    if (failed(finisher.finishUnproven(kernel))) {
      return failure();
    }
  }
  Judgement judgement;
  for (const Bindings &bound : sizes) {
    CostOptions following = options;
    auto rows = bound.find("m");
    if (rows != bound.end()) {
      addCached(kernels.front(), target, rows->second, isInputOfLinear,
                following.resident);
    }
    double seconds = 0;
    for (schedule::KernelOp kernel : kernels) {
      FailureOr<KernelCost> cost = costKernel(kernel, target, bound, following);
      if (failed(cost)) {
        return failure();
      }
      seconds += cost->expectation.seconds;
      if (!kernel.getGrid().getBody().getOps<schedule::PrefetchOp>().empty()) {
        // Some follow a kernel that leaves memory idle, some one that does not.
        CostOptions early = following;
        early.early = true;
        double least =
            costKernel(kernel, target, bound, early)->expectation.seconds;
        seconds += (least - cost->expectation.seconds) / 2;
      }
      if (kernel == kernels.front()) {
        judgement.perUnit = static_cast<int64_t>(cost->workgroupsPerUnit);
      }
      if (kernel != kernels.back()) {
        addCached(kernel, target, bound.at("m"), isAny, following.resident);
      }
    }
    judgement.seconds.push_back(seconds);
  }
  return judgement;
}

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
  if (options.wantsEstimateOnly()) {
    kernels.steps = shapesOf(workload);
  }
  kernels.count = count;
  kernels.engine = options.engine;
  KernelFinisher finisher(module->getContext(), target);
  auto evaluateWith = [&](const CostOptions &cost) -> EvaluateKernels {
    return [&, cost](ArrayRef<KernelSequence> candidates,
                     ArrayRef<SizesOfRun> sizes) {
      std::vector<FailureOr<Judgement>> judgements;
      for (const KernelSequence &candidate : candidates) {
        judgements.push_back(judge(candidate, finisher, target, sizes, cost));
      }
      return judgements;
    };
  };
  CostOptions followed;
  followed.chosen = true;
  kernels.evaluate = evaluateWith({});
  kernels.follow = evaluateWith(followed);
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
