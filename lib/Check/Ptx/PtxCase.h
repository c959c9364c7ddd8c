//===- PtxCase.h - A case whose code is PTX -------------------------------===//

#ifndef LIB_CHECK_PTX_PTXCASE_H
#define LIB_CHECK_PTX_PTXCASE_H

#include "lib/Check/Check.h"
#include "lib/Hardware/Hardware.h"

namespace modelc::ptx {

/// Whether a file is PTX, by what it begins with.
bool isText(llvm::StringRef path);

/// Runs a case; `target` may be null.
llvm::LogicalResult runCase(const CheckCase &from, const Target *target,
                            const CheckOptions &options,
                            llvm::raw_ostream &report,
                            llvm::raw_ostream &errors);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXCASE_H
