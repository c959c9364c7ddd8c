//===- Diagnostics.h - Messages of passes as users read them --------------===//

#ifndef MODELC_LIB_DRIVER_DIAGNOSTICS_H
#define MODELC_LIB_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace modelc {

/// While it lives, prints the diagnostics of a context on `errors`: with the
/// line of the file that they stand at, or behind the flag, or without a place:
/// never as what the compiler calls a location.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext *context, llvm::raw_ostream &errors);

private:
  void print(const mlir::Diagnostic &diagnostic);

  llvm::raw_ostream &errors;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler inFiles;
  mlir::ScopedDiagnosticHandler all;
};

} // namespace modelc

#endif // MODELC_LIB_DRIVER_DIAGNOSTICS_H
