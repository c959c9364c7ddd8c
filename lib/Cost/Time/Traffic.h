//===- Traffic.h - Bytes that move below L2 -------------------------------===//

#ifndef LIB_COST_TIME_TRAFFIC_H
#define LIB_COST_TIME_TRAFFIC_H

#include "lib/Cost/Cost.h"

namespace modelc {

/// Bytes of one access in the whole kernel.
struct AccessTraffic {
  double requested = 0; // of L2
  double distinct = 0;
  double lastLevel = 0;  // that miss L2
  double memory = 0;     // of device memory
  double sharers = 1;    // workgroups at work that share a byte
  bool retained = false; // later rounds find it in a cache
};

struct TrafficByAccess {
  std::vector<AccessTraffic> accesses;
  Traffic sum;
};

/// Workgroups of a kernel that a unit runs at once: limited by shared memory,
/// registers, waves and tensor memory. `limit` is the key of the fact.
double workgroupsPerUnit(const KernelWork &work, const Target &target,
                         llvm::StringRef &limit);

/// The same beside `count` workgroups of another kernel, maybe none.
double workgroupsBeside(const KernelWork &work, const Target &target,
                        const KernelWork &other, double count);

/// Who reads the same bytes at the same time reads them once from memory.
TrafficByAccess trafficOf(const KernelWork &work, const Target &target,
                          const CostOptions &options);

} // namespace modelc

#endif // LIB_COST_TIME_TRAFFIC_H
