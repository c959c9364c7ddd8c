//===- Figures.h - The numbers of a report, each with its sum -------------===//

#ifndef LIB_REPORT_FIGURES_H
#define LIB_REPORT_FIGURES_H

#include "lib/Report/Report.h"

namespace modelc {

/// A number of the report that opens by its name and by its keys in JSON.
struct Figure {
  std::string name;              // "tpot"
  std::vector<std::string> keys; // "mean_tpot_ms"
  std::string unit;
  Views value;
  Term term; // of the expectation
};

/// All figures, in the order of the report.
std::vector<Figure> figures(const Report &report, const Target &target);

} // namespace modelc

#endif // LIB_REPORT_FIGURES_H
