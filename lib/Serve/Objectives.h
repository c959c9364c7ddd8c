//===- Objectives.h - What a deployment is asked to be --------------------===//

#ifndef LIB_SERVE_OBJECTIVES_H
#define LIB_SERVE_OBJECTIVES_H

#include "lib/Serve/Curve.h"

namespace modelc {

/// What deployments are compared by.
struct Metric {
  llvm::StringLiteral name;  // "tokens_per_s_per_gpu"
  llvm::StringLiteral label; // "tokens/s/GPU"
  llvm::StringLiteral unit;
  bool isMore; // is better
  double (*of)(const CurvePoint &point);

  bool isBetter(double a, double b) const { return isMore ? a > b : a < b; }
};

llvm::ArrayRef<Metric> metrics();
/// The metric of a name; null, and a message on `errors`, where there is none.
const Metric *findMetric(llvm::StringRef name, llvm::raw_ostream &errors);

/// Reads "tpot<=20ms,ttft<=1s,tokens_per_s_per_user>=50"; none of empty text.
/// Says on `errors` what was expected.
llvm::FailureOr<std::vector<Objective>>
readObjectives(llvm::StringRef text, llvm::raw_ostream &errors);

/// How a point misses the first objective that it misses: "tpot 25 ms, not <=20
/// ms"; empty where it meets all.
std::string missed(const CurvePoint &point,
                   llvm::ArrayRef<Objective> objectives);

} // namespace modelc

#endif // LIB_SERVE_OBJECTIVES_H
