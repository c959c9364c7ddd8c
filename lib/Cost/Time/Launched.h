//===- Launched.h - One launch, ready to be timed at any clock ------------===//

#ifndef LIB_COST_TIME_LAUNCHED_H
#define LIB_COST_TIME_LAUNCHED_H

#include "lib/Cost/Time/Energy.h"
#include "lib/Cost/Time/Time.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace modelc {

/// Everything of one launch that does not depend on the clock. `work` outlives
/// it.
struct Launched {
  const KernelWork &work;
  CostOptions options;
  TrafficByAccess traffic;
  EnergyAmounts energy;
  llvm::StringRef perUnitBy; // the fact that limits perUnit; read first
  double perUnit = 1;        // workgroups that a unit runs at once
  WorkJoules joules;         // whatever the time

  Launched(const KernelWork &work, const Target &target,
           const CostOptions &options);
  /// Of which `early` bytes have come before its turn.
  KernelTime timeAt(View view, double clockHz, const Target &target,
                    double early = 0) const;
  /// Numbers that the board's power does not limit, or those of a kernel that
  /// was chosen.
  View expectation() const;
};

/// What a board's power makes of work that goes on for long.
struct PowerState {
  double clockHz = 0;
  double stretch = 1; // of all times, where no clock is low enough
  double watts = 0;   // of the board, in the mean
  double workJoules = 0, seconds = 0; // of the work, at that clock
};

/// The highest clock at which the mean power of work keeps to the board's
/// limit. The limit holds over tens of milliseconds: kernels of one step share
/// the clock. `secondsAt` is called last with the clock that is returned.
PowerState underPower(const WorkJoules &joules, const Target &target,
                      llvm::function_ref<double(double clockHz)> secondsAt);

/// The sum behind that clock.
Term powerTerm(const PowerState &state, const Target &target);

/// Both views of a launch of which `early` bytes have come before its turn;
/// `expected` is its time at the state's clock.
KernelCost costAt(const Launched &launched, const Target &target,
                  const PowerState &state, KernelTime expected,
                  double early = 0);

} // namespace modelc

#endif // LIB_COST_TIME_LAUNCHED_H
