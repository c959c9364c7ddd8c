//===- Time.h - Clocks of a kernel ----------------------------------------===//

#ifndef LIB_COST_TIME_TIME_H
#define LIB_COST_TIME_TIME_H

#include "lib/Cost/Time/Recurrence.h"

namespace modelc {

/// Steady state of a block while `Load` workgroups run.
struct BlockTime {
  Clocks resources{};    // of one trip, of all workgroups that share them
  Recurrence recurrence; // of one workgroup
  double queued = 0;     // of one trip whose copies queue for memory; 0 = none
  double simulated = 0;  // of one trip, event by event; 0 = not asked
  double perTrip = 0;    // of one trip
  double total = 0;      // of one execution of the loop
  double executions = 1; // of the loop, in one workgroup
  /// The busiest resource of a trip.
  Resource busiest() const;
};

/// Workgroups that run at once.
struct Load {
  double perUnit = 1;
  double active = 1; // on the device
};

/// One round of the grid.
struct RoundTime {
  Load load;
  std::vector<BlockTime> blocks;
  Clocks totals{};  // of the resources, for all workgroups that share them
  double chain = 0; // clocks of one workgroup from start to end
  double clocks = 0;
  double start = 0; // clocks more where it follows another round
  std::string limit;
};

/// A kernel at one set of rates.
struct KernelTime {
  double fullRounds = 0;
  RoundTime full, last; // last: the partial round; its load is 0 if none
  double longest = 1;
  double rampClocks = 0;  // that the first round takes longer
  double startClocks = 0; // of the rounds behind the first, to start
  double gapSeconds = 0;
  double clocks = 0;
  double seconds = 0;
  std::string limit;
};

/// Amounts, bytes and rates to time.
KernelTime timeOf(const KernelWork &work, const TrafficByAccess &traffic,
                  double workgroupsPerUnit, const Rates &rates);

} // namespace modelc

#endif // LIB_COST_TIME_TIME_H
