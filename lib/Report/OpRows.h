//===- OpRows.h - The ops of a plan, one row a label ----------------------===//

#ifndef LIB_REPORT_OPROWS_H
#define LIB_REPORT_OPROWS_H

#include "lib/Report/Report.h"

namespace modelc {

/// All launches of one label.
struct OpRow {
  std::string label;
  std::string kernel;
  double count = 0;
  Views seconds; // of all
  double joules = 0;
  double share = 0; // of the plan's expected time
  std::string limit;
  double memoryBytes = 0, flop = 0, linkBytes = 0;
};

/// The row of what no kernel takes: starting the captured graph.
inline constexpr llvm::StringLiteral kStartLabel = "start of the graph";

/// In the order of the plan.
std::vector<OpRow> opRows(const PlanCost &plan);

} // namespace modelc

#endif // LIB_REPORT_OPROWS_H
