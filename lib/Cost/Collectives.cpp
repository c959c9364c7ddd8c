//===- Collectives.cpp - Calls of the communication library ---------------===//
//
// The latency of a small call and the bytes that each device sends over its
// rate. Within a domain the rate is what its links to the members of the group
// add up to; beyond it the network's. With g devices and S bytes on each:
// all_reduce sends 2 (g - 1) / g S, or S where switches add; all_gather,
// reduce_scatter, all_to_all and broadcast (g - 1) / g S.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Cost.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace modelc {

/// Bytes that a device sends for each byte of its buffer; negative: unknown.
static double sentPerByte(llvm::StringRef verb, double group,
                          const Link &link) {
  double others = (group - 1) / group;
  double reduce = link.reducesInFabric ? 1 : 2 * others;
  return llvm::StringSwitch<double>(verb)
      .Cases({"all_reduce", "all-reduce"}, reduce)
      .Cases({"all_gather", "all-gather"}, others)
      .Cases({"reduce_scatter", "reduce-scatter"}, others)
      .Cases({"all_to_all", "all-to-all", "broadcast"}, others)
      .Default(-1);
}

static Term collectiveTerm(const Target &target, double latency, double sent,
                           double rate, bool inside) {
  Term term{"time", latency + sent / rate,
            "s",    "latency and bytes over rate",
            {},     {}};
  std::vector<std::string> facts = {inside ? "link.library_latency"
                                           : "link.network_latency"};
  if (inside && target.link.pairLatency > 0) {
    facts.push_back("link.library_pair_latency");
  }
  term.children.push_back({"latency", latency, "s", "", facts, {}});
  Term bytes{"bytes",
             sent / rate,
             "s",
             formatQuantity(sent, "B") + " / " + formatQuantity(rate, "B/s"),
             {inside ? "link.bandwidth" : "link.network_bandwidth",
              "link.pair_bandwidth", "efficiency.link"},
             {}};
  term.children.push_back(std::move(bytes));
  return term;
}

/// Of a small call inside the domain: trees get deeper with each doubling.
static double libraryLatency(const Link &link, int64_t group) {
  constexpr double kPair = 1, kBoard = 3; // doublings
  if (link.pairLatency <= 0) {
    return link.libraryLatency;
  }
  double step = (link.libraryLatency - link.pairLatency) / (kBoard - kPair);
  return link.pairLatency + step * (std::log2(double(group)) - kPair);
}

llvm::FailureOr<KernelCost> costCollective(llvm::StringRef verb, double bytes,
                                           int64_t group, const Target &target,
                                           const CostOptions &options) {
  const Link &link = target.link;
  KernelCost cost;
  cost.name = verb.str();
  double perByte = sentPerByte(verb, std::max<int64_t>(1, group), link);
  if (perByte < 0) {
    return llvm::failure();
  }
  if (group <= 1) {
    cost.bound.limit = cost.expectation.limit = "nothing to send";
    return cost;
  }
  bool inside = group <= link.domain;
  double peak =
      inside ? std::min(link.bandwidth, link.pairBandwidth * double(group - 1))
             : link.networkBandwidth;
  // Trees and rings cross the network once for each doubling of the domain.
  double hops = inside ? 1 : llvm::Log2_64_Ceil(group);
  double latency =
      inside ? libraryLatency(link, group) : hops * link.networkLatency;
  double sent = perByte * bytes;
  double expectedRate = peak * target.efficiency.link;
  cost.traffic.link = sent;
  double dynamic = sent * target.power.perByteLink;
  auto fill = [&](Estimate &result, double rate) {
    result.seconds = latency + sent / rate;
    result.joules = dynamic + target.power.idle * result.seconds;
    result.clockHz = target.clock.boostHz;
    result.limit = latency > sent / rate ? "latency" : "links";
  };
  fill(cost.bound, peak);
  fill(cost.expectation, expectedRate);
  if (options.explain) {
    cost.time = collectiveTerm(target, latency, sent, expectedRate, inside);
    cost.energy = {"energy",
                   cost.expectation.joules,
                   "J",
                   formatQuantity(sent, "B") + " over links and the idle board",
                   {"power.per_byte_link", "power.idle"},
                   {}};
  }
  return cost;
}

} // namespace modelc
