//===- Stages.h - The arrows of the compiler, in order --------------------===//

#ifndef MODELC_LIB_DRIVER_STAGES_H
#define MODELC_LIB_DRIVER_STAGES_H

#include "lib/Driver/Driver.h"
#include "lib/Hardware/Hardware.h"
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

/// Sizes of one prefill step.
struct StepSizes {
  int64_t tokens = 0;  ///< at most, of one step
  int64_t prompts = 0; ///< of the workload, whole, in one step
};
StepSizes stepSizes(const RequestShape &workload);

/// Kernels and plans in the final form, for the graphs of `phases`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToFinalSchedule(mlir::ModuleOp phases, const Target &target,
                     const CompileOptions &options);

/// What the estimate needs of the model beside its schedules.
struct ModelInput {
  model::GraphOp graph;   ///< as imported
  ModelSummary onOneRank; ///< of a bound graph
  int64_t pageSize = 0;   ///< tokens in a page of the cache
};

/// The cost of a phase ("prefill": all prompts; "decode": a step at the mean
/// context) with the sums behind every number.
mlir::FailureOr<PlanCost> costPhase(mlir::ModuleOp module,
                                    llvm::StringRef phase,
                                    const RequestShape &workload,
                                    int64_t pageSize, const Target &target);

/// All figures of a module in the final form at the workload of `options`.
mlir::FailureOr<Report> estimateModel(mlir::ModuleOp module, ModelInput model,
                                      const Target &target,
                                      const CompileOptions &options,
                                      llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_STAGES_H
