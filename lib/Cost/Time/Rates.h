//===- Rates.h - What a target offers, ideally or in expectation ----------===//

#ifndef LIB_COST_TIME_RATES_H
#define LIB_COST_TIME_RATES_H

#include "lib/Cost/Cost.h"

namespace modelc {

/// Clocks of each resource.
using Clocks = std::array<double, kResources>;

/// Which numbers an estimate takes: peaks, what was measured, and that with the
/// trips of loops followed event by event.
enum class View { Bound, Expectation, Simulation };

/// Rates of a target at one clock.
struct Rates {
  const Target &target;
  View view;
  double clockHz;
  double linkRate = 0;   // B/s of the device
  double rampClocks = 0; // until a streaming kernel runs at full rate

  Rates(const Target &target, View view, double clockHz,
        const Traffic &traffic);
  /// Part of the peak that matrix work of a type reaches.
  double matrixEfficiency(llvm::StringRef type) const;
  /// The part of exponentials that products wait for.
  double stalls() const;
  /// B/s of device memory for an access.
  double memoryRate(const Access &access) const;
  /// Clocks of the resources of one unit, and of the device for the bytes of
  /// an access below L2 at its full rate.
  Clocks clocksOf(const Amounts &amounts) const;
  Clocks clocksBelowL2(const Access &access, double lastLevelBytes,
                       double memoryBytes) const;
};

/// The entry of a table by type; a kin of the type where the very type is
/// missing ("f8E4M3FNUZ" as "f8E4M3FN"), else `otherwise`.
double valueFor(const ByType &table, llvm::StringRef type, double otherwise);
/// The key that `valueFor` takes, empty for none.
llvm::StringRef keyFor(const ByType &table, llvm::StringRef type);

} // namespace modelc

#endif // LIB_COST_TIME_RATES_H
