//===- Bench.h - What modelc-bench can be asked ---------------------------===//

#ifndef MODELC_LIB_DRIVER_BENCH_BENCH_H
#define MODELC_LIB_DRIVER_BENCH_BENCH_H

#include "lib/Driver/Driver.h"

namespace modelc {

/// Predicts every `stride`-th row of tables of measured kernels and prints the
/// errors by chip, kind and type, with the `worst` of each; where the target
/// knows the kernels of the measured library, from those, or from ours if
/// `own`. These three print to stdout and return an ExitCode; mistakes are
/// explained on stderr.
int printAccuracy(llvm::ArrayRef<std::string> files, unsigned stride,
                  unsigned worst, bool own, llvm::StringRef directory);

/// Prints what part of the matrix rate and of the memory bandwidth the linears
/// of a model reach at some numbers of rows, and which unit binds them, beside
/// the times of `published`, a table as those of printAccuracy, or empty.
int printPeaks(const CompileOptions &options, llvm::ArrayRef<int64_t> rows,
               llvm::StringRef published);

/// Compiles all kernels of a model on one core and prints how many tiles were
/// considered, and how fast.
int printSearch(const CompileOptions &options);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_BENCH_BENCH_H
