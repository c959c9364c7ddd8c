#include "lib/Cost/Time/TimeTerm.h"
#include "lib/Support/Support.h"

namespace modelc {

static std::string number(double value) { return formatQuantity(value, "", 4); }
static std::string clk(double value) { return formatQuantity(value, "clk", 4); }

/// The facts behind the rate of a resource.
static std::vector<std::string> factsOf(Resource resource, const MmaRow *row,
                                        const Rates &rates) {
  bool expected = rates.view != View::Bound;
  auto with = [&](std::string rate, std::vector<std::string> efficiencies) {
    std::vector<std::string> facts = {std::move(rate)};
    if (expected) {
      facts.insert(facts.end(), efficiencies.begin(), efficiencies.end());
    }
    return facts;
  };
  switch (resource) {
  case Resource::Matrix: {
    std::string type =
        row ? keyFor(rates.target.efficiency.matrix, row->ratedType()).str()
            : "";
    return with("mma." + (row ? row->name : "") + ".rate",
                {"efficiency.matrix." + type, "execution.exp2_stalls_matrix"});
  }
  case Resource::Vector:
    return {"execution.fp32"};
  case Resource::Exp2:
    return {"execution.exp2"};
  case Resource::Convert:
    return {"execution.convert"};
  case Resource::Shared:
    return {"shared.rate"};
  case Resource::TensorMemory:
    return {"tensor_memory.read_rate"};
  case Resource::Port:
    return {rates.target.cache.unitBytesPerClock > 0 ? "cache.unit_rate"
                                                     : "cache.l2_bandwidth"};
  case Resource::L2:
    return {"cache.l2_bandwidth"};
  case Resource::LastLevel:
    return {"cache.llc_bandwidth"};
  case Resource::Memory:
    return with("memory.bandwidth",
                {"efficiency.read", "efficiency.copy", "efficiency.attention"});
  case Resource::Link:
    return with("link.bandwidth", {"efficiency.link"});
  }
  return {};
}

/// The sum over the steps of a block of what a resource is asked.
static std::string demand(Resource resource, const Body &block,
                          const TrafficByAccess &traffic,
                          const KernelWork &work, const Rates &rates) {
  double amount = 0, exponentials = 0;
  double groups = std::max(1.0, work.workgroups());
  for (const Step &step : block.steps) {
    const Amounts &a = step.amounts;
    const AccessTraffic *bytes =
        step.access >= 0 ? &traffic.accesses[step.access] : nullptr;
    double all = bytes ? groups * work.accesses[step.access].executions : 1;
    double perResource[kResources] = {a.matrixFlop,
                                      a.vector,
                                      a.exp2,
                                      a.convert,
                                      a.sharedBytes,
                                      a.tensorBytes,
                                      a.globalBytes,
                                      a.globalBytes,
                                      bytes ? bytes->lastLevel / all : 0,
                                      bytes ? bytes->memory / all : 0,
                                      a.linkBytes};
    amount += step.executions * perResource[unsigned(resource)];
    exponentials += rates.stalls() * step.executions * a.exp2;
  }
  switch (resource) {
  case Resource::Matrix:
    return formatQuantity(amount, "flop") +
           (exponentials > 0 ? " and " + formatQuantity(exponentials, "op") +
                                   " of exponentials"
                             : "");
  case Resource::Vector:
  case Resource::Exp2:
  case Resource::Convert:
    return formatQuantity(amount, "op");
  default:
    return formatQuantity(amount, "B");
  }
}

static const MmaRow *rowOf(const Body &block) {
  for (const Step &step : block.steps) {
    if (step.amounts.row) {
      return step.amounts.row;
    }
  }
  return nullptr;
}

static Term recurrenceTerm(const Body &block, const BlockTime &time) {
  Term term{"dependences",
            time.recurrence.perTrip,
            "clk",
            "longest cycle of latencies over the trips it spans",
            {"memory.latency", "cache.l2_latency", "shared.latency"},
            {}};
  if (llvm::any_of(block.steps,
                   [](const Step &step) { return step.askedBytes > 0; })) {
    term.facts.push_back("cache.unit_rate");
  }
  if (const MmaRow *row = rowOf(block)) {
    term.facts.push_back("mma." + row->name + ".latency");
  }
  return term;
}

static std::string loopFormula(const Body &block, const BlockTime &time) {
  std::string text;
  if (time.executions != 1) {
    text = number(time.executions) + " x ";
  }
  return text + "(" + clk(time.total - block.trips * time.perTrip) +
         " to fill + " + number(block.trips) + " trips x " + clk(time.perTrip) +
         ")";
}

static Term blockTerm(const KernelWork &work, const TrafficByAccess &traffic,
                      const RoundTime &round, unsigned index,
                      const Rates &rates) {
  const Body &block = work.blocks[index];
  const BlockTime &time = round.blocks[index];
  Term term{block.label, time.total * time.executions, "clk", "", {}, {}};
  term.formula = index == 0 ? "ops outside of loops, and the loops below"
                            : loopFormula(block, time);
  for (unsigned i = 0; i < kResources; ++i) {
    if (time.resources[i] <= 0) {
      continue;
    }
    Resource resource = Resource(i);
    Term part{resourceName(resource).str(),
              time.resources[i],
              "clk",
              demand(resource, block, traffic, work, rates) +
                  " a trip of each of " + number(round.load.perUnit) +
                  " workgroups on a unit",
              factsOf(resource, rowOf(block), rates),
              {}};
    term.children.push_back(std::move(part));
  }
  term.children.push_back(recurrenceTerm(block, time));
  if (time.queued > std::max(time.recurrence.perTrip,
                             time.resources[unsigned(time.busiest())])) {
    term.children.push_back(
        {"copies queue",
         time.queued,
         "clk",
         "device memory and the latency of copies, neither alone",
         {},
         {}});
  }
  if (time.simulated > 0) {
    term.children.push_back({"in turns on the units",
                             time.simulated,
                             "clk",
                             "a trip of all workgroups, event by event",
                             {},
                             {}});
  }
  return term;
}

static Term roundTerm(const KernelWork &work, const TrafficByAccess &traffic,
                      const RoundTime &round, double rounds,
                      const Rates &rates) {
  Term term{"rounds of " + number(round.load.active) + " workgroups",
            rounds * round.clocks / rates.clockHz,
            "s",
            "",
            {},
            {}};
  term.formula = number(rounds) + " x " + clk(round.clocks) + " / " +
                 formatQuantity(rates.clockHz, "Hz") + ", bound by " +
                 round.limit;
  term.facts = {"clock.boost", "execution.units"};
  for (unsigned i = 0; i < work.blocks.size(); ++i) {
    term.children.push_back(blockTerm(work, traffic, round, i, rates));
  }
  Term most{"busiest resource of the round", 0, "clk", "", {}, {}};
  unsigned busiest =
      std::max_element(round.totals.begin(), round.totals.end()) -
      round.totals.begin();
  most.value = round.totals[busiest];
  most.formula =
      resourceName(Resource(busiest)).str() + " for all work of the round";
  term.children.push_back(std::move(most));
  return term;
}

Term timeTerm(const KernelWork &work, const TrafficByAccess &traffic,
              const KernelTime &time, const Rates &rates) {
  Term term{"time", time.seconds,
            "s",    "launch and rounds, bound by " + time.limit,
            {},     {}};
  double gap = rates.target.launch.gap, read = time.gapSeconds - gap;
  term.children.push_back(
      {"launch gap", gap, "s", "kernel to kernel", {"launch.gap"}, {}});
  if (read > 0) {
    term.children.push_back({"arguments",
                             read,
                             "s",
                             "read before all else",
                             {"launch.reads_arguments", "memory.latency"},
                             {}});
  }
  if (time.fullRounds > 0) {
    term.children.push_back(
        roundTerm(work, traffic, time.full, time.fullRounds, rates));
  }
  if (time.last.load.active > 0) {
    term.children.push_back(roundTerm(work, traffic, time.last, 1, rates));
  }
  if (time.startClocks > 0) {
    term.children.push_back({"starts of workgroups",
                             time.startClocks / rates.clockHz,
                             "s",
                             "of rounds behind another one",
                             {"launch.workgroup"},
                             {}});
  }
  if (time.rampClocks > 0) {
    term.children.push_back({"ramp",
                             time.rampClocks / rates.clockHz,
                             "s",
                             "until device memory runs at its full rate",
                             {"launch.ramp"},
                             {}});
  }
  if (time.longest > 1.001) {
    double end =
        time.last.load.active > 0 ? time.last.clocks : time.full.clocks;
    term.children.push_back({"longest workgroup",
                             (time.longest - 1) * end / rates.clockHz,
                             "s",
                             number(time.longest) + " times the mean",
                             {},
                             {}});
  }
  return term;
}

Term trafficTerm(const KernelWork &work, const TrafficByAccess &traffic) {
  Term term{"device memory",
            traffic.sum.memory(),
            "B",
            "bytes of all accesses",
            {},
            {}};
  for (auto [access, bytes] : llvm::zip(work.accesses, traffic.accesses)) {
    Term one{(access.writes ? "write " : "read ") + access.name,
             access.peer ? bytes.requested : bytes.memory,
             "B",
             "",
             {"cache.l2", "cache.llc"},
             {}};
    one.formula = formatQuantity(bytes.requested, "B") + " asked, " +
                  formatQuantity(bytes.distinct, "B") + " different, " +
                  number(bytes.sharers) + " workgroups share";
    one.formula += bytes.retained ? ", kept in a cache" : "";
    term.children.push_back(std::move(one));
  }
  return term;
}

} // namespace modelc
