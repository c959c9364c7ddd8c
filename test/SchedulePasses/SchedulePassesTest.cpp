//===- SchedulePassesTest.cpp - Orders and counts against brute force -----===//
//
// Prints one line per fact; orders-and-counts.test checks them.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/SchedulePasses.h"
#include "dialects/Schedule/Schedule.h"
#include "lib/SchedulePasses/Waits/WaitCounter.h"

#include <cstdio>
#include <set>
#include <vector>

using namespace modelc;
using llvm::SmallVector;

/// The header that emitted kernels include, as far as the grid needs it.
namespace emitted {
#define TILE static inline
namespace modelc {
TILE int minimum(int a, int b) { return a < b ? a : b; }
} // namespace modelc
#include "targets/tile/grid.h"
using namespace modelc;
} // namespace emitted

using Indices = std::vector<int64_t>;

//===----------------------------------------------------------------------===//
// The order of the grid
//===----------------------------------------------------------------------===//

static Indices tileOf(int64_t workgroup, const Indices &extents,
                      const schedule::GridOrder &order) {
  SmallVector<int64_t, 3> indices;
  order.indicesOf(workgroup, extents, indices);
  return Indices(indices.begin(), indices.end());
}

/// What an emitted kernel computes: the calls that Emit prints for a grid.
template <int Chiplets, int Group>
static Indices emittedTile(int workgroup, const Indices &extents) {
  int outer = extents.size() > 2 ? int(extents[0]) : 1;
  int rows = int(extents[extents.size() - 2]), columns = int(extents.back());
  int tile = emitted::chipletOrder<Chiplets>(workgroup, outer * rows * columns);
  auto at =
      emitted::groupedOrder<Group>(tile % (rows * columns), rows, columns);
  Indices indices = {at.row, at.column};
  if (extents.size() > 2) {
    indices.insert(indices.begin(), tile / (rows * columns));
  }
  return indices;
}

namespace {
struct GridCounts {
  int grids = 0, notBijections = 0, notAsEmitted = 0;
};
} // namespace

template <int Chiplets, int Group>
static void testGrid(const Indices &extents, GridCounts &counts) {
  int64_t total = 1;
  for (int64_t extent : extents) {
    total *= extent;
  }
  schedule::GridOrder order({Chiplets, Group});
  std::set<Indices> tiles;
  bool inside = true, same = true;
  for (int64_t workgroup = 0; workgroup < total; ++workgroup) {
    Indices at = tileOf(workgroup, extents, order);
    for (size_t i = 0; i < extents.size(); ++i) {
      inside &= at[i] >= 0 && at[i] < extents[i];
    }
    same &= at == emittedTile<Chiplets, Group>(int(workgroup), extents);
    tiles.insert(at);
  }
  ++counts.grids;
  counts.notBijections += !inside || int64_t(tiles.size()) != total;
  counts.notAsEmitted += !same;
}

template <int Chiplets>
static void testGrids(const Indices &extents, GridCounts &counts) {
  testGrid<Chiplets, 1>(extents, counts);
  testGrid<Chiplets, 2>(extents, counts);
  testGrid<Chiplets, 4>(extents, counts);
  testGrid<Chiplets, 8>(extents, counts);
}

/// Every tile exactly once, and the same in cost as in an emitted kernel.
static void testOrders() {
  GridCounts counts;
  for (int64_t rows = 1; rows <= 13; ++rows) {
    for (int64_t columns = 1; columns <= 11; ++columns) {
      for (const Indices &extents :
           {Indices{rows, columns}, Indices{3, rows, columns}}) {
        testGrids<1>(extents, counts);
        testGrids<3>(extents, counts);
        testGrids<8>(extents, counts);
      }
    }
  }
  std::printf("grids: %d, not a bijection: %d, not as emitted: %d\n",
              counts.grids, counts.notBijections, counts.notAsEmitted);
  // Workgroups 0, 8, 16, ... run on one chiplet and walk down four rows.
  std::printf("one chiplet of 8 on 16 x 16:");
  for (int64_t w = 0; w < 48; w += 8) {
    Indices at = tileOf(w, {16, 16}, schedule::GridOrder({8, 4}));
    std::printf(" %ld,%ld", long(at[0]), long(at[1]));
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
  testOrders();
  testRing("three slots", {3, 2, 4, true});
  testRing("four slots", {4, 3, 2, true});
  testRing("two slots", {2, 1, 8, true});
  testRing("too far ahead", {3, 3, 4, true});
  testRing("no sync", {3, 2, 4, false});
}
