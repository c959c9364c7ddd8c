//===- RoleCheckTest.cpp - Barriers between roles, and planted faults -----===//
//
// A ring between one thread that copies, one that multiplies into an
// accumulator and waves that store it, in one workgroup and in a pair; and one
// between copies and waves that multiply into registers. Each fault is found in
// some of the orders; roles.test checks it.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Roles/RoleCheck.h"

#include <cstdio>

using namespace modelc;

namespace {
/// What may be wrong, by how much.
struct Ring {
  int64_t slots = 4, trips = 11;
  int64_t words = 4;         ///< of the barriers of the ring
  int64_t emptyLag = 4;      ///< trips between a copy and the slot's last use
  int64_t fullLag = 0;       ///< trips by which the product waits too early
  int64_t pending = 1;       ///< products that a release leaves in flight
  int64_t extraArrivals = 0; ///< that `empty` awaits too many
  int64_t expects = 64;      ///< bytes that a trip announces
  bool afterProducts = true; ///< a slot is released when its product is done
  bool waitsForDone = true, sendsDone = true;
  /// Of a pair: copies of the second are announced in the first; products
  /// signal both.
  bool fillsFirst = true, signalsBoth = true;
};
} // namespace

static const char kFull = 0, kEmpty = 0, kDone = 0, kPlace = 0, kSum = 0;

static WaitStep makeStep(const char *name, int64_t trip) {
  WaitStep step;
  step.name = name;
  step.trip = trip;
  return step;
}

static WaitStep makeWait(const void *barrier, int64_t trip) {
  WaitStep step = makeStep("wait", trip);
  step.awaits = barrier;
  step.awaitedTrip = trip;
  return step;
}

static WaitStep makeArrive(const void *barrier, int64_t trip) {
  WaitStep step = makeStep("arrive", trip);
  step.signal = {barrier, trip, 1};
  return step;
}

static StepAccess access(const Ring &ring, int64_t trip, bool writes) {
  return {{&kPlace, trip % ring.slots, false}, trip, writes};
}

static std::vector<WaitStep> makeLoad(const Ring &ring) {
  std::vector<WaitStep> steps;
  for (int64_t trip = 0; trip < ring.trips; ++trip) {
    steps.push_back(makeWait(&kEmpty, trip - ring.emptyLag));
    steps.push_back(makeArrive(&kFull, trip));
    steps.back().signal.expects = ring.expects;
    WaitStep copy = makeStep("copy", trip);
    copy.byBarrier = true;
    copy.signal = {&kFull, trip, 0, 0, 64};
    copy.accesses = {access(ring, trip, true)};
    steps.push_back(copy);
  }
  return steps;
}

static WaitStep makeProduct(const Ring &ring, int64_t trip) {
  WaitStep product = makeStep("mma", trip);
  product.inBackground = true;
  product.accesses = {access(ring, trip, false)};
  return product;
}

static RoleCheck::Roles intoTensor(const Ring &ring) {
  std::vector<WaitStep> matrix, epilogue;
  for (int64_t trip = 0; trip < ring.trips; ++trip) {
    matrix.push_back(makeWait(&kFull, trip - ring.fullLag));
    WaitStep product = makeProduct(ring, trip);
    product.accesses.push_back({{&kSum, 0, false}, 0, true});
    matrix.push_back(product);
    matrix.push_back(makeArrive(&kEmpty, trip));
    matrix.back().signal.afterProducts = ring.afterProducts;
  }
  if (ring.sendsDone) {
    matrix.push_back(makeArrive(&kDone, 0));
    matrix.back().signal.afterProducts = true;
  }
  if (ring.waitsForDone) {
    epilogue.push_back(makeWait(&kDone, 0));
  }
  epilogue.push_back(makeStep("load", 0));
  epilogue.back().accesses = {{{&kSum, 0, false}, 0, false}};
  return {epilogue, makeLoad(ring), matrix};
}

static RoleCheck::Roles intoRegisters(const Ring &ring) {
  std::vector<WaitStep> matrix;
  for (int64_t trip = 0; trip < ring.trips; ++trip) {
    matrix.push_back(makeWait(&kFull, trip - ring.fullLag));
    matrix.push_back(makeProduct(ring, trip));
    matrix.back().queue = 3;
    WaitStep wait = makeStep("wait", trip);
    wait.waits = 3;
    wait.pending = ring.pending;
    matrix.push_back(wait);
    matrix.push_back(makeArrive(&kEmpty, trip - 1));
  }
  return {matrix, matrix, makeLoad(ring)};
}

