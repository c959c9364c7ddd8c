//===- Energy.h - Joules of a kernel --------------------------------------===//

#ifndef LIB_COST_TIME_ENERGY_H
#define LIB_COST_TIME_ENERGY_H

#include "lib/Cost/Cost.h"

namespace modelc {

/// Amounts of a whole kernel that cost energy.
struct EnergyAmounts {
  std::map<const MmaRow *, double> flopByRow; ///< in the order of the target
  double vectorOperations = 0;
  double sharedBytes = 0;
  double l2Bytes = 0;
  double memoryBytes = 0;
  double linkBytes = 0;
};

EnergyAmounts energyAmounts(const KernelWork &work, const Traffic &traffic);

/// Joules that work takes whatever its time.
struct WorkJoules {
  double chip = 0;   ///< at the clock of the target's facts
  double beside = 0; ///< of device memory and links, whose clocks are their own

  void add(double times, const WorkJoules &other);
  double at(double clockHz, const Target &target) const;
};

WorkJoules workJoules(const EnergyAmounts &amounts, const Target &target);

/// The sum of the work's energy at a clock and that of the idle board over
/// `seconds`.
Term energyTerm(const EnergyAmounts &amounts, const Target &target,
                double clockHz, double seconds);

} // namespace modelc

#endif // LIB_COST_TIME_ENERGY_H
