//===- Predict.h - Measured kernels as the compiler sees them -------------===//

#ifndef LIB_ENGINES_PREDICT_H
#define LIB_ENGINES_PREDICT_H

#include "lib/Engines/Measured.h"
#include "mlir/IR/DialectRegistry.h"
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

/// Sizes that kernels must serve.
struct ServedSizes {
  int64_t sequences = 1, tokens = 1;
};

/// The order of all passes, which is not of this folder.
struct Lowering {
  mlir::DialectRegistry dialects;
  /// Kernels and plans in the final form for the graphs of a module, with
  /// linears cut as `cut` says; null: as is best.
  std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
      mlir::ModuleOp graphs, const Target &target, ServedSizes sizes,
      const LinearCut *cut)>
      lower;
};

/// A prediction for every row, in their order; shapes side by side on all
/// cores.
std::vector<RowPrediction> predict(llvm::ArrayRef<MeasuredRow> rows,
                                   const Machines &machines,
                                   const Engines &engines,
                                   const Lowering &lowering);

} // namespace modelc

#endif // LIB_ENGINES_PREDICT_H
