//===- SchedulePasses.cpp - The order of the passes -----------------------===//

#include "lib/SchedulePasses/SchedulePasses.h"

#include "lib/SchedulePasses/Machine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace modelc;

namespace modelc {
#define GEN_PASS_REGISTRATION
#include "lib/SchedulePasses/Passes.h.inc"
} // namespace modelc

template <typename Options>
using Create = std::unique_ptr<Pass> (*)(Options);

/// Regions of kernels have one block each: none to merge or to drop.
static std::unique_ptr<Pass> createFold() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // The first sweep follows what it changes; a second finds nothing.
  config.setMaxIterations(1);
  return createCanonicalizerPass(config);
}

/// The order of the passes, once: `visit` gets each as a function and as a
/// pass, `tidy` stands where index arithmetic is simplified.
template <typename Visit, typename Tidy>
static void inOrder(Visit visit, Tidy tidy) {
  // An instruction multiplies for one workgroup or for several.
  visit(pairWorkgroups,
        Create<SchedulePairWorkgroupsOptions>(createSchedulePairWorkgroups));
  // The instruction decides where operands lie.
  visit(chooseInstructions, Create<ScheduleChooseInstructionOptions>(
                                createScheduleChooseInstruction));
  visit(placeOperands,
        Create<SchedulePlaceOperandsOptions>(createSchedulePlaceOperands));
  visit(drainInChunks, Create<ScheduleDrainOptions>(createScheduleDrain));
  // Loads of places exist now and get the layouts of the instructions.
  visit(inferLayouts,
        Create<ScheduleInferLayoutsOptions>(createScheduleInferLayouts));
  // How far ahead is a question of registers.
  visit(loadAhead, Create<ScheduleLoadAheadOptions>(createScheduleLoadAhead));
  // Index arithmetic that was repeated is shared before it is cloned again.
  tidy([] { return createCSEPass(); });
  // Loops that are staggered need no other copies ahead.
  visit(staggerLoops, Create<ScheduleStaggerOptions>(createScheduleStagger));
  // Before pipelining: a ring between roles needs no copies ahead of a loop.
  visit(specialiseRoles,
        Create<ScheduleSpecialiseOptions>(createScheduleSpecialise));
  visit(pipelineLoops, Create<SchedulePipelineOptions>(createSchedulePipeline));
  // Swizzles need the register layouts of all readers; addresses the slots.
  visit(layOut, Create<ScheduleLayOutOptions>(createScheduleLayOut));
  visit(assignStorage,
        Create<ScheduleAssignStorageOptions>(createScheduleAssignStorage));
  visit(orderGrid, Create<ScheduleOrderGridOptions>(createScheduleOrderGrid));
  tidy(createFold);
  tidy([] { return createCSEPass(); });
  // Last: nothing may move after it.
  visit(countWaits,
        Create<ScheduleCountWaitsOptions>(createScheduleCountWaits));
}

/// A pass that knows where the machine is described.
template <typename Options>
static std::unique_ptr<Pass> describedBy(const MachineOptions &machine,
                                         Create<Options> create) {
  Options options;
  options.targetsDir = machine.targetsDir;
  options.overrides.assign(machine.overrides.begin(), machine.overrides.end());
  return create(options);
}

void modelc::buildSchedulePipeline(OpPassManager &manager,
                                   const MachineOptions &machine) {
  inOrder([&](KernelFunction,
              auto create) { manager.addPass(describedBy(machine, create)); },
          [&](auto create) { manager.addPass(create()); });
}

KernelFinisher::KernelFinisher(MLIRContext *context, const Target &target) {
  auto bound = [&target](KernelFunction function) {
    return [function, &target](schedule::KernelOp kernel) {
      return function(kernel, target);
    };
  };
  inOrder(
      [&](KernelFunction function, auto) {
        passes.push_back(bound(function));
        bool proves = function == countWaits;
        unproven.push_back(bound(proves ? countWaitsUnproven : function));
      },
      [&](auto create) {
        auto manager = std::make_shared<PassManager>(
            context, schedule::KernelOp::getOperationName());
        manager->enableVerifier(false);
        manager->addPass(create());
        for (Passes *list : {&passes, &unproven}) {
          list->push_back([manager](schedule::KernelOp kernel) {
            return manager->run(kernel);
          });
        }
      });
}

LogicalResult KernelFinisher::run(const Passes &passes,
                                  schedule::KernelOp kernel) {
  return success(llvm::all_of(
      passes, [&](const auto &pass) { return succeeded(pass(kernel)); }));
}

LogicalResult KernelFinisher::finish(schedule::KernelOp kernel) const {
  return run(passes, kernel);
}

LogicalResult KernelFinisher::finishUnproven(schedule::KernelOp kernel) const {
  return run(unproven, kernel);
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
