//===- Time.cpp - Clocks of a kernel --------------------------------------===//
//
// A trip of a loop in steady state takes the larger of two bounds. *Resource*:
// for each unit, the work of all workgroups on it over its rate. *Recurrence*:
// the longest cycle of latencies over the trips it spans (Recurrence.h). What a
// chosen kernel is expected to take follows its trips event by event besides
// (Simulate.h). A loop takes its fill and its trips; a workgroup its chain of
// ops and loops; a round of the grid the larger of that and what any resource
// needs for all of it. Rounds, the partial last, and the launch add up.
//
// Example, toy GPU, one workgroup of one wave on a unit, a loop that multiplies
// 128x128x64 from a ring of three slots, rates 10,000 flop/clk and 50 B/clk:
//   matrix 2 * 128 * 128 * 64 / 10000 = 210 clk, L2 port 32768 / 50 = 655 clk;
//   a copy takes 1000 + 655 clk and spans 2 trips: about 830 clk a trip; so the
//   loop is bound by the latency of its copies and a fourth slot would pay.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Time.h"
#include "lib/Cost/Simulate.h"
#include <cmath>

namespace modelc {

Resource BlockTime::busiest() const {
  return Resource(std::max_element(resources.begin(), resources.end()) -
                  resources.begin());
}

namespace {
/// What fills the gaps of a workgroup, where there are several rounds: others
/// of its unit, or the next tile of its own roles.
constexpr double kTilesFollowed = 12;
enum class Others { None, FillGaps, Follow };

/// Times one round of the grid.
class RoundTimer {
public:
  RoundTimer(const KernelWork &work, const TrafficByAccess &traffic,
             const Rates &rates, Load load)
      : work(work), traffic(traffic), rates(rates), load(load) {}
  RoundTime time(Others others);

private:
  Clocks clocksOfOne(const Step &step) const;
  double sharing(Resource resource, const Step &step) const;
  StepTime timeOfStep(const Step &step, const Body &block,
                      llvm::ArrayRef<BlockTime> blocks) const;
  double latencyOf(const Step &step) const;
  unsigned groupsOf(const Body &block) const;
  double simulate(const Body &block, llvm::ArrayRef<StepTime> times) const;
  void timeBlock(unsigned number, std::vector<BlockTime> &blocks) const;
  void countExecutions(std::vector<BlockTime> &blocks) const;
  std::string limitOfChain(const RoundTime &round) const;

