//===- Curves.h - Curves of deployments for people and for programs -------===//

#ifndef LIB_REPORT_CURVES_H
#define LIB_REPORT_CURVES_H

#include "lib/Serve/Serve.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc {

/// How it is printed.
enum class ReportFormat { Table, Json, Csv };

/// A deployment at several numbers of users.
struct CurveReport {
  std::string model;
  std::string machine, product; // name of the target, and the vendor's
  std::string precision, activations, cachePrecision, queryPrecision;
  int64_t tensorParallel = 1;
  std::string engine = "modelc"; // that runs the steps
  CurveInput input;
  std::string priceBasis, priceDate;
  std::vector<CurvePoint> points;
  /// Where another engine runs them: what ours does for as many users.
  std::vector<CurvePoint> own;

  /// "8 x NAME, weights fp8, cache fp8"
  std::string plan() const;
};

/// A row for each number of users, the best ones marked; JSON is one object
/// with keys as in `printJson`, CSV has the expectations alone.
void printCurve(const CurveReport &report, ReportFormat format,
                llvm::raw_ostream &os);

/// Plans of one machine, of which the best counts.
struct Contender {
  std::string machine;
  std::vector<CurveReport> plans;
  Alternatives choice() const;
};

/// What machines reach at equal speed for the user, by each metric, and where
/// the best one changes.
void printComparison(llvm::ArrayRef<Contender> contenders, ReportFormat format,
                     llvm::raw_ostream &os);

/// A plan that was tried.
struct TriedPlan {
  std::string plan; // CurveReport::plan
  /// At the best number of users that meets all objectives; none: why not.
  std::optional<CurvePoint> best;
  std::string why;
};

/// What a search has found: those that serve in front, the best one first.
struct SearchReport {
  std::string model;
  Workload workload; // `sequences` aside
  const Metric *metric = nullptr;
  std::vector<Objective> objectives;
  std::vector<TriedPlan> plans;
};

void printFound(const SearchReport &report, ReportFormat format,
                llvm::raw_ostream &os);

} // namespace modelc

#endif // LIB_REPORT_CURVES_H
