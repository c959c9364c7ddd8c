//===- SchedulePasses.cpp - The order of the passes -----------------------===//

#include "lib/SchedulePasses/SchedulePasses.h"

#include "dialects/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace modelc;

namespace modelc {
#define GEN_PASS_REGISTRATION
#include "lib/SchedulePasses/Passes.h.inc"
} // namespace modelc

/// Adds a pass that knows where the machine is described.
template <typename Options>
static void add(OpPassManager &manager, const MachineOptions &machine,
                std::unique_ptr<Pass> (*create)(Options)) {
  Options options;
  options.targetsDir = machine.targetsDir;
  options.overrides.assign(machine.overrides.begin(), machine.overrides.end());
  manager.addPass(create(options));
}

void modelc::buildSchedulePipeline(OpPassManager &manager,
                                   const MachineOptions &machine) {
  // The instruction decides where operands lie.
  add(manager, machine, createScheduleChooseInstruction);
  add(manager, machine, createSchedulePlaceOperands);
  // Loads of places exist now and get the layouts of the instructions.
  add(manager, machine, createScheduleInferLayouts);
  // Index arithmetic that was repeated is shared before it is cloned again.
  manager.addPass(createCSEPass());
  add(manager, machine, createSchedulePipeline);
  // Swizzles need the register layouts of all readers; addresses the slots.
  add(manager, machine, createScheduleLayOut);
  add(manager, machine, createScheduleAssignStorage);
  add(manager, machine, createScheduleOrderGrid);
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Last: nothing may move after it.
  add(manager, machine, createScheduleCountWaits);
}

void modelc::registerScheduleFlags() {
  registerSchedulePasses();
  struct Options : PassPipelineOptions<Options> {
    Option<std::string> targetsDir{*this, "targets-dir",
                                   llvm::cl::desc("folder of target files")};
    ListOption<std::string> overrides{
        *this, "set", llvm::cl::desc("facts to replace, as key=value")};
  };
  PassPipelineRegistration<Options>(
      "schedule-finish", "From plain kernels to final ones",
      [](OpPassManager &manager, const Options &options) {
        MachineOptions machine{options.targetsDir, {}};
        machine.overrides.assign(options.overrides.begin(),
                                 options.overrides.end());
        buildSchedulePipeline(manager, machine);
      });
}
