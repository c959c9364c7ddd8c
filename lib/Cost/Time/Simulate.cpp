//===- Simulate.cpp - The trips of a loop, event by event -----------------===//
//
// The two bounds of a trip take units as free of conflicts (recurrence) or as
// always busy (resource). Between them lies who meets whom on a unit, and that
// decides what `stagger` buys: two groups of waves that read shared memory and
// multiply in the same phase take turns on both units; half a trip apart each
// finds its unit free.
//
// Example: two groups, each reads for 100 clk and then multiplies for 100, with
// a sync behind each. In step: the second group waits for the first on both
// units, 400 clk a trip. One sync apart one reads while the other multiplies:
// 200 clk.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Time/Simulate.h"
#include "lib/Cost/Time/Recurrence.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace modelc {

namespace {
/// When one execution of a step began and ended.
struct Run {
  double issued = -1; // negative: not yet
  double start = 0, end = 0;
  bool flies = false; // a copy whose bytes have not reached shared memory
};

/// Bytes of a copy that reach shared memory.
struct Landing {
  double clock = 0;
  double clocks = 0; // of the port
  double latency = 0;
  Run *run = nullptr;
};

/// One stream of one group of waves of one workgroup.
struct Thread {
  unsigned workgroup = 0, group = 0, stream = 0;
  std::vector<unsigned> program; // its steps of a trip
  size_t next = 0;               // in the programs of all trips
  double clock = 0;
  std::vector<double> arrivals; // at its syncs, with those it starts behind
  size_t passed = 0;            // of them
  double taken = 0;             // by the port to L2, all that it has asked for
  std::optional<double> ready;  // of the next step, once that is known
  /// What the next step waits for: a run that was not issued, or whose bytes
  /// have not landed.
  const Run *awaited = nullptr;
  bool awaitsBytes = false;
  bool isHeld() const {
    return awaited && (awaited->issued < 0 || (awaitsBytes && awaited->flies));
  }
};

class Simulator {
public:
  Simulator(const UnitLoad &load, unsigned trips, unsigned turns);
  /// Clocks of a trip, over the last `turns` trips that count.
  double run();

private:
  std::optional<double> readyAt(Thread &thread);
  std::optional<double> allowed(Thread &thread, unsigned step,
                                unsigned trip) const;
  std::optional<double> meet(Thread &thread, double at);
  void issue(Thread &thread);
  bool isSteady();
  void serve(unsigned step, Run &run);
  bool landBefore(double clock);
  Run &runOf(const Thread &thread, unsigned trip, unsigned step) {
    return runs[thread.workgroup * load.groups + thread.group]
               [trip * load.block.steps.size() + step];
  }
  const Run &runOf(const Thread &thread, unsigned trip, unsigned step) const {
    return const_cast<Simulator *>(this)->runOf(thread, trip, step);
  }

  const UnitLoad &load;
  unsigned trips, turns;
  std::vector<Thread> threads;
  std::vector<std::vector<Run>> runs; // of each group of waves
  std::array<std::vector<double>, kResources> freeAt;
  std::vector<Landing> landings;                     // the last one lands first
  std::vector<llvm::SmallVector<unsigned, 4>> asked; // units, by each step
  std::vector<double> done;       // of each trip: when the units are
  std::vector<unsigned> underway; // of each trip: threads with steps left
  unsigned over = 0;              // trips that all threads are through
  unsigned alike = 0; // of these at the end: they took as long as one turn ago
};
} // namespace

