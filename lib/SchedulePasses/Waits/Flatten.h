//===- Flatten.h - A kernel as a flat list of steps -----------------------===//

#ifndef LIB_SCHEDULEPASSES_WAITS_FLATTEN_H
#define LIB_SCHEDULEPASSES_WAITS_FLATTEN_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"
#include "lib/SchedulePasses/Waits/WaitCounter.h"

namespace modelc {

/// Trips that loops are written out for, at least: enough for what two groups
/// of waves owe each other to become steady.
constexpr int64_t kUnrolledTrips = 7;
/// The same, and enough for every ring of the kernel to wrap.
int64_t unrolledTrips(schedule::KernelOp kernel);
/// How many syncs the last group of waves is late, from the staggered loop.
int64_t lagOf(schedule::KernelOp kernel);
/// Whether what the kernel does is written as roles of its waves.
bool hasRoles(schedule::KernelOp kernel);

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
/// What waits of a role's own queues are for: all but what barriers complete.
std::vector<WaitStep> flattenQueues(schedule::RoleOp role,
                                    const Target &target);
/// Every role of every workgroup of a cluster, over as many trips as the
/// longest ring between roles needs. Waves of a role may drift apart: two parts
/// stand for them.
std::vector<std::vector<WaitStep>> flattenRoles(schedule::KernelOp kernel,
                                                const Target &target);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_WAITS_FLATTEN_H
