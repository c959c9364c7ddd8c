#include "lib/SchedulePasses/Waits/WaitCounter.h"
#include <algorithm>
#include <limits>

using namespace modelc;

constexpr int kQueues = 4;

WaitCounter::WaitCounter(std::vector<WaitStep> list, int64_t lag, int64_t trips,
                         bool oneWave, int shortQueue)
    : steps(std::move(list)), lag(lag), trips(trips), oneWave(oneWave),
      shortQueue(shortQueue) {
  for (size_t i = 0; i < steps.size(); ++i) {
    syncsBefore.push_back(syncs.size());
    if (steps[i].isSync) {
      syncs.push_back(i);
    }
  }
  findHazards();
}

//===----------------------------------------------------------------------===//
// Hazards
//===----------------------------------------------------------------------===//

void WaitCounter::addHazard(size_t producer, size_t consumer,
                            const StorageKey &key) {
  bool across = !key.isRegister && !oneWave && !steps[producer].byBarrier;
  int64_t deadline = consumer;
  if (across) {
    int64_t sync = static_cast<int64_t>(syncsBefore[consumer]) - 1 - lag;
    deadline = sync < 0 ? -1 : static_cast<int64_t>(syncs[sync]);
  }
  hazards.push_back({producer, consumer, deadline, across});
}

/// Pairs that conflict: of registers only a use of what was loaded.
void WaitCounter::findHazards() {
  std::map<StorageKey, std::vector<std::pair<size_t, bool>>> byKey;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const StepAccess &access : steps[i].accesses) {
      byKey[access.key].push_back({i, access.writes});
    }
  }
  for (auto &[key, list] : byKey) {
    for (size_t c = 0; c < list.size(); ++c) {
      for (size_t p = 0; p < c; ++p) {
        bool conflict = key.isRegister ? list[p].second && !list[c].second
                                       : list[p].second || list[c].second;
        if (conflict && list[p].first != list[c].first &&
            !steps[list[p].first].isOrderedWith(steps[list[c].first])) {
          addHazard(list[p].first, list[c].first, key);
        }
      }
    }
  }
}

/// What is wrong with a pair whatever the waits are, or empty.
std::string WaitCounter::mistakeOf(const Hazard &hazard) const {
  const WaitStep &p = steps[hazard.producer], &c = steps[hazard.consumer];
  for (const StepAccess &first : p.accesses) {
    for (const StepAccess &second : c.accesses) {
      if (first.key == second.key && !first.key.isRegister &&
          (first.writes || second.writes) && first.trip > second.trip) {
        return p.name + " of trip " + std::to_string(first.trip) +
               " takes the slot that " + c.name + " of trip " +
               std::to_string(second.trip) + " still needs";
      }
    }
  }
  if (hazard.acrossWaves && hazard.deadline <= int64_t(hazard.producer)) {
    return "no sync between " + p.name + " and " + c.name;
  }
  return "";
}

bool WaitCounter::isSteady(const Hazard &hazard, int queue, int loop) const {
  const WaitStep &p = steps[hazard.producer], &c = steps[hazard.consumer];
  return p.queue == queue && p.loop == loop && c.loop == loop &&
         p.round == c.round && c.trip == trips - 2;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

bool WaitCounter::isWait(const void *op) const {
  return std::any_of(steps.begin(), steps.end(), [&](const WaitStep &step) {
    return step.op == op && step.waits >= 0;
  });
}

WaitCounter::Sites WaitCounter::givenSites(int queue, int loop) const {
  Sites sites;
  for (const WaitStep &step : steps) {
    if (step.waits == queue && step.loop == loop) {
      sites.insert(step.op);
    }
  }
  return sites;
}

std::optional<size_t> WaitCounter::lastSite(const Sites &sites,
                                            const Hazard &hazard) const {
  for (int64_t i = hazard.deadline; i > static_cast<int64_t>(hazard.producer);
       --i) {
    if (sites.count(steps[i].op)) {
      return static_cast<size_t>(i);
    }
  }
  return std::nullopt;
}

bool WaitCounter::covers(const Sites &sites, int queue, int loop) const {
  return std::all_of(hazards.begin(), hazards.end(), [&](const Hazard &hazard) {
    return !isSteady(hazard, queue, loop) || lastSite(sites, hazard);
  });
}

/// Syncs between a needed op and its wait, the fewest of all.
int64_t WaitCounter::slack(const Sites &sites, int queue, int loop) const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Hazard &hazard : hazards) {
    if (isSteady(hazard, queue, loop)) {
      size_t site = *lastSite(sites, hazard);
      least = std::min<int64_t>(least, syncsBefore[site] -
                                           syncsBefore[hazard.producer]);
    }
  }
  return least;
}

/// The ops before which a wait of the loop stands at the latest.
std::vector<const void *> WaitCounter::deadlines(int queue, int loop) const {
  std::vector<const void *> all;
  for (const Hazard &hazard : hazards) {
    if (!isSteady(hazard, queue, loop)) {
      continue;
    }
    const void *op = steps[hazard.deadline].op;
    if (std::find(all.begin(), all.end(), op) == all.end()) {
      all.push_back(op);
    }
  }
  return all;
}

