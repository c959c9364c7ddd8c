//===- NamedMachine.h - The target that a developer's pass names ----------===//

#ifndef LIB_KERNELS_NAMEDMACHINE_H
#define LIB_KERNELS_NAMEDMACHINE_H

#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinOps.h"

namespace modelc::kernels {

/// The target of that name in `folder`, or where that is empty in
/// `targetsFolder`. Mistakes are diagnostics at the module.
mlir::FailureOr<Target> loadNamedMachine(mlir::ModuleOp module,
                                         llvm::StringRef name,
                                         llvm::StringRef folder);

} // namespace modelc::kernels

#endif // LIB_KERNELS_NAMEDMACHINE_H
