//===- PlanClock.h - The launches of a plan at the one clock of its step --===//
//
// Inner to lib/Cost.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_PLANCLOCK_H
#define LIB_COST_PLANCLOCK_H

#include "lib/Cost/Read/KnownLaunches.h"

namespace modelc {

/// A launch whose cost waits for the clock of the whole step.
struct PendingLaunch {
  unsigned step = 0; // of the plan
  KnownLaunch *launch = nullptr;
  KnownLaunch *before = nullptr; // that it follows directly, null = none

  /// Bytes that have come before its turn.
  double early(double clockHz, const Target &target) const;
  const KernelTime &timeAt(double clockHz, const Target &target) const {
    return launch->timeAt(clockHz, target, early(clockHz, target));
  }
};

/// Finds the clock of the step, what each launch takes at it, and the sums.
void settle(PlanCost &cost, llvm::ArrayRef<PendingLaunch> pending,
            const Target &target);

} // namespace modelc

#endif // LIB_COST_PLANCLOCK_H