/// Steps of the second workgroup of a pair: its own places, and signals that go
/// to the first.
static std::vector<WaitStep> inSecond(std::vector<WaitStep> role) {
  for (WaitStep &step : role) {
    step.awaitedRank = 1;
    for (StepAccess &access : step.accesses) {
      access.key.rank = 1;
    }
  }
  return role;
}

/// Two workgroups, of which the first multiplies for both.
static RoleCheck::Roles inPair(const Ring &ring) {
  RoleCheck::Roles first = intoTensor(ring), second = first;
  for (WaitStep &step : first[2]) {
    auto own = step.accesses;
    for (StepAccess access : own) {
      access.key.rank = 1;
      step.accesses.push_back(access);
    }
    step.signal.lastRank = ring.signalsBoth ? 1 : 0;
  }
  for (WaitStep &step : second[1]) {
    step.signal.firstRank = step.signal.lastRank = ring.fillsFirst ? 0 : 1;
  }
  return {first[0], first[1], first[2], inSecond(second[0]),
          inSecond(second[1])};
}

/// Orders of 60 in which something is wrong, and what it is in the first.
static void report(const char *name, const Ring &ring,
                   RoleCheck::Roles (*make)(const Ring &)) {
  RoleCheck::Barriers barriers;
  barriers[&kFull].slots = barriers[&kEmpty].slots = ring.words;
  barriers[&kDone].slots = 1;
  if (!RoleCheck::count(make(ring), barriers)) {
    std::printf("%s: phases differ\n", name);
    return;
  }
  RoleCheck check(make(ring));
  if (make == intoTensor && ring.extraArrivals == 0 && ring.sendsDone) {
    std::printf("%s: full %ld x %ld bytes, empty %ld, done %ld; ", name,
                long(barriers[&kFull].arrivals), long(barriers[&kFull].bytes),
                long(barriers[&kEmpty].arrivals),
                long(barriers[&kDone].arrivals));
  } else {
    std::printf("%s: full %ld, empty %ld; ", name,
                long(barriers[&kFull].arrivals),
                long(barriers[&kEmpty].arrivals));
  }
  barriers[&kEmpty].arrivals += ring.extraArrivals;
  int wrong = 0;
  std::string first;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::string mistake = check.run(barriers, seed);
    if (!mistake.empty() && !wrong++) {
      first = mistake;
    }
  }
  std::printf("%s%s\n", wrong ? "found: " : "right", first.c_str());
}

int main() {
  report("tensor", {}, intoTensor);
  report("registers", {}, intoRegisters);
  report("tensor, slot taken a trip early", {.emptyLag = 5}, intoTensor);
  report("registers, slot taken a trip early", {.emptyLag = 5}, intoRegisters);
  report("tensor, slot taken a trip late", {.emptyLag = 3}, intoTensor);
  report("tensor, other parity of empty", {.emptyLag = 8}, intoTensor);
  report("tensor, other parity of full", {.fullLag = 4}, intoTensor);
  report("registers, product a trip early", {.fullLag = 1}, intoRegisters);
  report("registers, one more in flight", {.pending = 2}, intoRegisters);
  report("tensor, one arrival more", {.extraArrivals = 1}, intoTensor);
  report("registers, one arrival less", {.extraArrivals = -1}, intoRegisters);
  report("tensor, a word less than slots", {.words = 3}, intoTensor);
  report("tensor, too many bytes", {.expects = 128}, intoTensor);
  report("tensor, no bytes", {.expects = 0}, intoTensor);
  report("tensor, released at issue", {.afterProducts = false}, intoTensor);
  report("tensor, sum read early", {.waitsForDone = false}, intoTensor);
  report("tensor, sum never done", {.sendsDone = false}, intoTensor);
  report("pair", {}, inPair);
  report("pair, copies of the second announced there", {.fillsFirst = false},
         inPair);
  report("pair, the second never hears of products", {.signalsBoth = false},
         inPair);
}