  const KernelWork &work;
  const TrafficByAccess &traffic;
  const Rates &rates;
  Load load;
};
} // namespace

/// Of one execution by one workgroup: a unit's resources at the unit's rate,
/// those below L2 at the device's.
Clocks RoundTimer::clocksOfOne(const Step &step) const {
  Clocks clocks = rates.clocksOf(step.amounts);
  if (step.access >= 0) {
    const Access &access = work.accesses[step.access];
    const AccessTraffic &bytes = traffic.accesses[step.access];
    double all = std::max(1e-9, access.executions * work.workgroups());
    Clocks below =
        rates.clocksBelowL2(bytes.lastLevel / all, bytes.memory / all,
                            access.peer ? access.bytes : 0);
    for (unsigned i = 0; i < kResources; ++i) {
      clocks[i] += below[i];
    }
  }
  return clocks;
}

/// Clocks of one workgroup alone become those of all that share the resource.
/// Waves of one workgroup fill only as many schedulers as it has waves.
double RoundTimer::sharing(Resource resource, const Step &step) const {
  const Execution &execution = rates.target.execution;
  switch (resource) {
  case Resource::LastLevel:
  case Resource::Memory:
  case Resource::Link:
    return load.active;
  case Resource::Matrix:
    if (step.amounts.row && step.amounts.row->scope != MmaScope::Wave) {
      return load.perUnit;
    }
    return std::max(load.perUnit,
                    double(execution.matrixPipesPerUnit) / work.waves);
  case Resource::Vector:
  case Resource::Exp2:
  case Resource::Convert:
    return std::max(load.perUnit,
                    double(execution.schedulersPerUnit) / work.waves);
  default:
    return load.perUnit;
  }
}

double RoundTimer::latencyOf(const Step &step) const {
  const Target &target = rates.target;
  double shared = target.shared.latencyClocks;
  double meeting = shared * step.syncs; // a rendezvous as a word through it
  if (step.meetsPeer) {
    return meeting + target.link.messageLatency * rates.clockHz;
  }
  switch (step.kind) {
  case StepKind::Load:
  case StepKind::Copy: {
    bool fromMemory =
        step.access >= 0 && traffic.accesses[step.access].memory > 0;
    return step.extraLatency + (fromMemory ? target.memory.latencyClocks
                                           : target.cache.l2LatencyClocks);
  }
  case StepKind::Shared:
  case StepKind::Sync:
    return shared;
  case StepKind::Matrix:
  case StepKind::MatrixRun:
    return step.amounts.row ? step.amounts.row->latencyClocks : 0;
  case StepKind::Exchange:
    return shared + meeting;
  default:
    return meeting;
  }
}

/// Groups of waves that run apart or meet only at syncs.
unsigned RoundTimer::groupsOf(const Body &block) const {
  bool apart = llvm::all_of(block.steps, [](const Step &step) {
    const MmaRow *row = step.amounts.row;
    return step.stream == 0 && !(row && row->scope == MmaScope::Single);
  });
  unsigned filling = std::max<int64_t>(
      1, work.waves / rates.target.execution.schedulersPerUnit);
  return block.groups > 1 || !apart ? block.groups : filling;
}

StepTime RoundTimer::timeOfStep(const Step &step, const Body &block,
                                llvm::ArrayRef<BlockTime> blocks) const {
  StepTime time;
  if (step.kind == StepKind::Loop) {
    time.occupancy = blocks[step.nested].total * step.executions;
    // A loop that only starts copies is over before they land.
    bool background =
        llvm::all_of(work.blocks[step.nested].steps, [](const Step &inner) {
          return inner.kind == StepKind::Copy || inner.kind == StepKind::Signal;
        });
    time.hold = background ? 0 : time.occupancy;
    return time;
  }
  Clocks clocks = clocksOfOne(step);
  // What goes to devices goes at one time from all workgroups, in turn.
  bool sends = step.amounts.linkBytes > 0;
  RoundTimer alone(work, traffic, rates, sends ? load : Load{});
  for (unsigned i = 0; i < kResources; ++i) {
    time.occupancy =
        std::max(time.occupancy, clocks[i] * alone.sharing(Resource(i), step));
  }
  // Candidates are judged as if all waves went in step; the bound lets those
  // that share a scheduler fill each other's gaps, as the simulation may find.
  unsigned groups =
      rates.view == View::Expectation ? block.groups : groupsOf(block);
  time.occupancy *= step.executions / groups;
  time.latency = latencyOf(step) * std::min(1.0, step.executions);
  time.hold = sends ? time.occupancy : 0;
  switch (step.kind) {
  case StepKind::Matrix:
  case StepKind::Vector:
    time.hold = time.occupancy;
    return time;
  case StepKind::Exchange:
  case StepKind::Sync:
    time.hold = time.occupancy + time.latency;
    return time;
  default:
    return time;
  }
}

/// A trip of all workgroups of a unit. None where many groups fill each other's
/// gaps, or where one unit is asked so much more than dependences take that
/// nothing else can matter.
double RoundTimer::simulate(const Body &block,
                            llvm::ArrayRef<StepTime> times) const {
  const Execution &execution = rates.target.execution;
  UnitLoad unit{block, {}, unsigned(load.perUnit), 1, 0, {}};
  unit.groups = groupsOf(block);
  constexpr unsigned kMostGroups = 8;
  if (unit.workgroups * unit.groups > kMostGroups) {
    return 0;
  }
  bool meets = llvm::any_of(block.steps, [](const Step &step) {
    return step.kind == StepKind::Sync;
  });
  unit.lag = block.groups > 1 && meets ? 1 : 0;
  double wavesOfGroup = double(work.waves) / unit.groups;
  unit.servers.fill(1);
  for (Resource pipe : {Resource::Matrix, Resource::Vector, Resource::Exp2,
                        Resource::Convert}) {
    // Few waves fill a part of the pipes and leave the others to others.
    bool matrix = pipe == Resource::Matrix;
    double pipes = matrix ? pipesOf(block, execution)
                          : double(execution.schedulersPerUnit);
    unit.servers[unsigned(pipe)] = std::max(1.0, pipes / wavesOfGroup);
  }
  for (auto [step, time] : llvm::zip_equal(block.steps, times)) {
    StepDemand demand;
    demand.latency = time.latency;
    demand.inOrder = time.hold > 0;
    if (step.kind == StepKind::Loop) {
      demand.duration = time.occupancy;
    } else {
      demand.clocks = clocksOfOne(step);
      for (unsigned i = 0; i < kResources; ++i) {
        bool ofDevice = Resource(i) == Resource::LastLevel ||
                        Resource(i) == Resource::Memory ||
                        Resource(i) == Resource::Link;
        demand.clocks[i] *=
            step.executions / unit.groups *
            (ofDevice ? load.active / load.perUnit : double(unit.servers[i]));
      }
    }
    unit.steps.push_back(demand);
  }
  return simulateTrips(unit);
}

void RoundTimer::timeBlock(unsigned number,
                           std::vector<BlockTime> &blocks) const {
  const Body &block = work.blocks[number];
  BlockTime &time = blocks[number];
  std::vector<StepTime> steps;
  for (const Step &step : block.steps) {
    steps.push_back(timeOfStep(step, block, blocks));
    if (step.kind == StepKind::Loop) {
      continue;
    }
    Clocks clocks = clocksOfOne(step);
    for (unsigned i = 0; i < kResources; ++i) {
      time.resources[i] +=
          clocks[i] * step.executions * sharing(Resource(i), step);
    }
  }
  bool isTile = work.follows && number == 0;
  time.recurrence = followTrips(block, steps, isTile ? kTilesFollowed : 0);
  double busiest = time.resources[unsigned(time.busiest())];
  if (rates.view != View::Bound) {
    double memory = time.resources[unsigned(Resource::Memory)];
    time.queued = queuedClocks(memory, copyClocks(block, steps));
  }
  time.perTrip = std::max({time.recurrence.perTrip, busiest, time.queued});
  constexpr double kNoMatter = 0.25;
  if (rates.view == View::Simulation && number > 0 && !block.steps.empty() &&
      time.recurrence.perTrip > kNoMatter * busiest) {
    time.simulated = simulate(block, steps);
    time.perTrip = std::max(time.perTrip, time.simulated);
  }
  time.total = time.recurrence.fill + block.trips * time.perTrip;
}

void RoundTimer::countExecutions(std::vector<BlockTime> &blocks) const {
  for (unsigned i = 0; i < blocks.size(); ++i) {
    for (const Step &step : work.blocks[i].steps) {
      if (step.nested >= 0) {
        blocks[step.nested].executions =
            blocks[i].executions * work.blocks[i].trips * step.executions;
      }
    }
  }
}

/// The block in which a workgroup spends most of its time, and what binds it.
std::string RoundTimer::limitOfChain(const RoundTime &round) const {
  double most = -1;
  std::string limit = "latency";
  for (unsigned i = 0; i < round.blocks.size(); ++i) {
    const BlockTime &time = round.blocks[i];
    double own = time.total * time.executions;
    for (const Step &step : work.blocks[i].steps) {
      own -= step.nested >= 0
                 ? round.blocks[step.nested].total * step.executions *
                       time.executions * work.blocks[i].trips
                 : 0;
    }
    if (own > most) {
      most = own;
      Resource busiest = time.busiest();
      bool resource =
          time.resources[unsigned(busiest)] >= 0.999 * time.recurrence.perTrip;
      limit = resource ? resourceName(busiest).str() : "latency";
    }
  }
  return limit;
}

RoundTime RoundTimer::time(Others others) {
  RoundTime round;
  round.load = load;
  round.blocks.resize(work.blocks.size());
  for (unsigned i = work.blocks.size(); i > 0; --i) {
    timeBlock(i - 1, round.blocks); // nested blocks stand behind
  }
  countExecutions(round.blocks);
  for (unsigned b = 0; b < round.blocks.size(); ++b) {
    const BlockTime &time = round.blocks[b];
    for (unsigned i = 0; i < kResources; ++i) {
      round.totals[i] +=
          time.resources[i] * time.executions * work.blocks[b].trips;
    }
  }
  const BlockTime &whole = round.blocks[0];
  round.chain = others == Others::Follow ? whole.perTrip : whole.total;
  if (others == Others::FillGaps) {
    // Workgroups of several rounds drift apart: while one starts or ends, the
    // others keep the units busy.
    RoundTimer alone(work, traffic, rates,
                     {1, load.active / std::max(1.0, load.perUnit)});
    round.chain = std::min(round.chain, alone.time(Others::None).chain);
  }
  auto busiest = std::max_element(round.totals.begin(), round.totals.end());
  round.clocks = std::max(round.chain, *busiest);
  round.limit =
      *busiest >= round.chain
          ? resourceName(Resource(busiest - round.totals.begin())).str()
          : limitOfChain(round);
  return round;
}

/// A kernel that streams for long needs all of `launch.ramp` until memory runs
/// at its full rate, a short one is over before; once, in its first round.
static void addRamp(KernelTime &time, const Rates &rates) {
  bool several = time.fullRounds > 0;
  const RoundTime &first = several ? time.full : time.last;
  unsigned memory = unsigned(Resource::Memory);
  double busy =
      time.fullRounds * time.full.totals[memory] + time.last.totals[memory];
  double streamed = first.totals[memory] + lagClocks(busy, rates.rampClocks);
  time.rampClocks = std::max(0.0, streamed - first.clocks);
  time.clocks += time.rampClocks;
  if (time.rampClocks > 0 && 2 * first.clocks > time.clocks) {
    time.limit = resourceName(Resource::Memory);
  }
}

KernelTime timeOf(const KernelWork &work, const TrafficByAccess &traffic,
                  double workgroupsPerUnit, const Rates &rates) {
  const Target &target = rates.target;
  KernelTime time;
  time.gapSeconds = target.launch.gap;
  time.longest = work.longest;
  double count = work.workgroups();
  double units = target.execution.units;
  double slots = units * workgroupsPerUnit;
  time.fullRounds = std::floor(count / slots);
  double rest = count - time.fullRounds * slots;
  if (time.fullRounds > 0) {
    bool several = time.fullRounds >= 2 && workgroupsPerUnit >= 2;
    Others others = work.follows && count > slots ? Others::Follow
                    : several                     ? Others::FillGaps
                                                  : Others::None;
    time.full = RoundTimer(work, traffic, rates, {workgroupsPerUnit, slots})
                    .time(others);
    time.clocks += time.fullRounds * time.full.clocks;
    if (others == Others::Follow && rest == 0) {
      time.clocks += time.full.blocks[0].recurrence.fill; // of the last tile
    }
    time.limit = time.full.limit;
  }
  if (rest > 0) {
    time.last =
        RoundTimer(work, traffic, rates, {std::ceil(rest / units), rest})
            .time(Others::None);
    time.clocks += time.last.clocks;
    if (time.last.clocks > time.fullRounds * time.full.clocks) {
      time.limit = time.last.limit;
    }
  } else {
    time.last.load = {0, 0};
  }
  addRamp(time, rates);
  // The longest workgroup ends last.
  double end = rest > 0 ? time.last.clocks : time.full.clocks;
  time.clocks += (time.longest - 1) * end;
  double running = time.clocks / rates.clockHz;
  time.seconds = time.gapSeconds + running;
  if (time.gapSeconds > running) {
    time.limit = "launch";
  }
  return time;
}

} // namespace modelc
