#include "lib/Cost/Time/Rates.h"

#include <algorithm>
#include <cmath>

namespace modelc {

llvm::StringRef resourceName(Resource resource) {
  static constexpr llvm::StringRef kNames[kResources] = {
      "matrix unit",      "vector units",  "exponentials", "conversions",
      "shared memory",    "tensor memory", "L2 port",      "L2",
      "last-level cache", "device memory", "links"};
  return kNames[unsigned(resource)];
}

llvm::StringRef keyFor(const ByType &table, llvm::StringRef type) {
  auto found = table.find(type.str());
  if (found != table.end()) {
    return found->first;
  }
  type.consume_back("UZ");
  found = table.find(type.str());
  return found == table.end() ? llvm::StringRef() : found->first;
}

double valueFor(const ByType &table, llvm::StringRef type, double otherwise) {
  llvm::StringRef key = keyFor(table, type);
  return key.empty() ? otherwise : table.at(key.str());
}

Rates::Rates(const Target &target, View view, double clockHz,
             const Traffic &traffic)
    : target(target), view(view), clockHz(clockHz),
      linkRate(target.link.bandwidth) {
  if (view != View::Bound) {
    linkRate *= target.efficiency.link;
    rampClocks = traffic.memory() > 0 ? target.launch.ramp * clockHz : 0;
  }
}

double Rates::memoryRate(const Access &access) const {
  const Efficiency &reached = target.efficiency;
  double read =
      access.paged ? std::min(reached.attention, reached.read) : reached.read;
  double part = view == View::Bound ? 1
                : access.writes     ? reached.write()
                                    : read;
  return target.memory.bandwidth * part;
}

double Rates::matrixEfficiency(llvm::StringRef type) const {
  return view == View::Bound ? 1 : valueFor(target.efficiency.matrix, type, 1);
}

double Rates::stalls() const {
  return view != View::Bound ? target.execution.exp2StallsMatrix : 0;
}

/// Amount over rate; a machine without the unit has none of its work.
static double over(double amount, double rate) {
  return amount > 0 && rate > 0 ? amount / rate : 0;
}

Clocks Rates::clocksOf(const Amounts &amounts) const {
  Clocks clocks{};
  auto set = [&](Resource resource, double value) {
    clocks[unsigned(resource)] = value;
  };
  const Execution &execution = target.execution;
  if (amounts.row) {
    // The efficiency is over the peak at boost and contains the lower clock of
    // a loaded chip: what that clock explains is left to the clock.
    double loaded =
        std::min(clockHz, target.sustainedHz(amounts.row->ratedType()));
    double reached =
        target.clock.boostHz * matrixEfficiency(amounts.row->ratedType());
    set(Resource::Matrix, over(amounts.matrixFlop, amounts.row->flopPerClock) *
                              std::max(1.0, loaded / reached));
  }
  set(Resource::Vector, over(amounts.vector, execution.fp32FlopPerClock / 2));
  double exponentials = over(amounts.exp2, execution.exp2PerClock);
  set(Resource::Exp2, exponentials);
  clocks[unsigned(Resource::Matrix)] += stalls() * exponentials;
  set(Resource::Convert, over(amounts.convert, execution.convertPerClock));
  set(Resource::Shared, over(amounts.sharedBytes, target.shared.bytesPerClock) +
                            amounts.sharedClocks);
  set(Resource::TensorMemory,
      over(amounts.tensorBytes, target.tensorMemory.readBytesPerClock));
  set(Resource::Port,
      over(amounts.globalBytes, target.portBytesPerClock(clockHz)));
  if (target.cache.unitBytesPerClock > 0) {
    set(Resource::L2,
        over(amounts.globalBytes, target.cache.l2Bandwidth) * clockHz);
  }
  return clocks;
}

Clocks Rates::clocksBelowL2(const Access &access, double lastLevelBytes,
                            double memoryBytes) const {
  Clocks clocks{};
  clocks[unsigned(Resource::LastLevel)] =
      over(lastLevelBytes, target.cache.llcBandwidth) * clockHz;
  clocks[unsigned(Resource::Memory)] =
      over(memoryBytes, memoryRate(access)) * clockHz;
  clocks[unsigned(Resource::Link)] =
      over(access.peer ? access.bytes : 0, linkRate) * clockHz;
  return clocks;
}

double lagClocks(double busy, double ramp) {
  constexpr unsigned kSteps = 6;
  if (busy <= 0 || ramp <= 0) {
    return 0;
  }
  double clocks = busy + ramp; // by Newton's method from above
  for (unsigned i = 0; i < kSteps; ++i) {
    double missing = std::exp(-clocks / ramp);
    clocks -= (clocks - ramp * (1 - missing) - busy) / (1 - missing);
  }
  return clocks - busy;
}

double queuedClocks(double busy, double waiting) {
  constexpr double kExponent = 2.65;
  auto [smaller, larger] = std::minmax(busy, waiting);
  return smaller <= 0
             ? larger
             : larger * std::pow(1 + std::pow(smaller / larger, kExponent),
                                 1 / kExponent);
}

} // namespace modelc
