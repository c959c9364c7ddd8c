//===- Round.cpp - Clocks of one round of a grid --------------------------===//

#include "lib/Cost/Time/Round.h"
#include "lib/Cost/Time/Simulate.h"
#include <cmath>

namespace modelc {

constexpr double kTilesFollowed = 12, kTripsOfAllTiles = 1e6;

Resource BlockTime::busiest() const {
  return Resource(std::max_element(resources.begin(), resources.end()) -
                  resources.begin());
}

static Clocks clocksOfOne(const Step &step, const KernelWork &work,
                          const TrafficByAccess &traffic, const Rates &rates) {
  Clocks clocks = rates.clocksOf(step.amounts);
  if (step.access >= 0) {
    const Access &access = work.accesses[step.access];
    const AccessTraffic &bytes = traffic.accesses[step.access];
    double all = std::max(1e-9, access.executions * work.workgroups());
    Clocks below =
        rates.clocksBelowL2(access, bytes.lastLevel / all, bytes.memory / all);
    for (unsigned i = 0; i < kResources; ++i) {
      clocks[i] += below[i];
    }
  }
  return clocks;
}

StepClocks clocksOfSteps(const KernelWork &work, const TrafficByAccess &traffic,
                         const Rates &rates) {
  StepClocks clocks;
  for (const Body &block : work.blocks) {
    std::vector<Clocks> &own = clocks.emplace_back();
    for (const Step &step : block.steps) {
      own.push_back(clocksOfOne(step, work, traffic, rates));
    }
  }
  return clocks;
}

/// Clocks of one workgroup alone become those of all that share the resource.
/// Waves of one workgroup fill only as many schedulers as it has waves.
double RoundTimer::sharing(Resource resource, const Step &step,
                           const Load &running) const {
  const Execution &execution = rates.target.execution;
  switch (resource) {
  case Resource::L2:
  case Resource::LastLevel:
  case Resource::Memory:
  case Resource::Link:
    return running.active;
  case Resource::Matrix:
    if (step.amounts.row && step.amounts.row->scope != MmaScope::Wave) {
      return running.perUnit;
    }
    return std::max(running.perUnit,
                    double(execution.matrixPipesPerUnit) / work.waves);
  case Resource::Vector:
  case Resource::Exp2:
  case Resource::Convert:
    return std::max(running.perUnit,
                    double(execution.schedulersPerUnit) / work.waves);
  default:
    return running.perUnit;
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
    return meeting + step.extraLatency;
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

StepTime RoundTimer::timeOfStep(const Step &step, const Clocks &own,
                                const Body &block,
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
  // What goes to devices goes at one time from all workgroups, in turn; so do
  // results at the end of a tile, because those that start together end so.
  bool isOfTile = &block == &work.blocks.front();
  bool sends =
      step.amounts.linkBytes > 0 || (isOfTile && step.kind == StepKind::Store);
  Load beside = sends ? load : Load{};
  for (unsigned i = 0; i < kResources; ++i) {
    if (own[i] > 0) {
      time.occupancy =
          std::max(time.occupancy, own[i] * sharing(Resource(i), step, beside));
    }
  }
  // Candidates are judged as if all waves went in step; the bound lets those
  // that share a scheduler fill each other's gaps, as the simulation may find.
  unsigned groups =
      rates.view == View::Expectation ? block.groups : groupsOf(block);
  time.occupancy *= step.executions / groups;
  time.latency = latencyOf(step) * std::min(1.0, step.executions);
  time.hold = sends ? time.occupancy : 0;
  if (step.askedBytes > 0) {
    time.hold = step.askedBytes / rates.target.cache.unitBytesPerClock *
                load.perUnit / groups;
  }
  switch (step.kind) {
  case StepKind::Matrix:
  case StepKind::Vector:
    time.hold = std::max(time.hold, time.occupancy);
    return time;
  case StepKind::Exchange:
  case StepKind::Sync:
    time.hold = time.occupancy + time.latency;
    return time;
  default:
    return time;
  }
}

/// For which a group of waves issues a step at least, where a scheduler has few
/// of its waves: each instruction waits for one before it. Descriptors are made
/// around a product, addresses and limits around a copy of a lane.
double RoundTimer::issueClocks(const Step &step, unsigned groups) const {
  constexpr double kAroundProduct = 8, kAroundCopy = 9;
  const Execution &execution = rates.target.execution;
  // Of roles, those that multiply are groups of one wave of each scheduler.
  double waves = groups > 1 ? double(execution.schedulersPerUnit * groups)
                            : double(work.waves);
  double ofScheduler =
      std::max(1.0, waves / groups / double(execution.schedulersPerUnit));
  if (execution.waveIssueClocks <= ofScheduler) {
    return 0; // others fill the gaps
  }
  double lanes = double(execution.waveSize) * waves;
  double ofLanes = step.kind == StepKind::Vector ? step.amounts.vector
                   : step.kind == StepKind::Copy ? kAroundCopy * step.laneCopies
                                                 : 0;
  double instructions = step.kind == StepKind::MatrixRun
                            ? kAroundProduct * double(step.pieces)
                            : ofLanes / lanes;
  return instructions * execution.waveIssueClocks * step.executions;
}

/// A trip of all workgroups of a unit. None where many groups fill each other's
/// gaps, or where one unit is asked so much more than dependences take that
/// nothing else can matter.
double RoundTimer::simulate(unsigned number,
                            llvm::ArrayRef<StepTime> times) const {
  const Body &block = work.blocks[number];
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
  for (auto [step, time, own] :
       llvm::zip_equal(block.steps, times, clocks[number])) {
    StepDemand demand;
    demand.latency = time.latency;
    demand.awaitsPort = step.askedBytes > 0;
    demand.inOrder =
        time.hold > 0 && !(demand.awaitsPort && step.kind == StepKind::Copy);
    if (step.kind == StepKind::Loop) {
      demand.duration = time.occupancy;
    } else {
      demand.issue = issueClocks(step, unit.groups);
      demand.duration = step.kind == StepKind::Vector ? demand.issue : 0;
      demand.clocks = own;
      for (unsigned i = 0; i < kResources; ++i) {
        bool ofDevice =
            Resource(i) == Resource::L2 || Resource(i) == Resource::LastLevel ||
            Resource(i) == Resource::Memory || Resource(i) == Resource::Link;
        demand.clocks[i] *=
            step.executions / unit.groups *
            (ofDevice ? load.active / load.perUnit : double(unit.servers[i]));
      }
    }
    unit.steps.push_back(demand);
  }
  return simulateTrips(unit);
}

/// Of all trips: where a unit is busier than latencies are long, it waits for
/// the first one only, whose bytes take `arrival`.
static double totalOf(const BlockTime &time, double trips, double arrival) {
  const Recurrence &chain = time.recurrence;
  double ofLatencies = chain.fill + trips * chain.perTrip;
  double first = chain.first > 0 ? chain.first + arrival : 0;
  double ofUnits =
      std::max(first, time.perTrip) + std::max(0.0, trips - 1) * time.perTrip;
  return std::max(ofLatencies, ofUnits);
}

/// Whether roles share the trips of a block.
static bool isOfRoles(const Body &block) {
  return llvm::any_of(block.steps, [&](const Step &step) {
    return step.stream != block.steps.front().stream;
  });
}

void RoundTimer::timeBlock(unsigned number, bool follows,
                           std::vector<BlockTime> &blocks) const {
  const Body &block = work.blocks[number];
  BlockTime &time = blocks[number];
  std::vector<StepTime> steps;
  steps.reserve(block.steps.size());
  for (auto [step, own] : llvm::zip_equal(block.steps, clocks[number])) {
    steps.push_back(timeOfStep(step, own, block, blocks));
    if (step.kind == StepKind::Loop) {
      continue;
    }
    for (unsigned i = 0; i < kResources; ++i) {
      if (own[i] > 0) {
        time.resources[i] +=
            own[i] * step.executions * sharing(Resource(i), step, load);
      }
    }
  }
  bool isTile = work.follows && number == 0;
  // Roles go on to the trips of the next tile: the loop never fills anew.
  bool goesOn = follows && number > 0 && isOfRoles(block);
  time.recurrence = followTrips(block, steps,
                                isTile   ? kTilesFollowed
                                : goesOn ? kTripsOfAllTiles
                                         : 0);
  if (goesOn) {
    time.recurrence.fill = time.recurrence.first = 0;
  }
  double busiest = time.resources[unsigned(time.busiest())];
  if (rates.view != View::Bound) {
    double memory = time.resources[unsigned(Resource::Memory)];
    time.queued = queuedClocks(memory, copyClocks(block, steps));
  }
  time.perTrip = std::max({time.recurrence.perTrip, busiest, time.queued});
  constexpr double kNoMatter = 0.25;
  if (rates.view == View::Simulation && number > 0 && !block.steps.empty() &&
      time.recurrence.perTrip > kNoMatter * busiest) {
    time.simulated = simulate(number, steps);
    time.perTrip = std::max(time.perTrip, time.simulated);
  }
  // Workgroups that start together ask for the bytes of a first trip at once.
  double arrival = std::max(time.resources[unsigned(Resource::Memory)],
                            time.resources[unsigned(Resource::LastLevel)]);
  time.total = totalOf(time, block.trips, number > 0 ? arrival : 0);
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

/// Of a tile that others follow: groups of waves that take these in turns
/// multiply one after the other and store beside each other's products.
double RoundTimer::chainOfTurn(const RoundTime &round) const {
  double multiplied = 0;
  for (const BlockTime &block : llvm::ArrayRef(round.blocks).drop_front()) {
    multiplied = std::max(multiplied, block.total * block.executions);
  }
  auto turns = double(work.turns);
  double whole = round.blocks.front().perTrip;
  return turns > 1 ? std::max(multiplied, whole / turns) : whole;
}

RoundTime RoundTimer::time(bool follows) {
  RoundTime round;
  round.load = load;
  round.blocks.resize(work.blocks.size());
  for (unsigned i = work.blocks.size(); i > 0; --i) {
    timeBlock(i - 1, follows, round.blocks); // nested blocks stand behind
  }
  countExecutions(round.blocks);
  for (unsigned b = 0; b < round.blocks.size(); ++b) {
    const BlockTime &time = round.blocks[b];
    for (unsigned i = 0; i < kResources; ++i) {
      round.totals[i] +=
          time.resources[i] * time.executions * work.blocks[b].trips;
    }
  }
  round.chain = follows ? chainOfTurn(round) : round.blocks[0].total;
  auto busiest = std::max_element(round.totals.begin(), round.totals.end());
  round.clocks = std::max(round.chain, *busiest);
  bool isAlone = load.perUnit <= 1; // others work while one starts
  double start =
      isAlone && !follows ? rates.target.launch.workgroup * rates.clockHz : 0;
  round.start = std::max(round.chain + start, *busiest) - round.clocks;
  round.limit =
      *busiest >= round.chain
          ? resourceName(Resource(busiest - round.totals.begin())).str()
          : limitOfChain(round);
  return round;
}

} // namespace modelc
