//===- BenchModel.h - A model and a machine, read for a measurement -------===//

#ifndef MODELC_LIB_DRIVER_BENCH_BENCHMODEL_H
#define MODELC_LIB_DRIVER_BENCH_BENCHMODEL_H

#include "lib/Driver/Diagnostics.h"
#include "lib/Driver/Stages.h"
#include "lib/Engines/Predict.h"

namespace modelc {

/// The compiler, for predictions.
Lowering loweringOfAll();

class BenchModel {
public:
  explicit BenchModel(const CompileOptions &options);
  /// Reads model and machine. An ExitCode; mistakes are explained on stderr.
  int read();

private:
  const CompileOptions &options;
  mlir::MLIRContext context;
  Diagnostics diagnostics;

public:
  Target target;
  mlir::OwningOpRef<mlir::ModuleOp> phases; ///< graphs of both
};

} // namespace modelc

#endif // MODELC_LIB_DRIVER_BENCH_BENCHMODEL_H
