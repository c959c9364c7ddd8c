//===- Accuracy.h - How far predictions are from measurements -------------===//

#ifndef LIB_ENGINES_ACCURACY_H
#define LIB_ENGINES_ACCURACY_H

#include "lib/Engines/Predict.h"

namespace modelc {

struct AccuracyOptions {
  std::vector<std::string> files; ///< tables of measured kernels
  unsigned stride = 1;            ///< every so many-th row of each group
  unsigned worst = 10;            ///< largest errors of each to print
  bool own = false; ///< kernels as modelc would choose them, not the engine's
  std::string targetsDirectory;
};

/// Predicts rows of tables and prints the errors by chip, kind and type.
/// Mistakes are explained on stderr.
llvm::LogicalResult printAccuracy(const AccuracyOptions &options,
                                  const Lowering &lowering,
                                  llvm::raw_ostream &os);

} // namespace modelc

#endif // LIB_ENGINES_ACCURACY_H
