//===- WaitCounter.h - Counts of asynchronous queues, from storage alone --===//
//
// A schedule as a flat list of steps, with the trips of its loops written out.
// A hazard is a pair of steps that conflict on a key, in the order of the plain
// program. Its producer must be complete before its deadline: before the use if
// the key is a register, else before the sync that lies 1 + lag syncs back
// (lag: by how many syncs the last group of waves is late). A hazard goes to
// the last wait between producer and deadline; the count of a wait is the least
// number of entries of its queue behind a step it must complete.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_WAITS_WAITCOUNTER_H
#define LIB_SCHEDULEPASSES_WAITS_WAITCOUNTER_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace modelc {

/// A slot of a place, or a register value (`slot` counts its definitions).
struct StorageKey {
  const void *of = nullptr;
  int64_t slot = 0;
  bool isRegister = false;
  int64_t rank = 0; ///< of the workgroup in its cluster
  auto operator<=>(const StorageKey &) const = default;
};

/// One access of a step with the logical trip it belongs to.
struct StepAccess {
  StorageKey key;
  int64_t trip = 0;
  bool writes = false;
};

/// What a step does to a barrier between roles; nothing without `of`.
struct BarrierSignal {
  const void *of = nullptr;
  int64_t trip = 0;
  int64_t arrivals = 0;
  int64_t expects = 0; ///< bytes that it announces
  int64_t bytes = 0;   ///< that land when the step is complete
  /// Sent when all products so far are complete.
  bool afterProducts = false;
  /// Workgroups of the cluster whose words it reaches.
  int64_t firstRank = 0, lastRank = 0;
};

/// One execution of one op.
struct WaitStep {
  const void *op = nullptr; ///< the same for all executions
  std::string name;
  int loop = -1;     ///< number of the loop around, -1: none
  int64_t trip = 0;  ///< of that loop
  int64_t round = 0; ///< run of that loop, where a loop around repeats it
  bool isSync = false;
  int queue = -1;         ///< of an asynchronous op
  bool byBarrier = false; ///< completed by a wait on a barrier
  bool ownLanes = false;  ///< every lane accesses what other such steps of the
                          ///< same lane access
  int64_t entries = 0;    ///< that it takes in its queue
  std::vector<StepAccess> accesses;
  /// A wait of a queue: `pending` where it is given already.
  int waits = -1;
  std::optional<int64_t> pending;
  /// Between roles: a signal, or the trip of a barrier that is awaited.
  BarrierSignal signal;
  const void *awaits = nullptr;
  int64_t awaitedTrip = 0, awaitedRank = 0;
  bool inBackground = false; ///< by the matrix unit, complete in its order
  /// Steps that this one completes otherwise (a barrier): their indices.
  std::vector<size_t> completes;

  /// Whether one thread issues it and a barrier completes it.
  bool isProduct() const { return byBarrier && inBackground; }
  /// Whether no wait and no sync need stand between the two.
  bool isOrderedWith(const WaitStep &other) const {
    return (isProduct() && other.isProduct()) || (ownLanes && other.ownLanes);
  }
};

/// A pair of steps and the last place where its wait may stand (before it).
struct Hazard {
  size_t producer, consumer;
  int64_t deadline;
  bool acrossWaves;
};

/// Where a wait must be: before the step `op`, on a queue.
using WaitSite = std::pair<const void *, int>;

struct WaitPlan {
  /// Waits that the list holds: their counts.
  std::map<const void *, int64_t> given;
  /// Waits to be added.
  std::map<WaitSite, int64_t> added;
  /// The first violation that no wait can mend, or empty.
  std::string mistake;
};

/// What a list with its own counts gets wrong: at which op.
struct WaitMistake {
  const void *op = nullptr;
  std::string text;
};

class WaitCounter {
public:
  /// `lag`: number of groups - 1 under stagger, else 0. `lastTrip`: trips of
  /// the unrolled loops; hazards of the last but one are the steady ones.
  /// `oneWave`: the workgroup is one wave and needs no sync. `shortQueue`:
  /// its ops return within a phase, so that each may be awaited as late as
  /// possible; the others take many phases and get the fewest waits.
  WaitCounter(std::vector<WaitStep> steps, int64_t lag, int64_t trips,
              bool oneWave, int shortQueue = -1);

  /// Counts of all waits, places of missing ones; checked.
  WaitPlan plan();
  /// Hazards that the counts leave open: every queue completes as late as the
  /// waits allow, any two groups of waves, any interleaving of their syncs.
  std::vector<Hazard> violations(const WaitPlan &plan) const;
  /// The first thing that the waits of the list, all with counts, leave open:
  /// an order that they do not keep, or what is in flight when the list ends.
  std::optional<WaitMistake> mistake() const;
  /// Whether each count is the largest that is safe.
  bool isExact(const WaitPlan &plan) const;

private:
  /// Ops before which a wait stands, or waits themselves.
  using Sites = std::set<const void *>;
  static constexpr size_t kNever = SIZE_MAX;

  void findHazards();
  void addHazard(size_t producer, size_t consumer, const StorageKey &key);
  std::string mistakeOf(const Hazard &hazard) const;
  bool isSteady(const Hazard &hazard, int queue, int loop) const;
  Sites givenSites(int queue, int loop) const;
  std::vector<const void *> deadlines(int queue, int loop) const;
  Sites chooseSites(int queue, int loop) const;
  int64_t slack(const Sites &sites, int queue, int loop) const;
  bool covers(const Sites &sites, int queue, int loop) const;
  std::optional<size_t> lastSite(const Sites &sites,
                                 const Hazard &hazard) const;
  void countLoop(WaitPlan &plan, int queue, int loop) const;
  void countRest(WaitPlan &plan) const;
  void dropNeedless(WaitPlan &plan) const;
  bool mend(WaitPlan &plan, const Hazard &hazard) const;
  size_t siteOutside(const Hazard &hazard) const;
  int64_t entriesBetween(int queue, size_t from, size_t to) const;
  bool isWait(const void *op) const;
  std::vector<std::pair<int, int64_t>> waitsAt(const WaitPlan &plan,
                                               size_t index) const;
  std::vector<size_t> completionOf(const WaitPlan &plan) const;
  std::optional<size_t> waitBetween(size_t producer, size_t end) const;
  std::string nameOf(size_t index) const;
  WaitMistake explain(const Hazard &open, const std::string &before) const;

  std::vector<WaitStep> steps;
  std::vector<size_t> syncs;       ///< their indices
  std::vector<size_t> syncsBefore; ///< how many lie before a step
  std::vector<Hazard> hazards;
  int64_t lag, trips;
  bool oneWave;
  int shortQueue;
};

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_WAITS_WAITCOUNTER_H
