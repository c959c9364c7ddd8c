//===- Package.h - What a compilation writes, and reads again -------------===//

#ifndef MODELC_LIB_DRIVER_PACKAGE_H
#define MODELC_LIB_DRIVER_PACKAGE_H

#include "lib/Driver/Stages.h"
#include "lib/Emit/Emit.h"

namespace modelc {

/// Writes sources, host library, manifest, schedules and estimate to the
/// output folder of `options`, with `--emit=binary` binaries too: all of it or
/// nothing. Returns an ExitCode.
int writePackageOf(mlir::ModuleOp module, const ModelFacts &model,
                   const Report &report, const Target &target,
                   const CompileOptions &options, llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_PACKAGE_H
