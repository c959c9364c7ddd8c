//===- Predict.h - Measured kernels as the compiler sees them -------------===//

#ifndef MODELC_LIB_DRIVER_BENCH_PREDICT_H
#define MODELC_LIB_DRIVER_BENCH_PREDICT_H

#include "lib/Driver/Bench/Measured.h"
#include "lib/Hardware/Hardware.h"
#include <map>

namespace modelc {

struct RowPrediction {
  const MeasuredRow *row = nullptr;
  double seconds = 0;  ///< 0: there is none
  std::string reason;  ///< why there is none
  std::string kernels; ///< symbols of those that would run
  std::string limit;   ///< what binds the longest of them
  double clockHz = 0;  ///< of the longest
  std::string library; ///< whose kernels they are cut like; empty: ours
  double error() const { return seconds / row->seconds - 1; }
};

/// The machines of the tables by their own names.
using Machines = std::map<std::string, Target>;

/// Flop/s of the fastest product of numbers of a table's type, or 0.
double matrixPeak(llvm::StringRef type, const Target &target);

/// A prediction for every row, in their order; shapes side by side on all
/// cores.
std::vector<RowPrediction> predict(llvm::ArrayRef<MeasuredRow> rows,
                                   const Machines &machines);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_BENCH_PREDICT_H
