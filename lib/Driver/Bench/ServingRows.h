//===- ServingRows.h - Tables of measured deployments ---------------------===//

#ifndef MODELC_LIB_DRIVER_BENCH_SERVINGROWS_H
#define MODELC_LIB_DRIVER_BENCH_SERVINGROWS_H

#include "lib/Serve/Serve.h"
#include <map>

namespace modelc {

/// What a table can say of a run, and a point of a curve too.
struct ServingMetric {
  llvm::StringLiteral column;
  std::optional<double> (*of)(const CurvePoint &point); // in its unit
};
llvm::ArrayRef<ServingMetric> servingMetrics();

/// One run of a serving engine.
struct ServingRow {
  std::string source, model, chip, engine, weights, cache;
  int64_t ranks = 1, inputTokens = 0, outputTokens = 0, users = 0;
  std::map<std::string, double> measured; // by column
  /// Why it is not predicted; empty: it is.
  std::string reason;
};

/// Reads a table with the columns of serving.csv, in any order. Says on
/// `errors` what is no table.
llvm::FailureOr<std::vector<ServingRow>> readServing(llvm::StringRef file,
                                                     llvm::raw_ostream &errors);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_BENCH_SERVINGROWS_H
