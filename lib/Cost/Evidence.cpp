//===- Evidence.cpp - What can be counted of a kernel before it runs ------===//
//
// The main loop is where a workgroup multiplies most, or where none multiplies,
// moves most. The peak is that of the bound: work over the peak rate at boost,
// or bytes that must move at least over the peak of device memory.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Evidence.h"
#include "llvm/ADT/STLExtras.h"

namespace modelc {

namespace {
/// Amounts of one trip of a block, without those of blocks inside.
struct TripSum {
  double executions = 1; // of the block, in one workgroup
  double matrixFlop = 0, matrixClocks = 0, bytes = 0;
  TripCost cost;

  /// Where most of a workgroup's work is done.
  std::pair<double, double> weight(const Body &block) const {
    double times = executions * block.trips;
    return {times * matrixFlop, times * bytes};
  }
};
} // namespace

static void add(const Step &step, TripSum &sum) {
  const Amounts &amounts = step.amounts;
  double times = step.executions;
  if (amounts.row) {
    sum.matrixFlop += times * amounts.matrixFlop;
    sum.matrixClocks += times * amounts.matrixFlop / amounts.row->flopPerClock;
  }
  sum.bytes +=
      times * (amounts.globalBytes + amounts.sharedBytes + amounts.boxBytes);
  sum.cost.conflictClocks += times * amounts.sharedClocks;
  sum.cost.waits += step.kind == StepKind::Wait ? times : 0;
  sum.cost.syncs += times * step.syncs;
}

static std::vector<TripSum> sumsOf(const KernelWork &work) {
  std::vector<TripSum> sums(work.blocks.size());
  for (auto [number, block] : llvm::enumerate(work.blocks)) {
    sums[number].cost.trips = block.trips;
    for (const Step &step : block.steps) {
      if (step.nested >= 0) {
        sums[step.nested].executions =
            sums[number].executions * block.trips * step.executions;
      }
      add(step, sums[number]);
    }
  }
  return sums;
}

/// What a trip of the block costs, blocks inside included.
static TripCost wholeTrip(const KernelWork &work, std::vector<TripSum> &sums,
                          size_t wanted) {
  // Nested blocks stand behind their parents.
  for (size_t number = work.blocks.size(); number-- > wanted;) {
    TripCost &cost = sums[number].cost;
    for (const Step &step : work.blocks[number].steps) {
      if (step.nested < 0) {
        continue;
      }
      const TripCost &inner = sums[step.nested].cost;
      double times = step.executions * inner.trips;
      cost.conflictClocks += times * inner.conflictClocks;
      cost.waits += times * inner.waits;
      cost.syncs += times * inner.syncs;
    }
  }
  return sums[wanted].cost;
}

/// Bytes of device memory that the kernel touches, each once.
static double leastBytes(const KernelWork &work,
                         const TrafficByAccess &traffic) {
  std::map<std::pair<std::string, bool>, std::pair<double, double>> buffers;
  for (auto [access, moved] : llvm::zip(work.accesses, traffic.accesses)) {
    if (moved.memory > 0) {
      auto &[sum, most] = buffers[{access.name, access.writes}];
      sum += moved.distinct;
      most = access.bufferBytes;
    }
  }
  double bytes = 0;
  for (const auto &[buffer, amounts] : buffers) {
    auto [sum, most] = amounts;
    bytes += most > 0 ? std::min(sum, most) : sum;
  }
  return bytes;
}

Evidence evidenceOf(const Launched &launched, const Target &target) {
  const KernelWork &work = launched.work;
  std::vector<TripSum> sums = sumsOf(work);
  double matrixClocks = 0;
  size_t main = 0;
  for (auto [number, block] : llvm::enumerate(work.blocks)) {
    matrixClocks +=
        sums[number].executions * block.trips * sums[number].matrixClocks;
    bool isLoop = number > 0 && block.trips > 1;
    if (isLoop && (!main || sums[number].weight(block) >
                                sums[main].weight(work.blocks[main]))) {
      main = number;
    }
  }
  Evidence evidence;
  evidence.perUnitBy = launched.perUnitBy;
  evidence.registersPerThread = work.registersPerThread;
  evidence.trip = wholeTrip(work, sums, main);
  evidence.leastBytes = leastBytes(work, launched.traffic);
  double matrixSeconds = matrixClocks * work.workgroups() /
                         target.execution.units / target.clock.boostHz;
  double memorySeconds = evidence.leastBytes / target.memory.bandwidth;
  evidence.peakSeconds = std::max(matrixSeconds, memorySeconds);
  evidence.peakOf =
      matrixSeconds > memorySeconds ? Resource::Matrix : Resource::Memory;
  return evidence;
}

} // namespace modelc