/// Of the deadlines, the fewest that cover every hazard; among those the
/// choice with the most slack. All of them for a short queue.
WaitCounter::Sites WaitCounter::chooseSites(int queue, int loop) const {
  std::vector<const void *> all = deadlines(queue, loop);
  if (all.size() > 12 || queue == shortQueue) {
    return Sites(all.begin(), all.end());
  }
  Sites best(all.begin(), all.end());
  int64_t bestSlack = -1;
  for (unsigned mask = 1; mask < 1u << all.size(); ++mask) {
    Sites sites;
    for (size_t bit = 0; bit < all.size(); ++bit) {
      if (mask >> bit & 1) {
        sites.insert(all[bit]);
      }
    }
    if (sites.size() > best.size() || !covers(sites, queue, loop)) {
      continue;
    }
    int64_t own = slack(sites, queue, loop);
    if (sites.size() < best.size() || own > bestSlack) {
      best = sites;
      bestSlack = own;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

int64_t WaitCounter::entriesBetween(int queue, size_t from, size_t to) const {
  int64_t sum = 0;
  for (size_t i = from; i < to; ++i) {
    sum += steps[i].queue == queue ? steps[i].entries : 0;
  }
  return sum;
}

/// The counts of the sites of a loop, from its steady hazards.
void WaitCounter::countLoop(WaitPlan &plan, int queue, int loop) const {
  bool any = std::any_of(hazards.begin(), hazards.end(), [&](const Hazard &h) {
    return isSteady(h, queue, loop);
  });
  if (!any) {
    return;
  }
  Sites sites = givenSites(queue, loop);
  if (sites.empty()) {
    sites = chooseSites(queue, loop);
  }
  for (const Hazard &hazard : hazards) {
    std::optional<size_t> site;
    if (isSteady(hazard, queue, loop)) {
      site = lastSite(sites, hazard);
    }
    if (!site || steps[*site].pending) {
      continue;
    }
    int64_t behind = entriesBetween(queue, hazard.producer + 1, *site);
    const void *op = steps[*site].op;
    int64_t &count =
        isWait(op) ? plan.given.try_emplace(op, behind).first->second
                   : plan.added.try_emplace({op, queue}, behind).first->second;
    count = std::min(count, behind);
  }
}

/// Waits that no steady hazard needs drain their queue.
void WaitCounter::countRest(WaitPlan &plan) const {
  for (const WaitStep &step : steps) {
    if (step.waits >= 0 && !step.pending) {
      plan.given.try_emplace(step.op, 0);
    }
  }
}

/// Where a wait for a hazard may stand outside of the loop of its consumer.
size_t WaitCounter::siteOutside(const Hazard &hazard) const {
  size_t site = hazard.deadline;
  const WaitStep &p = steps[hazard.producer], &late = steps[site];
  if (late.loop < 0 || (late.loop == p.loop && late.round == p.round)) {
    return late.loop < 0 ? site : kNever;
  }
  // The step before the first of this run of the loop is the loop itself.
  while (site > hazard.producer + 1 &&
         !(steps[site].loop != late.loop || steps[site].round != late.round)) {
    --site;
  }
  return site;
}

/// Completes a hazard by a wait outside of loops; false where none can.
bool WaitCounter::mend(WaitPlan &plan, const Hazard &hazard) const {
  const WaitStep &p = steps[hazard.producer];
  if (p.queue < 0 || hazard.deadline <= int64_t(hazard.producer)) {
    return false;
  }
  size_t site = siteOutside(hazard);
  if (site == kNever || site <= hazard.producer) {
    return false;
  }
  int64_t behind = entriesBetween(p.queue, hazard.producer + 1, site);
  auto [it, isNew] = plan.added.try_emplace({steps[site].op, p.queue}, behind);
  if (!isNew && it->second <= behind) {
    return false;
  }
  it->second = behind;
  return true;
}

/// Removes added waits whose hazards others complete in time, in the order of
/// the program.
void WaitCounter::dropNeedless(WaitPlan &plan) const {
  std::set<WaitSite> needed;
  for (const WaitStep &step : steps) {
    for (int queue = 0; queue < kQueues; ++queue) {
      WaitSite site(step.op, queue);
      auto dropped = plan.added.extract(site);
      if (dropped && (needed.count(site) || !violations(plan).empty())) {
        plan.added.insert(std::move(dropped));
        needed.insert(site);
      }
    }
  }
}

WaitPlan WaitCounter::plan() {
  WaitPlan plan;
  for (const Hazard &hazard : hazards) {
    plan.mistake = mistakeOf(hazard);
    if (!plan.mistake.empty()) {
      return plan;
    }
  }
  std::set<std::pair<int, int>> loops;
  for (const WaitStep &step : steps) {
    if (step.queue >= 0 && step.loop >= 0) {
      loops.insert({step.queue, step.loop});
    }
  }
  for (auto [queue, loop] : loops) {
    countLoop(plan, queue, loop);
  }
  countRest(plan);
  for (;;) {
    std::vector<Hazard> open = violations(plan);
    if (open.empty()) {
      dropNeedless(plan);
      return plan;
    }
    const Hazard &first = *std::min_element(
        open.begin(), open.end(), [](const Hazard &a, const Hazard &b) {
          return a.deadline < b.deadline;
        });
    if (!mend(plan, first)) {
      plan.mistake = "no wait can complete " + steps[first.producer].name +
                     " before " + steps[first.consumer].name;
      return plan;
    }
  }
}
