//===- Collectives.cpp - Calls of the communication library ---------------===//
//
// The latency of a small call and the bytes that each device sends over its
// rate. Within a domain the rate is what its links to the members of the group
// add up to; beyond it the network's. With g devices and S bytes on each:
// all_gather, reduce_scatter, all_to_all and broadcast send (g - 1) / g S.
// all_reduce sends 2 (g - 1) / g S, each slice to the device that adds it and
// the sum to all others; or (1 + 1 / g) S through switches that add: all it
// has, and the sum of its slice.
//
// Inside a domain a device also moves its own slice, S / g, from where it is to
// where it stays, at a rate of its own.
//
// Bytes pass through slots that one side fills and the other empties. A call of
// many times what the slots hold waits until they are full, a small one until
// all of it is there; between the two as long as their harmonic sum takes.
//
// Example, 8 devices, 100 GB/s, slots of 12 MB, all_gather of 16 MB: 14 MB are
// sent behind 1 / (1 / 14 + 1 / 12) = 6.5 MB, in 205 us.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Cost.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace modelc {

namespace {
enum class Verb { Reduce, Move, Unknown };

/// What a device sends, and which part of the rate that way reaches.
struct Sending {
  double bytes = 0;
  double share = 1;
};

/// Beside what is sent: bytes that the first ones wait for, and seconds for
/// what the device keeps.
struct Beside {
  double fill = 0, own = 0;
};
} // namespace

static Verb verbOf(llvm::StringRef verb) {
  return llvm::StringSwitch<Verb>(verb)
      .Cases({"all_reduce", "all-reduce"}, Verb::Reduce)
      .Cases({"all_gather", "all-gather"}, Verb::Move)
      .Cases({"reduce_scatter", "reduce-scatter"}, Verb::Move)
      .Cases({"all_to_all", "all-to-all", "broadcast"}, Verb::Move)
      .Default(Verb::Unknown);
}

/// The fastest way, with the part of the rate that switches reach which add; 0:
/// none do.
static Sending sendingOf(Verb verb, double bytes, double group,
                         double switches) {
  double others = (group - 1) / group;
  if (verb == Verb::Move) {
    return {others * bytes};
  }
  double switched = 1 + 1 / group;
  return switched < 2 * others * switches ? Sending{switched * bytes, switches}
                                          : Sending{2 * others * bytes};
}

/// Bytes that the first ones wait for.
static double fillOf(double sent, double slots) {
  return sent > 0 && slots > 0 ? 1 / (1 / sent + 1 / slots) : 0;
}

static Term collectiveTerm(const Target &target, double latency,
                           const Sending &sending, const Beside &beside,
                           double rate, bool inside) {
  Term term{"time", latency + (sending.bytes + beside.fill) / rate + beside.own,
            "s",    "latency and bytes over rate",
            {},     {}};
  std::vector<std::string> facts = {inside ? "link.library_latency"
                                           : "link.network_latency"};
  if (inside && target.link.pairLatency > 0) {
    facts.push_back("link.library_pair_latency");
  }
  term.children.push_back({"latency", latency, "s", "", facts, {}});
  std::string over = " / " + formatQuantity(rate, "B/s");
  Term bytes{"bytes",
             sending.bytes / rate,
             "s",
             formatQuantity(sending.bytes, "B") + over,
             {inside ? "link.bandwidth" : "link.network_bandwidth",
              "link.pair_bandwidth",
              inside ? "efficiency.library" : "efficiency.link"},
             {}};
  if (sending.share < 1) {
    bytes.facts.push_back("efficiency.switches");
  }
  term.children.push_back(std::move(bytes));
  if (beside.fill > 0) {
    term.children.push_back({"slots fill",
                             beside.fill / rate,
                             "s",
                             formatQuantity(beside.fill, "B") + over,
                             {"link.library_pipeline"},
                             {}});
  }
  if (beside.own > 0) {
    term.children.push_back({"own slice",
                             beside.own,
                             "s",
                             "that a device keeps",
                             {"link.library_copy"},
                             {}});
  }
  return term;
}

/// Of a small call inside the domain: trees get deeper with each doubling, and
/// sums go up and down.
static double libraryLatency(Verb verb, const Link &link, int64_t group) {
  constexpr double kPair = 1, kBoard = 3; // levels
  if (link.pairLatency <= 0) {
    return link.libraryLatency;
  }
  double levels = std::log2(double(group)) * (verb == Verb::Reduce ? 2 : 1);
  double step = (link.libraryLatency - link.pairLatency) / (kBoard - kPair);
  return link.pairLatency + step * (levels - kPair);
}

llvm::FailureOr<KernelCost> costCollective(llvm::StringRef name, double bytes,
                                           int64_t group, const Target &target,
                                           const CostOptions &options) {
  const Link &link = target.link;
  const Efficiency &efficiency = target.efficiency;
  KernelCost cost;
  cost.name = name.str();
  Verb verb = verbOf(name);
  if (verb == Verb::Unknown) {
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
      inside ? libraryLatency(verb, link, group) : hops * link.networkLatency;
  double switches = inside ? efficiency.switches : 0;
  Sending ideal = sendingOf(verb, bytes, group, switches > 0 ? 1 : 0);
  Sending sending = sendingOf(verb, bytes, group, switches);
  double rate =
      peak * sending.share * (inside ? efficiency.library : efficiency.link);
  Beside beside;
  if (inside) {
    beside.fill = fillOf(sending.bytes, link.libraryPipelineBytes);
    beside.own =
        link.libraryCopy > 0 ? bytes / double(group) / link.libraryCopy : 0;
  }
  cost.traffic.link = sending.bytes;
  double dynamic = sending.bytes * target.power.perByteLink;
  auto setTo = [&](Estimate &result, double moving) {
    result.seconds = latency + moving;
    result.joules = dynamic + target.power.idle * result.seconds;
    result.clockHz = target.clock.boostHz;
    result.limit = latency > moving ? "latency" : "links";
  };
  setTo(cost.bound, ideal.bytes / peak);
  setTo(cost.expectation, (sending.bytes + beside.fill) / rate + beside.own);
  if (options.explain) {
    cost.time = collectiveTerm(target, latency, sending, beside, rate, inside);
    cost.energy = {"energy",
                   cost.expectation.joules,
                   "J",
                   formatQuantity(sending.bytes, "B") +
                       " over links and the idle board",
                   {"power.per_byte_link", "power.idle"},
                   {}};
  }
  return cost;
}

} // namespace modelc