Simulator::Simulator(const UnitLoad &load, unsigned trips, unsigned turns)
    : load(load), trips(trips), turns(turns), done(trips, 0) {
  unsigned streams = 1;
  for (const Step &step : load.block.steps) {
    streams = std::max(streams, step.stream + 1);
  }
  for (const StepDemand &demand : load.steps) {
    auto &units = asked.emplace_back();
    for (unsigned i = 0; i < kResources; ++i) {
      if (demand.clocks[i] > 0) {
        units.push_back(i);
      }
    }
  }
  size_t executions = size_t(trips) * load.block.steps.size();
  runs.assign(size_t(load.workgroups) * load.groups,
              std::vector<Run>(executions));
  for (unsigned i = 0; i < kResources; ++i) {
    freeAt[i].assign(std::max(1u, load.servers[i]), 0);
  }
  for (unsigned workgroup = 0; workgroup < load.workgroups; ++workgroup) {
    for (unsigned group = 0; group < load.groups; ++group) {
      for (unsigned stream = 0; stream < streams; ++stream) {
        Thread thread;
        thread.workgroup = workgroup;
        thread.group = group;
        thread.stream = stream;
        thread.passed = size_t(load.lag) * group;
        thread.arrivals.assign(thread.passed, 0);
        for (unsigned i = 0; i < load.block.steps.size(); ++i) {
          if (load.block.steps[i].stream == stream) {
            thread.program.push_back(i);
          }
        }
        if (!thread.program.empty()) {
          threads.push_back(std::move(thread));
        }
      }
    }
  }
  underway.assign(trips, threads.size());
}

/// When the edges of a step allow it, if all that it waits for was issued.
std::optional<double> Simulator::allowed(Thread &thread, unsigned step,
                                         unsigned trip) const {
  double clock = 0;
  for (const Edge &edge : load.block.steps[step].after) {
    if (edge.distance > trip) {
      continue; // before the loop: gone in steady state
    }
    const Run &run = runOf(thread, trip - edge.distance, edge.from);
    thread.awaited = &run;
    thread.awaitsBytes = edge.kind != Edge::Kind::Issue;
    if (thread.isHeld()) {
      return std::nullopt;
    }
    StepTime time;
    time.occupancy = run.end - run.start;
    time.latency = load.steps[edge.from].latency;
    double from = edge.kind == Edge::Kind::Issue ? run.issued : run.start;
    clock =
        std::max(clock, from + edgeClocks(edge, load.block.steps[edge.from],
                                          time, load.block.steps[step].pieces));
  }
  thread.awaited = nullptr;
  return clock;
}

/// The rendezvous of the groups of a workgroup: each comes to its sync of the
/// same number. A group that is over holds nobody up.
std::optional<double> Simulator::meet(Thread &thread, double at) {
  size_t number = thread.passed;
  if (thread.arrivals.size() == number) {
    thread.arrivals.push_back(at);
  }
  for (const Thread &other : threads) {
    if (other.workgroup != thread.workgroup || other.stream != thread.stream ||
        other.group == thread.group) {
      continue;
    }
    bool isOver = other.next >= trips * other.program.size();
    if (number < other.arrivals.size()) {
      at = std::max(at, other.arrivals[number]);
    } else if (!isOver) {
      return std::nullopt;
    }
  }
  return at;
}

std::optional<double> Simulator::readyAt(Thread &thread) {
  if (thread.next >= trips * thread.program.size()) {
    return std::nullopt;
  }
  unsigned step = thread.program[thread.next % thread.program.size()];
  unsigned trip = thread.next / thread.program.size();
  std::optional<double> clock = allowed(thread, step, trip);
  if (!clock) {
    return std::nullopt;
  }
  double at = std::max(thread.clock, *clock);
  bool meets = load.block.steps[step].kind == StepKind::Sync;
  return meets ? meet(thread, at) : at;
}

/// All units of a step are passed through at once, each as soon as it is free;
/// a copy asks the port of shared memory when its first bytes arrive.
void Simulator::serve(unsigned step, Run &run) {
  const StepDemand &demand = load.steps[step];
  bool isCopy = load.block.steps[step].kind == StepKind::Copy;
  run.start = run.end = run.issued;
  run.end += demand.duration;
  constexpr unsigned kShared = unsigned(Resource::Shared);
  for (unsigned i : asked[step]) {
    if (isCopy && i == kShared) {
      continue;
    }
    auto server = std::min_element(freeAt[i].begin(), freeAt[i].end());
    double start = std::max(run.issued, *server);
    *server = start + demand.clocks[i];
    run.start = std::max(run.start, start);
    run.end = std::max(run.end, *server);
  }
  if (isCopy && demand.clocks[kShared] > 0) {
    run.flies = true;
    Landing own = {run.start + demand.latency, demand.clocks[kShared],
                   demand.latency, &run};
    auto later = [](const Landing &one, double clock) {
      return one.clock > clock;
    };
    landings.insert(llvm::lower_bound(landings, own.clock, later), own);
  }
}

