//===- Flatten.h - A kernel as a flat list of steps -----------------------===//

#ifndef LIB_SCHEDULEPASSES_FLATTEN_H
#define LIB_SCHEDULEPASSES_FLATTEN_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"
#include "lib/SchedulePasses/WaitCounter.h"

namespace modelc {

/// Trips that loops are written out for, at least: enough for what two groups
/// of waves owe each other to become steady.
constexpr int64_t kUnrolledTrips = 7;
/// The same, and enough for every ring of the kernel to wrap.
int64_t unrolledTrips(schedule::KernelOp kernel);

/// The body of the grid with its loops written out for `trips` trips: what each
/// op reads and writes, the queue and the entries it takes on this machine.
std::vector<WaitStep> flatten(schedule::KernelOp kernel, const Target &target,
                              int64_t trips);

/// The same of one role of a kernel, with what it does to barriers; loops have
/// `trips` trips. A role of several waves arrives with `waves` of them; `rank`
/// is that of its workgroup in the cluster.
std::vector<WaitStep> flattenRole(schedule::RoleOp role, const Target &target,
                                  int64_t trips, int64_t waves,
                                  int64_t rank = 0);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_FLATTEN_H
