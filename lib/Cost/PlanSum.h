//===- PlanSum.h - What can be said of all launches of a plan -------------===//
//
// Inner to lib/Cost.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_PLANSUM_H
#define LIB_COST_PLANSUM_H

#include "lib/Cost/Cost.h"

namespace modelc {

/// What most of the time of the bound or of the expectation goes to.
std::string mainLimit(const PlanCost &cost, Estimate KernelCost::*which);

} // namespace modelc

#endif // LIB_COST_PLANSUM_H
