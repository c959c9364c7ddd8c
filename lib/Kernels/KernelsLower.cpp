//===- KernelsLower.cpp - Graphs to kernels and plans, for developers -----===//

#include "lib/Kernels/Kernels.h"

#include "dialects/Model/Model.h"
#include "dialects/Schedule/Schedule.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/NamedMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace modelc;

namespace {
/// Without a judge of candidates: the bound alone orders them.
struct KernelsLowerPass
    : PassWrapper<KernelsLowerPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelsLowerPass)
  KernelsLowerPass() = default;
  KernelsLowerPass(const KernelsLowerPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "kernels-lower"; }
  StringRef getDescription() const final {
    return "Replace graphs by the kernels and plans of a target";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    kernels::insertKernelDialects(registry);
    registry.insert<func::FuncDialect>();
  }
  void runOnOperation() final {
    ModuleOp module = getOperation();
    FailureOr<Target> loaded =
        kernels::loadNamedMachine(module, target, targetsDir);
    if (failed(loaded)) {
      return signalPassFailure();
    }
    KernelOptions options;
    options.maxTokens = maxTokens;
    options.maxSequences = maxSequences;
    if (failed(lowerToSchedule(module, *loaded, options))) {
      signalPassFailure();
    }
  }

  Option<std::string> target{*this, "target",
                             llvm::cl::desc("name of the machine")};
  Option<std::string> targetsDir{*this, "targets-dir",
                                 llvm::cl::desc("folder of target files")};
  Option<int64_t> maxTokens{*this, "max-tokens", llvm::cl::init(16384),
                            llvm::cl::desc("of a prefill step")};
  Option<int64_t> maxSequences{*this, "max-sequences", llvm::cl::init(256),
                               llvm::cl::desc("of a step")};
};
} // namespace

void modelc::registerKernelsLower() { PassRegistration<KernelsLowerPass>(); }
