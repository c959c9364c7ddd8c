//===- TimeTerm.h - The sum behind the time of a kernel -------------------===//

#ifndef LIB_COST_TIME_TIMETERM_H
#define LIB_COST_TIME_TIMETERM_H

#include "lib/Cost/Time/Time.h"

namespace modelc {

/// The tree of `time`: launch, rounds, blocks, resources.
Term timeTerm(const KernelWork &work, const TrafficByAccess &traffic,
              const KernelTime &time, const Rates &rates);

/// The accesses with what they ask and what comes from memory.
Term trafficTerm(const KernelWork &work, const TrafficByAccess &traffic);

} // namespace modelc

#endif // LIB_COST_TIME_TIMETERM_H
