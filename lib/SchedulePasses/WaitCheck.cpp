//===- WaitCheck.cpp - Running a schedule with queues as late as allowed --===//

#include "lib/SchedulePasses/WaitCounter.h"

#include <algorithm>
#include <limits>

using namespace modelc;

constexpr size_t kNever = std::numeric_limits<size_t>::max();

std::vector<std::pair<int, int64_t>> WaitCounter::waitsAt(const WaitPlan &plan,
                                                          size_t index) const {
  std::vector<std::pair<int, int64_t>> waits;
  const WaitStep &step = steps[index];
  for (auto it = plan.added.lower_bound({step.op, -1});
       it != plan.added.end() && it->first.first == step.op; ++it) {
    waits.push_back({it->first.second, it->second});
  }
  auto given = plan.given.find(step.op);
  if (step.waits >= 0 && (step.pending || given != plan.given.end())) {
    waits.push_back({step.waits, step.pending ? *step.pending : given->second});
  }
  return waits;
}

/// For every step the index before which it is known to be complete.
std::vector<size_t> WaitCounter::completionOf(const WaitPlan &plan) const {
  std::vector<size_t> done(steps.size(), kNever);
  struct Queue {
    std::vector<size_t> ends; ///< entries up to and with each op
    std::vector<size_t> ops;
    size_t length = 0, next = 0;
  };
  std::map<int, Queue> queues;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (auto [name, pending] : waitsAt(plan, i)) {
      Queue &queue = queues[name];
      int64_t cut = static_cast<int64_t>(queue.length) - pending;
      while (queue.next < queue.ops.size() &&
             static_cast<int64_t>(queue.ends[queue.next]) <= cut) {
        done[queue.ops[queue.next++]] = i;
      }
    }
    for (size_t other : steps[i].completes) {
      done[other] = std::min(done[other], i);
    }
    const WaitStep &step = steps[i];
    if (step.queue >= 0) {
      Queue &queue = queues[step.queue];
      queue.length += step.entries;
      queue.ops.push_back(i);
      queue.ends.push_back(queue.length);
    } else if (!step.byBarrier) {
      done[i] = i;
    }
  }
  return done;
}

std::vector<Hazard> WaitCounter::violations(const WaitPlan &plan) const {
  std::vector<size_t> done = completionOf(plan);
  std::vector<Hazard> open;
  for (const Hazard &hazard : hazards) {
    size_t at = done[hazard.producer];
    bool late = at == kNever || at > hazard.consumer;
    bool unseen = !late && hazard.acrossWaves &&
                  syncsBefore[hazard.consumer] < syncsBefore[at] + lag + 1;
    if (late || unseen) {
      open.push_back(hazard);
    }
  }
  return open;
}

bool WaitCounter::isExact(const WaitPlan &plan) const {
  for (const auto &[op, count] : plan.given) {
    WaitPlan looser = plan;
    looser.given[op] = count + 1;
    if (violations(looser).empty()) {
      return false;
    }
  }
  for (const auto &[site, count] : plan.added) {
    WaitPlan looser = plan;
    looser.added[site] = count + 1;
    if (violations(looser).empty()) {
      return false;
    }
  }
  return true;
}
