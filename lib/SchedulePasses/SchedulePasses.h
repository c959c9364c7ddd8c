//===- SchedulePasses.h - From plain tiles to a final schedule ------------===//
//
// Each pass asks capabilities of the machine that the module names in the
// attribute `schedule.target`, never who made it. Their order is fixed in
// buildSchedulePipeline.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_SCHEDULEPASSES_H
#define LIB_SCHEDULEPASSES_SCHEDULEPASSES_H

#include "mlir/Pass/Pass.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace modelc {

struct Target;
namespace schedule {
class KernelOp;
} // namespace schedule

#define GEN_PASS_DECL
#include "lib/SchedulePasses/Passes.h.inc"

/// Where the machine that the module names is described.
struct MachineOptions {
  /// Folder of the target files; empty: the one the compiler was built with.
  std::string targetsDir;
  /// Facts of the target to replace, as "key=value".
  std::vector<std::string> overrides;
};

/// Adds the passes that turn plain kernels into final ones, in their order.
void buildSchedulePipeline(mlir::OpPassManager &manager,
                           const MachineOptions &options = {});

/// The same passes for a machine that is loaded already, one kernel after the
/// other: they are made once. Holds on to `target`.
class KernelFinisher {
public:
  KernelFinisher(mlir::MLIRContext *context, const Target &target);
  mlir::LogicalResult finish(schedule::KernelOp kernel) const;
  /// The same form, unproven: of a kernel that is judged and not kept.
  mlir::LogicalResult finishUnproven(schedule::KernelOp kernel) const;

private:
  using Passes =
      std::vector<std::function<mlir::LogicalResult(schedule::KernelOp)>>;
  static mlir::LogicalResult run(const Passes &passes,
                                 schedule::KernelOp kernel);

  Passes passes, unproven;
};

/// Whether the waits and barriers of a kernel in its final form complete all
/// that its storage asks for, in time and in every order of its waves; says at
/// the op what is wrong. Looks at nothing but the kernel: for one from a file
/// as for one that was just made.
mlir::LogicalResult proveWaits(schedule::KernelOp kernel, const Target &target);

/// Makes the passes and the pipeline `schedule-finish` known by their flags.
void registerScheduleFlags();

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_SCHEDULEPASSES_H
