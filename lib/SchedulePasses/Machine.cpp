#include "lib/SchedulePasses/Machine.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static FailureOr<Target> loadMachine(ModuleOp module, StringRef targetsDir,
                                     ArrayRef<std::string> overrides) {
  auto name = module->getAttrOfType<StringAttr>("schedule.target");
  if (!name) {
    return module.emitError("expected the attribute 'schedule.target' with the "
                            "name of a target file");
  }
  std::string messages;
  llvm::raw_string_ostream os(messages);
  FailureOr<Target> target =
      loadTarget(name.getValue(), overrides, {targetsDir.str()}, os);
  if (failed(target)) {
    return module.emitError("cannot load target '")
           << name.getValue() << "': " << messages;
  }
  return target;
}

LogicalResult modelc::runOnKernels(ModuleOp module, StringRef targetsDir,
                                   ArrayRef<std::string> overrides,
                                   KernelFunction function) {
  SmallVector<KernelOp> kernels;
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (kernel.getStage() == Stage::Plain) {
      kernels.push_back(kernel);
    }
  }
  if (kernels.empty()) {
    return success();
  }
  FailureOr<Target> target = loadMachine(module, targetsDir, overrides);
  if (failed(target)) {
    return failure();
  }
  for (KernelOp kernel : kernels) {
    if (failed(function(kernel, *target))) {
      return failure();
    }
  }
  return success();
}

std::string modelc::targetSpelling(Type type) {
  std::string name;
  llvm::raw_string_ostream os(name);
  type.print(os);
  return name;
}
