//===- Serving.h - Questions of those who serve: curves of deployments ----===//

#ifndef MODELC_LIB_DRIVER_SERVING_SERVING_H
#define MODELC_LIB_DRIVER_SERVING_SERVING_H

#include "lib/Driver/Serving/Deployment.h"

namespace modelc {

/// Numbers of users, "1,2,4", or "auto": powers of two up to what memory holds.
/// Says on `errors` what else was expected.
mlir::FailureOr<std::vector<double>> readUsers(llvm::StringRef text,
                                               llvm::raw_ostream &errors);

/// The curve of a compiled model; `users` empty: those of "auto". An ExitCode.
int makeCurve(const Compiled &compiled, llvm::ArrayRef<double> users,
              CurveReport &report, llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_SERVING_SERVING_H
