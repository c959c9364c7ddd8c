//===- Stages.h - The arrows of the compiler, in order --------------------===//

#ifndef MODELC_LIB_DRIVER_STAGES_H
#define MODELC_LIB_DRIVER_STAGES_H

#include "lib/Driver/Driver.h"
#include "lib/Hardware/Hardware.h"
#include "lib/Kernels/Kernels.h"
#include "lib/ModelPasses/ModelPasses.h"
#include "lib/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace modelc {

/// The graphs of one step of each phase, quantised, sharded and fused for one
/// rank, in a module; `graph` is left out. Mistakes are diagnostics at ops.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerModel(model::GraphOp graph, const CompileOptions &options);

/// The same, where the input already is what `--emit=model` prints.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
boundPhases(mlir::ModuleOp input, const CompileOptions &options);

/// The steps of prompts that an estimate costs.
struct EstimatedSteps {
  std::vector<CountedStep> prefillAll;      ///< all prompts
  std::vector<CountedStep> prefillOne;      ///< one prompt
  std::vector<CountedStep> prefillInFlight; ///< those read together
  int64_t promptsTogether = 1;              ///< in an in-flight batch
};
EstimatedSteps estimatedSteps(const RequestShape &workload);
/// One token for each sequence, which is its `context`-th.
StepShape decodeStep(const RequestShape &workload, int64_t context);

/// Kernels and plans in the final form, for the graphs of `phases`. What the
/// choice of tiles did is added to `count`, if there is one.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToFinalSchedule(mlir::ModuleOp phases, const Target &target,
                     const CompileOptions &options,
                     SearchCount *count = nullptr);

/// Sizes and symbols of the last decode step of a workload.
Bindings lastDecodeStep(const RequestShape &workload, int64_t pageSize);

/// What the estimate needs of the model beside its schedules.
struct ModelFacts {
  double parameters = 0;         ///< of the whole model
  double weightBytes = 0;        ///< of one rank
  double cacheBytesPerToken = 0; ///< of one rank
  int64_t maxTensorParallel = 1; ///< that model and machine allow
  int64_t pageSize = 0;          ///< tokens in a page of the cache
};

/// Of the graph as it was imported, and the graphs of the phases.
ModelFacts modelFacts(model::GraphOp graph, mlir::ModuleOp phases,
                      const Target &target);

/// A model compiled for a machine, in the final form.
struct Compiled {
  mlir::ModuleOp module;
  const ModelFacts &facts;
  const Target &target;
  const CompileOptions &options; ///< with what the file says filled in
};

/// Compiles as `compile` does and hands the kernels to `use` instead of
/// printing them. Returns what that does, or the ExitCode of a failure.
int compileFor(const CompileOptions &options,
               llvm::function_ref<int(const Compiled &)> use,
               llvm::raw_ostream &errors);

/// What every step of some sequences binds alike: sizes of caches, and how
/// tokens fall on experts.
Bindings workloadSymbols(const RequestShape &workload, int64_t pageSize);

/// What has to fit into the memory of one rank, and what could be changed.
MemoryNeeds memoryNeeds(const ModelFacts &model, double workspace);
FitChoices fitChoices(const ModelFacts &model, const CompileOptions &options);

/// The same for those who serve.
Workload served(const RequestShape &workload);
StepPoint pointOf(const PlanCost &plan, double context);

/// What a report holds beside its figures: what packages say of kernels, or the
/// sums behind all numbers.
enum class Explanations { No, Evidence, Sums };

/// All figures of a module in the final form at the workload of `options`, with
/// what `explanations` asks for.
mlir::FailureOr<Report>
estimateModel(mlir::ModuleOp module, const ModelFacts &model,
              const Target &target, const CompileOptions &options,
              Explanations explanations, llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_STAGES_H
