#include "lib/Driver/Bench/BenchModel.h"

#include "lib/Driver/Registration.h"
#include "lib/Driver/Usage.h"
#include "lib/Import/Import.h"

using namespace mlir;
using namespace modelc;

static DialectRegistry dialects() {
  DialectRegistry registry;
  registerEverything(registry);
  return registry;
}

Lowering modelc::loweringOfAll() {
  auto lower = [](ModuleOp graphs, const Target &target, ServedSizes sizes,
                  const LinearCut *cut) {
    CompileOptions options;
    options.emit = Stage::Schedule;
    options.target = target.identity.name;
    options.workload = {
        sizes.tokens, 1, sizes.sequences,
        std::max(sizes.tokens, RequestShape().maxBatchedTokens)};
    options.cut = cut;
    return lowerToFinalSchedule(graphs, target, options);
  };
  return {dialects(), lower};
}

BenchModel::BenchModel(const CompileOptions &options)
    : options(options), context(dialects(), MLIRContext::Threading::DISABLED),
      diagnostics(&context, llvm::errs()) {
  context.loadAllAvailableDialects();
}

int BenchModel::read() {
  if (failed(checkUsage(options, llvm::errs()))) {
    return kExitUsage;
  }
  FailureOr<OwningOpRef<ModuleOp>> model =
      importModel(options.input, {}, &context, llvm::errs());
  FailureOr<Target> loaded =
      loadTarget(options.target, {}, {options.targetsDirectory}, llvm::errs());
  if (failed(model) || failed(loaded)) {
    return kExitInput;
  }
  target = std::move(*loaded);
  auto graphs = (*model)->getOps<model::GraphOp>();
  if (graphs.empty() || (*graphs.begin()).getPhase()) {
    (*model)->emitError("expected a model of no phase");
    return kExitInput;
  }
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      lowerModel(*graphs.begin(), options);
  if (failed(lowered)) {
    return kExitInput;
  }
  phases = std::move(*lowered);
  return kExitOk;
}
