//===- SchedulePassesTest.cpp - Orders and counts against brute force -----===//
//
// Prints one line per fact; orders-and-counts.test checks them.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/SchedulePasses/WaitCounter.h"

#include <cstdio>
#include <set>
#include <vector>

using namespace modelc;

//===----------------------------------------------------------------------===//
// The order of the grid
//===----------------------------------------------------------------------===//

/// Every tile exactly once, for many grids.
static void testBijection() {
  int grids = 0, wrong = 0;
  for (int64_t rows = 1; rows <= 13; ++rows) {
    for (int64_t columns = 1; columns <= 11; ++columns) {
      for (int64_t chiplets : {1, 3, 8}) {
        for (int64_t group : {1, 2, 4, 8}) {
          std::set<std::pair<int64_t, int64_t>> tiles;
          bool inside = true;
          for (int64_t w = 0; w < rows * columns; ++w) {
            GridPoint at = gridPoint(w, rows, columns, chiplets, group);
            inside &= at.row >= 0 && at.row < rows && at.column >= 0 &&
                      at.column < columns;
            tiles.insert({at.row, at.column});
          }
          ++grids;
          wrong += !inside || int64_t(tiles.size()) != rows * columns;
        }
      }
    }
  }
  std::printf("grids: %d, not a bijection: %d\n", grids, wrong);
  // Workgroups 0, 8, 16, ... run on one chiplet and walk down four rows.
  std::printf("one chiplet of 8 on 16 x 16:");
  for (int64_t w = 0; w < 48; w += 8) {
    GridPoint at = gridPoint(w, 16, 16, 8, 4);
    std::printf(" %ld,%ld", long(at.row), long(at.column));
  }
  std::printf("\n");
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

namespace {
/// A ring of `slots`, copies `ahead` trips up, `entries` of a copy; a sync at
/// the top of each trip.
struct RingLoop {
  int64_t slots = 3, ahead = 2, entries = 4;
  bool sync = true;
};
} // namespace

static const char kCopy = 0, kWait = 0, kSync = 0, kRead = 0, kLoop = 0,
                  kFirst = 0;

static WaitStep makeCopy(const RingLoop &ring, const void *op, int64_t trip) {
  WaitStep step;
  step.op = op;
  step.name = "copy";
  step.queue = 0;
  step.entries = ring.entries;
  step.accesses = {{{&kRead, trip % ring.slots, false}, trip, true}};
  return step;
}

static std::vector<WaitStep> makeLoop(const RingLoop &ring, int64_t trips) {
  std::vector<WaitStep> steps;
  for (int64_t trip = 0; trip < ring.ahead; ++trip) {
    steps.push_back(makeCopy(ring, &kFirst, trip));
  }
  WaitStep marker;
  marker.op = &kLoop;
  marker.name = "loop";
  steps.push_back(marker);
  for (int64_t trip = 0; trip < trips; ++trip) {
    size_t first = steps.size();
    WaitStep wait;
    wait.op = &kWait;
    wait.waits = 0;
    steps.push_back(wait);
    WaitStep sync;
    sync.op = &kSync;
    sync.isSync = ring.sync;
    steps.push_back(sync);
    steps.push_back(makeCopy(ring, &kCopy, trip + ring.ahead));
    WaitStep read;
    read.op = &kRead;
    read.name = "read";
    read.accesses = {{{&kRead, trip % ring.slots, false}, trip, false}};
    steps.push_back(read);
    for (size_t i = first; i < steps.size(); ++i) {
      steps[i].loop = 0;
      steps[i].trip = trip;
    }
  }
  return steps;
}

static void testRing(const char *name, const RingLoop &ring) {
  WaitCounter counter(makeLoop(ring, 7), 0, 7, false);
  WaitPlan plan = counter.plan();
  if (!plan.mistake.empty()) {
    std::printf("%s: %s\n", name, plan.mistake.c_str());
    return;
  }
  std::printf("%s: pending %ld, exact %d\n", name, long(plan.given.at(&kWait)),
              counter.isExact(plan));
  // A planted fault: one more entry may fly.
  plan.given[&kWait] += 1;
  std::printf("%s, one more: violations found %d\n", name,
              !counter.violations(plan).empty());
}

int main() {
  testBijection();
  testRing("three slots", {3, 2, 4, true});
  testRing("four slots", {4, 3, 2, true});
  testRing("two slots", {2, 1, 8, true});
  testRing("too far ahead", {3, 3, 4, true});
  testRing("no sync", {3, 2, 4, false});
}