/// Lets the earliest bytes land that arrive before `clock`.
bool Simulator::landBefore(double clock) {
  if (landings.empty() || landings.back().clock > clock) {
    return false;
  }
  const Landing &first = landings.back();
  double &port = freeAt[unsigned(Resource::Shared)].front();
  port = std::max(port, first.clock) + first.clocks;
  first.run->end = std::max(first.run->end, port - first.latency);
  first.run->flies = false;
  landings.pop_back();
  return true;
}

void Simulator::issue(Thread &thread) {
  unsigned trip = thread.next / thread.program.size();
  unsigned number = thread.program[thread.next % thread.program.size()];
  const Step &step = load.block.steps[number];
  const StepDemand &demand = load.steps[number];
  Run &run = runOf(thread, trip, number);
  run.issued = *thread.ready;
  serve(number, run);
  if (step.laneCopies > 0) {
    thread.taken = freeAt[unsigned(Resource::Port)].front();
  }
  done[trip] = std::max(done[trip], run.end);
  // A signal follows its unit; its stream goes on.
  if (step.kind != StepKind::Signal) {
    bool rendezvous =
        step.kind == StepKind::Exchange || step.kind == StepKind::Sync;
    thread.clock =
        std::max({run.issued + demand.issue, demand.inOrder ? run.end : 0,
                  demand.awaitsPort ? thread.taken : 0});
    thread.clock += rendezvous ? demand.latency : 0;
  }
  thread.passed += step.kind == StepKind::Sync;
  ++thread.next;
  thread.ready.reset();
  underway[trip] -= thread.next % thread.program.size() == 0;
}

/// Whether the last turn of trips took as long as the one before, for every
/// trip at which it can end: what follows repeats it.
bool Simulator::isSteady() {
  constexpr double kEqual = 1e-9;
  for (; over < trips && underway[over] == 0; ++over) {
    if (over < 2 * turns) {
      continue;
    }
    double last = done[over] - done[over - turns];
    double before = done[over - turns] - done[over - 2 * turns];
    alike = std::abs(last - before) <= kEqual * last ? alike + 1 : 0;
  }
  return alike >= turns;
}

double Simulator::run() {
  auto slopeTo = [&](unsigned trip) {
    return (done[trip] - done[trip - turns]) / turns;
  };
  while (true) {
    Thread *earliest = nullptr;
    for (Thread &thread : threads) {
      if (!thread.ready && !thread.isHeld()) {
        thread.ready = readyAt(thread);
      }
      if (thread.ready && (!earliest || *thread.ready < *earliest->ready)) {
        earliest = &thread;
      }
    }
    double next =
        earliest ? *earliest->ready : std::numeric_limits<double>::infinity();
    if (landBefore(next)) {
      continue;
    }
    if (!earliest) {
      return slopeTo(trips - 2); // the last trip has nobody behind it
    }
    issue(*earliest);
    if (isSteady()) {
      return slopeTo(over - 1);
    }
  }
}

double simulateTrips(const UnitLoad &load) {
  unsigned longest = 1;
  for (const Step &step : load.block.steps) {
    for (const Edge &edge : step.after) {
      longest = std::max(longest, edge.distance);
    }
  }
  // Some trips to start up, then whole turns of the longest ring; more trips
  // where they are cheap.
  constexpr unsigned kLeast = 8;
  constexpr size_t kSteps = 2000;
  unsigned turns = (kLeast + longest - 1) / longest * longest;
  size_t perTrip = load.block.steps.size() * load.workgroups * load.groups;
  unsigned trips = std::clamp<size_t>(kSteps / perTrip, 2 * turns + 1, 64);
  return Simulator(load, trips, turns).run();
}

double pipesOf(const Body &block, const Execution &execution) {
  bool asOne = llvm::any_of(block.steps, [](const Step &step) {
    return step.amounts.row && step.amounts.row->scope != MmaScope::Wave;
  });
  return asOne ? 1 : double(execution.matrixPipesPerUnit);
}

} // namespace modelc
