//===- Usage.h - Mistakes of a command line -------------------------------===//

#ifndef LIB_DRIVER_USAGE_H
#define LIB_DRIVER_USAGE_H

#include "lib/Driver/Driver.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

namespace modelc {
struct Target;

/// Whether the command line names a model, and not a verb that is misspelled.
llvm::LogicalResult checkInput(const CompileOptions &options,
                               llvm::raw_ostream &errors);

/// Whether the flags have values that mean something, and go together. Says on
/// `errors` what was expected.
llvm::LogicalResult checkUsage(const CompileOptions &options,
                               llvm::raw_ostream &errors);

/// Whether a step takes the tokens of a page of the cache.
llvm::LogicalResult checkStepTokens(const CompileOptions &options, int64_t page,
                                    llvm::raw_ostream &errors);

/// Whether the target's file states prices on the basis that was asked for.
llvm::LogicalResult checkPriceBasis(const CompileOptions &options,
                                    const Target &target,
                                    llvm::raw_ostream &errors);

/// Whether the folder of target files holds the prelude that the target names.
llvm::LogicalResult checkPrelude(const CompileOptions &options,
                                 const Target &target,
                                 llvm::raw_ostream &errors);

/// Writes a text to the file `path` all at once or not at all; empty or "-": to
/// `out`. Returns an ExitCode.
int writeText(llvm::StringRef path,
              llvm::function_ref<void(llvm::raw_ostream &)> print,
              llvm::raw_ostream &out, llvm::raw_ostream &errors);

} // namespace modelc

#endif // LIB_DRIVER_USAGE_H
