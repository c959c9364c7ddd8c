//===- Machine.h - The target of a module, and running over its kernels ---===//

#ifndef LIB_SCHEDULEPASSES_MACHINE_H
#define LIB_SCHEDULEPASSES_MACHINE_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinOps.h"

namespace modelc {

/// What a pass does to one kernel on one machine.
using KernelFunction = mlir::LogicalResult (*)(schedule::KernelOp kernel,
                                               const Target &target);

/// Loads the machine that the module names and runs `function` on every kernel
/// that is not final yet.
mlir::LogicalResult runOnKernels(mlir::ModuleOp module,
                                 llvm::StringRef targetsDir,
                                 llvm::ArrayRef<std::string> overrides,
                                 KernelFunction function);

//===----------------------------------------------------------------------===//
// The passes as functions of one kernel; what each does: Passes.td
//===----------------------------------------------------------------------===//

mlir::LogicalResult pairWorkgroups(schedule::KernelOp kernel,
                                   const Target &target);
mlir::LogicalResult chooseInstructions(schedule::KernelOp kernel,
                                       const Target &target);
mlir::LogicalResult placeOperands(schedule::KernelOp kernel,
                                  const Target &target);
mlir::LogicalResult drainInChunks(schedule::KernelOp kernel,
                                  const Target &target);
mlir::LogicalResult inferLayouts(schedule::KernelOp kernel,
                                 const Target &target);
mlir::LogicalResult loadAhead(schedule::KernelOp kernel, const Target &target);
mlir::LogicalResult staggerLoops(schedule::KernelOp kernel,
                                 const Target &target);
mlir::LogicalResult specialiseRoles(schedule::KernelOp kernel,
                                    const Target &target);
mlir::LogicalResult pipelineLoops(schedule::KernelOp kernel,
                                  const Target &target);
mlir::LogicalResult layOut(schedule::KernelOp kernel, const Target &target);
mlir::LogicalResult assignStorage(schedule::KernelOp kernel,
                                  const Target &target);
mlir::LogicalResult orderGrid(schedule::KernelOp kernel, const Target &target);
mlir::LogicalResult countWaits(schedule::KernelOp kernel, const Target &target);
/// Without the barriers between roles: of a kernel that is only judged.
mlir::LogicalResult countWaitsUnproven(schedule::KernelOp kernel,
                                       const Target &target);

/// An element type as target files spell it: "bf16", "f8E4M3FN".
std::string targetSpelling(mlir::Type type);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_MACHINE_H
