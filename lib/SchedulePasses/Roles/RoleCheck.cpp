#include "lib/SchedulePasses/Roles/RoleCheck.h"

#include <algorithm>
#include <deque>
#include <random>
#include <tuple>

using namespace modelc;

RoleCheck::RoleCheck(Roles list) : roles(std::move(list)) { findHazards(); }

//===----------------------------------------------------------------------===//
// What must come before what
//===----------------------------------------------------------------------===//

/// Products of one role complete in their order.
bool RoleCheck::isOrdered(Ref first, Ref second) const {
  return first.first == second.first &&
         roles[first.first][first.second].inBackground &&
         roles[second.first][second.second].inBackground;
}

/// The plain program has one trip after the other, and within a trip what is
/// written before it is read.
void RoleCheck::findHazards() {
  struct Use {
    Ref at;
    int64_t trip;
    bool writes;
  };
  std::map<StorageKey, std::vector<Use>> uses;
  for (size_t r = 0; r < roles.size(); ++r) {
    before.emplace_back(roles[r].size());
    for (size_t i = 0; i < roles[r].size(); ++i) {
      for (const StepAccess &access : roles[r][i].accesses) {
        // An arrival only stands for the accesses that it lets follow.
        bool moves = !roles[r][i].signal.arrivals;
        if (!access.key.isRegister && moves) {
          uses[access.key].push_back({{r, i}, access.trip, access.writes});
        }
      }
    }
  }
  for (const auto &[key, list] : uses) {
    for (const Use &p : list) {
      for (const Use &c : list) {
        bool conflict = p.writes || c.writes;
        bool earlier =
            p.trip < c.trip || (p.trip == c.trip && p.writes && !c.writes);
        if (conflict && earlier && !isOrdered(p.at, c.at)) {
          before[c.at.first][c.at.second].push_back(p.at);
        }
      }
    }
  }
}

