//===- WaitProof.cpp - Whether counts complete what others depend on ------===//
//
// Every queue completes as late as its waits allow, any two groups of waves,
// any interleaving of their syncs.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Waits/WaitCounter.h"
#include <algorithm>

using namespace modelc;

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

//===----------------------------------------------------------------------===//
// What to say of it
//===----------------------------------------------------------------------===//

/// The last wait between the two that completes what the producer queues.
std::optional<size_t> WaitCounter::waitBetween(size_t producer,
                                               size_t end) const {
  for (size_t i = end; i > producer; --i) {
    if (i < steps.size() && steps[i].waits >= 0 &&
        steps[i].waits == steps[producer].queue) {
      return i;
    }
  }
  return std::nullopt;
}

std::string WaitCounter::nameOf(size_t index) const {
  const WaitStep &step = steps[index];
  return step.loop < 0 ? step.name
                       : step.name + " of trip " + std::to_string(step.trip);
}

WaitMistake WaitCounter::explain(const Hazard &open,
                                 const std::string &before) const {
  const WaitStep &first = steps[open.producer];
  bool isLast = open.consumer == steps.size();
  size_t end = std::max<int64_t>(open.deadline, 0);
  std::optional<size_t> wait = waitBetween(open.producer, end);
  std::string what = nameOf(open.producer) + " to be complete before " + before;
  if (!wait) {
    return {isLast ? first.op : steps[open.consumer].op,
            "expected " + what + ", got no wait for it in between"};
  }
  int64_t most = entriesBetween(first.queue, open.producer + 1, *wait);
  return {steps[*wait].op,
          "expected at most " + std::to_string(most) + " pending, for " + what +
              ", got " + std::to_string(steps[*wait].pending.value_or(0))};
}

std::optional<WaitMistake> WaitCounter::mistake() const {
  for (const Hazard &hazard : hazards) {
    std::string text = mistakeOf(hazard);
    if (!text.empty()) {
      return WaitMistake{steps[hazard.consumer].op,
                         "expected an order that waits can keep: " + text};
    }
  }
  std::vector<Hazard> open = violations({});
  if (!open.empty()) {
    return explain(open.front(), nameOf(open.front().consumer));
  }
  std::vector<size_t> done = completionOf({});
  for (size_t i = 0; i < steps.size(); ++i) {
    bool moves = std::any_of(
        steps[i].accesses.begin(), steps[i].accesses.end(),
        [](const StepAccess &access) { return !access.key.isRegister; });
    if (steps[i].queue >= 0 && moves && done[i] == kNever) {
      int64_t end = steps.size();
      return explain({i, steps.size(), end, false}, "the kernel ends");
    }
  }
  return std::nullopt;
}
