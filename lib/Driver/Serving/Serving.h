//===- Serving.h - Questions of those who serve: curves of deployments ----===//

#ifndef MODELC_LIB_DRIVER_SERVING_SERVING_H
#define MODELC_LIB_DRIVER_SERVING_SERVING_H

#include "lib/Driver/Serving/Deployment.h"

namespace modelc {

/// What is asked of a deployment, read.
struct AskedOfCurve {
  std::vector<double> users; ///< none: powers of two up to what memory holds
  std::vector<Objective> objectives;
  std::string engineName = "modelc";
  std::optional<EngineStep> engine; ///< none: our own, with nothing around it
  /// Users at most that a step must have a token for.
  int64_t most = 0;
};

/// Reads `asked`, for the steps and engines of `options`. Says on `errors` what
/// else was expected.
mlir::FailureOr<AskedOfCurve> readAsked(const ServeOptions &asked,
                                        const CompileOptions &options,
                                        llvm::raw_ostream &errors);

/// Compiles a model for one plan and answers its curve. An ExitCode.
int makeCurve(const CompileOptions &options, const AskedOfCurve &asked,
              CurveReport &report, llvm::raw_ostream &errors);

/// A plan of a space of them.
struct Plan {
  CompileOptions options;
  int code = kExitOk; ///< of its compilation
  CurveReport curve;  ///< where that is kExitOk
  std::string said;   ///< on the error stream
  /// In words where there is no curve.
  std::string name() const;
};

/// The products of all lists in `asked`, each compiled; an ExitCode where the
/// lists have a mistake, or where no plan of them gives a curve.
int makePlans(const CompileOptions &options, const ServeOptions &asked,
              std::vector<Plan> &plans, llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_SERVING_SERVING_H
