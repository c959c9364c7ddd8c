//===- Early.h - What a kernel asks for before its turn -------------------===//
//
// Inner to lib/Cost. Where kernels start early, the workgroups of one that find
// room on a unit beside those of the one before it ask for weights while that
// one leaves memory idle. The bytes come from memory all the same: they cost
// their joules, and no time of the kernel that loads them.
//
// Example: an all-reduce takes 8 us and moves 2 MB, memory gives 7 TB/s; a
// linear behind it asks for 32 MB early, one workgroup of it fits beside. All
// 32 MB come in 54 MB worth of time: the linear is 4.5 us shorter.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_TIME_EARLY_H
#define LIB_COST_TIME_EARLY_H

#include "lib/Cost/Time/Launched.h"

namespace modelc {

/// Bytes that `next` finds in the last cache because it asked for them while
/// `running`, the launch before it, took `time`.
double earlyBytes(const Launched &running, const KernelTime &time,
                  const Launched &next, const Target &target);

/// The traffic of a kernel of which so many bytes have come before.
TrafficByAccess withEarly(const KernelWork &work, TrafficByAccess traffic,
                          double bytes);

/// How they came about.
Term earlyTerm(double bytes);

} // namespace modelc

#endif // LIB_COST_TIME_EARLY_H
