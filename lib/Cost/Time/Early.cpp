#include "lib/Cost/Time/Early.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace modelc {

double KernelWork::earlyBytes() const {
  double bytes = 0;
  for (const Access &access : accesses) {
    bytes += access.early;
  }
  return bytes;
}

/// Of the workgroups of `next`, the part that starts beside `running`.
static double partBeside(const Launched &running, const Launched &next,
                         const Target &target) {
  double units = target.execution.units;
  double count = running.work.workgroups(), own = next.work.workgroups();
  double busy = std::min(running.perUnit, std::ceil(count / units));
  double room = workgroupsBeside(next.work, target, running.work, busy);
  // What waits for a place has not started when the next one may.
  bool startsAtOnce = count <= running.perUnit * units;
  return startsAtOnce && own > 0 ? std::min(1.0, room * units / own) : 0;
}

double earlyBytes(const Launched &running, const KernelTime &time,
                  const Launched &next, const Target &target) {
  double asked = next.work.earlyBytes();
  if (asked <= 0 || !target.launch.startsEarly || running.work.startsNextLate) {
    return 0;
  }
  double rate = target.memory.bandwidth * target.efficiency.read;
  double idle =
      (time.seconds - time.gapSeconds) * rate - running.traffic.sum.memory();
  return std::clamp(asked * partBeside(running, next, target), 0.0,
                    std::max(0.0, idle));
}

TrafficByAccess withEarly(const KernelWork &work, TrafficByAccess traffic,
                          double bytes) {
  double served = 0; // of the accesses that find them
  for (auto [access, one] : llvm::zip_equal(work.accesses, traffic.accesses)) {
    served += access.early > 0 ? one.memory : 0;
  }
  double part = served > 0 ? std::min(1.0, bytes / served) : 0;
  for (auto [access, one] : llvm::zip_equal(work.accesses, traffic.accesses)) {
    double came = access.early > 0 ? part * one.memory : 0;
    one.memory -= came;
    one.lastLevel -= came;
    traffic.sum.read -= came;
    traffic.sum.lastLevel -= came;
  }
  return traffic;
}

Term earlyTerm(double bytes) {
  return {"asked for early",
          bytes,
          "B",
          "what comes while the kernel before leaves memory idle",
          {"launch.starts_early", "memory.bandwidth", "efficiency.read"},
          {}};
}

} // namespace modelc
