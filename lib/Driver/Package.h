//===- Package.h - What a compilation writes, and reads again -------------===//

#ifndef MODELC_LIB_DRIVER_PACKAGE_H
#define MODELC_LIB_DRIVER_PACKAGE_H

#include "lib/Driver/Stages.h"
#include "lib/Emit/Emit.h"
#include "lib/Support/Support.h"

namespace modelc {

/// Writes sources, host library, manifest, schedules and estimate to the
/// output folder of `options`, with `--emit=binary` binaries too: all of it or
/// nothing. Returns an ExitCode.
int writePackageOf(mlir::ModuleOp module, const ModelFacts &model,
                   const Report &report, const Target &target,
                   const CompileOptions &options, llvm::raw_ostream &errors);

/// What the estimate says of each kernel at the sizes of the step that runs it,
/// or where none does, as near to the last decode step as it serves, a size of
/// its own at the most; by symbol.
mlir::FailureOr<std::map<std::string, Prediction>>
predictionsOf(mlir::ModuleOp module, const Report &report,
              const Bindings &lastStep, const Target &target);

/// What the manifest of a package says for the speed of some of its kernels, in
/// words.
llvm::LogicalResult printEvidence(const SourceFile &manifest,
                                  llvm::ArrayRef<std::string> symbols,
                                  llvm::raw_ostream &os,
                                  llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_PACKAGE_H
