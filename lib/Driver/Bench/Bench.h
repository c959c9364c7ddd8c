//===- Bench.h - What modelc-bench can be asked ---------------------------===//

#ifndef MODELC_LIB_DRIVER_BENCH_BENCH_H
#define MODELC_LIB_DRIVER_BENCH_BENCH_H

#include "lib/Driver/Driver.h"

namespace modelc {

/// Prints what part of the matrix rate and of the memory bandwidth the linears
/// of a model reach at some numbers of rows, and which unit binds them, beside
/// the times of `published`, a table of measured kernels, or empty. This and
/// printSearch print to stdout and return an ExitCode; mistakes are explained
/// on stderr.
int printPeaks(const CompileOptions &options, llvm::ArrayRef<int64_t> rows,
               llvm::StringRef published);

/// Compiles all kernels of a model on one core and prints how many tiles were
/// considered, and how fast.
int printSearch(const CompileOptions &options);

/// Tables of measured deployments, and where the files of their models lie.
struct ServingOptions {
  std::vector<std::string> files;
  std::string models, directory;
};

/// Predicts every row from a curve and prints how far off the predictions are.
int printServing(const ServingOptions &options);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_BENCH_BENCH_H
