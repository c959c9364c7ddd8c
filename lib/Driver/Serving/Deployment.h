//===- Deployment.h - A compiled model and what its steps take ------------===//

#ifndef MODELC_LIB_DRIVER_SERVING_DEPLOYMENT_H
#define MODELC_LIB_DRIVER_SERVING_DEPLOYMENT_H

#include "lib/Driver/Stages.h"
#include "lib/Engines/Engines.h"

namespace modelc {

/// Answers every step of a compiled model; what a step takes is found once.
class Deployment {
public:
  /// `engine` runs it; null: nothing stands around its kernels.
  Deployment(const Compiled &compiled, const EngineStep *engine);
  /// Whether steps and memory are those of the engine; the bound never is.
  void setEngine(const EngineStep *runs) { engine = runs; }

  /// One step. Where prompts stand beside decodes, both in one step or the
  /// prompts in a step of their own before it, whichever is shorter.
  mlir::FailureOr<StepPoint> time(const StepShape &step);
  /// What memory holds of requests as long as those of the options.
  mlir::FailureOr<FitResult> fits();

private:
  mlir::FailureOr<PlanCost> cost(llvm::StringRef phase, const StepShape &step);
  mlir::FailureOr<StepPoint> kernelsOf(const StepShape &step);
  mlir::FailureOr<StepPoint> inOneStep(const StepShape &step);

  const Compiled &compiled;
  const EngineStep *engine;
  PlanCoster plans;
  std::map<std::vector<StepGroup>, StepPoint> known;
};

} // namespace modelc

#endif // MODELC_LIB_DRIVER_SERVING_DEPLOYMENT_H
