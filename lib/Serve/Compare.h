//===- Compare.h - Curves at equal speed for the user ---------------------===//

#ifndef LIB_SERVE_COMPARE_H
#define LIB_SERVE_COMPARE_H

#include "lib/Serve/Objectives.h"

namespace modelc {

using CurvePoints = llvm::ArrayRef<CurvePoint>;
/// The curves of plans of which one may choose.
using Alternatives = std::vector<CurvePoints>;

/// The best of a metric where each user gets at least `speed` tokens a second:
/// at a point, or on the line between two neighbours; none beyond the fastest.
std::optional<double> bestAt(const Alternatives &choice, const Metric &metric,
                             double speed);

/// The most tokens a second that any user gets.
double fastest(const Alternatives &choice);

/// From `speed` on, this choice is the best.
struct Lead {
  double speed = 0; // tokens a second of a user
  size_t choice = 0;
};

/// Which choice is the best from the slowest speed on, and each change of that,
/// by ascending speed. Of equals the first leads.
std::vector<Lead> leads(llvm::ArrayRef<Alternatives> choices,
                        const Metric &metric);

/// Speeds to print a table of: 1, 2, 5 times powers of ten from the slowest to
/// the fastest.
std::vector<double> roundSpeeds(llvm::ArrayRef<Alternatives> choices);

} // namespace modelc

#endif // LIB_SERVE_COMPARE_H