bool RoleCheck::count(const Roles &roles, Barriers &barriers) {
  struct Sum {
    int64_t arrivals = 0, bytes = 0, announced = 0;
    bool operator==(const Sum &) const = default;
  };
  // Of a phase of the words of one workgroup.
  std::map<std::tuple<const void *, int64_t, int64_t>, Sum> sums;
  for (const std::vector<WaitStep> &role : roles) {
    for (const WaitStep &step : role) {
      const BarrierSignal &signal = step.signal;
      for (int64_t rank = signal.firstRank;
           signal.of && signal.trip >= 0 && rank <= signal.lastRank; ++rank) {
        Sum &sum = sums[{signal.of, rank, signal.trip}];
        sum.arrivals += signal.arrivals;
        sum.bytes += signal.bytes;
        sum.announced += signal.expects > 0;
      }
    }
  }
  std::map<const void *, Sum> first;
  for (const auto &[phase, sum] : sums) {
    const void *of = std::get<0>(phase);
    if (first.try_emplace(of, sum).first->second != sum) {
      return false;
    }
    BarrierCount &barrier = barriers[of];
    barrier.arrivals = sum.arrivals;
    barrier.bytes = sum.bytes;
    barrier.announced = sum.announced;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

namespace modelc {
class RoleRun {
public:
  RoleRun(const RoleCheck &check, const RoleCheck::Barriers &barriers,
          unsigned seed)
      : check(check), roles(check.roles), barriers(barriers), random(seed),
        taste(seed % 3), at(roles.size(), 0), products(roles.size()) {
    for (const auto &role : roles) {
      complete.emplace_back(role.size(), false);
      awaited.emplace_back();
      for (const WaitStep &step : role) {
        bool waits = step.awaits && step.awaitedTrip >= 0;
        awaited.back().push_back(
            waits ? &wordOf(step.awaits, step.awaitedRank, step.awaitedTrip)
                  : nullptr);
      }
    }
  }
  std::string run();

private:
  struct Word {
    int64_t phases = 0, arrived = 0, bytes = 0;
  };
  enum class Kind { Step, Product, Copy };
  struct Event {
    Kind kind;
    size_t which;
  };

  Word &wordOf(const void *barrier, int64_t rank, int64_t trip);
  bool canBegin(size_t role);
  void begin(size_t role);
  void signal(const WaitStep &step);
  void settle(const void *barrier, Word &word);
  void finishProduct(size_t role);
  void finishCopy(size_t flight);
  const std::vector<Event> &events();
  std::string describe(size_t role) const;

  const RoleCheck &check;
  const RoleCheck::Roles &roles;
  const RoleCheck::Barriers &barriers;
  std::minstd_rand random;
  unsigned taste; ///< 0: any order, 1: completions late, 2: completions early
  std::vector<size_t> at;
  std::vector<std::vector<bool>> complete;
  /// Products in flight, and the signals behind them.
  std::vector<std::deque<size_t>> products;
  std::vector<RoleCheck::Ref> copies;
  std::map<std::tuple<const void *, int64_t, int64_t>, Word> words;
  /// For every step the word that it waits for, or null.
  std::vector<std::vector<const Word *>> awaited;
  std::vector<Event> steps, completions;
  std::string mistake;
};
} // namespace modelc

std::string RoleRun::describe(size_t role) const {
  const WaitStep &step = roles[role][at[role]];
  return step.name + " of trip " + std::to_string(step.trip) + " in role " +
         std::to_string(role);
}

RoleRun::Word &RoleRun::wordOf(const void *barrier, int64_t rank,
                               int64_t trip) {
  return words[{barrier, rank, trip % barriers.at(barrier).slots}];
}

/// Ends a phase when all have arrived and all bytes have landed.
void RoleRun::settle(const void *barrier, Word &word) {
  int64_t wanted = barriers.at(barrier).arrivals;
  if (word.arrived > wanted) {
    mistake = "more arrivals than a phase awaits";
  }
  if (word.arrived == wanted && word.bytes == 0) {
    word.arrived = 0;
    ++word.phases;
  }
}

void RoleRun::signal(const WaitStep &step) {
  const BarrierSignal &signal = step.signal;
  if (!signal.of || signal.trip < 0) {
    return;
  }
  for (int64_t rank = signal.firstRank; rank <= signal.lastRank; ++rank) {
    Word &word = wordOf(signal.of, rank, signal.trip);
    word.arrived += signal.arrivals;
    word.bytes += signal.expects - signal.bytes;
    settle(signal.of, word);
  }
}

bool RoleRun::canBegin(size_t role) {
  const WaitStep &step = roles[role][at[role]];
  if (const Word *word = awaited[role][at[role]]) {
    int64_t phase = step.awaitedTrip / barriers.at(step.awaits).slots;
    return (word->phases & 1) != (phase & 1);
  }
  if (step.waits >= 0 && step.pending) {
    auto inFlight = std::count_if(
        products[role].begin(), products[role].end(),
        [&](size_t i) { return roles[role][i].queue == step.waits; });
    return inFlight <= *step.pending;
  }
  return true;
}

void RoleRun::begin(size_t role) {
  size_t index = at[role]++;
  const WaitStep &step = roles[role][index];
  for (auto [r, i] : check.before[role][index]) {
    if (!complete[r][i] && mistake.empty()) {
      --at[role];
      mistake = describe(role) + " begins before " + roles[r][i].name +
                " of trip " + std::to_string(roles[r][i].trip) + " in role " +
                std::to_string(r) + " is complete";
      return;
    }
  }
  if (step.inBackground || step.signal.afterProducts) {
    products[role].push_back(index);
  } else if (step.signal.bytes) {
    copies.push_back({role, index});
  } else {
    complete[role][index] = true;
    signal(step);
  }
}

void RoleRun::finishProduct(size_t role) {
  size_t index = products[role].front();
  products[role].pop_front();
  complete[role][index] = true;
  signal(roles[role][index]);
}

void RoleRun::finishCopy(size_t flight) {
  auto [role, index] = copies[flight];
  copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(flight));
  complete[role][index] = true;
  signal(roles[role][index]);
}

/// What can happen next.
const std::vector<RoleRun::Event> &RoleRun::events() {
  steps.clear();
  completions.clear();
  for (size_t r = 0; r < roles.size(); ++r) {
    if (at[r] < roles[r].size() && canBegin(r)) {
      steps.push_back({Kind::Step, r});
    }
    if (!products[r].empty()) {
      completions.push_back({Kind::Product, r});
    }
  }
  for (size_t i = 0; i < copies.size(); ++i) {
    completions.push_back({Kind::Copy, i});
  }
  if (taste == 1 && !steps.empty()) {
    return steps;
  }
  if (taste == 2 && !completions.empty()) {
    return completions;
  }
  steps.insert(steps.end(), completions.begin(), completions.end());
  return steps;
}

std::string RoleRun::run() {
  while (mistake.empty()) {
    const std::vector<Event> &possible = events();
    if (possible.empty()) {
      break;
    }
    Event event = possible[random() % possible.size()];
    switch (event.kind) {
    case Kind::Step:
      begin(event.which);
      break;
    case Kind::Product:
      finishProduct(event.which);
      break;
    case Kind::Copy:
      finishCopy(event.which);
      break;
    }
  }
  for (size_t r = 0; r < roles.size() && mistake.empty(); ++r) {
    if (at[r] < roles[r].size()) {
      mistake = describe(r) + " waits for ever";
    }
  }
  return mistake;
}

std::string RoleCheck::run(const Barriers &barriers, unsigned seed) const {
  return RoleRun(*this, barriers, seed).run();
}
