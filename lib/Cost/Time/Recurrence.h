//===- Recurrence.h - How fast dependences let a loop go ------------------===//

#ifndef LIB_COST_TIME_RECURRENCE_H
#define LIB_COST_TIME_RECURRENCE_H

#include "lib/Cost/Time/Rates.h"
#include "lib/Cost/Time/Traffic.h"

namespace modelc {

/// Clocks of one step of one workgroup that is alone on its unit.
struct StepTime {
  double occupancy = 0; // of the busiest unit
  double latency = 0;   // from then until others can use the result
  double hold = 0;      // until the next step of the stream can issue
};

/// Times of a block as a line: `fill` + trips x `perTrip`; the first trip is
/// done at `first`.
struct Recurrence {
  double fill = 0;
  double perTrip = 0;
  double first = 0;
};

/// Follows the trips of a block in max-plus: a step issues when the step before
/// it in its stream lets go and when all its edges allow. Units never conflict
/// here; that is the other bound. The slope of the line is the longest cycle of
/// latencies over the trips that it spans.
/// As many trips as the block has, or `most` where it is given.
Recurrence followTrips(const Body &block, llvm::ArrayRef<StepTime> times,
                       double most = 0);

/// Clocks of a trip if nothing but its copies took time: their latency over the
/// trips that they run ahead. 0 where there are none.
double copyClocks(const Body &block, std::vector<StepTime> times);

/// Clocks from the issue of `edge.from` until its edge allows a step of
/// `pieces` pieces to issue.
double edgeClocks(const Edge &edge, const Step &from, const StepTime &time,
                  unsigned pieces);

} // namespace modelc

#endif // LIB_COST_TIME_RECURRENCE_H
