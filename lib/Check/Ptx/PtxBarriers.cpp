//===- PtxBarriers.cpp - Arrivals, expected bytes, phases -----------------===//

#include "lib/Check/Ptx/PtxBarriers.h"
#include "llvm/ADT/STLExtras.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

constexpr uint32_t kBarrierBytes = 8;

void modelc::ptx::doLater(Warp &warp, Order order, std::function<void()> run) {
  warp.block->late[unsigned(order)].push_back(
      {&warp, warp.current, std::move(run)});
}

/// Fails where the workgroup of a cluster has ended, and with it its memory.
static bool isAlive(Warp &warp, uint32_t address) {
  unsigned rank = address >> kRankShift;
  bool isAlone = warp.block->ranks() == 1;
  bool lives =
      isAlone || llvm::any_of(warp.block->warps, [&](const Warp &other) {
        return other.rank == rank && other.state != Warp::State::Ended;
      });
  if (!lives) {
    warp.fail("signals workgroup " + Twine(rank) +
              " of the cluster, which has ended");
  }
  return lives;
}

void modelc::ptx::arriveFrom(Warp &warp, uint32_t address,
                             const Arrival &arrival, const Knowledge &with) {
  if (isAlive(warp, address)) {
    arriveAt(warp, warp.block->barriers[address], arrival, with);
  }
}

Barrier *modelc::ptx::findBarrier(Warp &warp, uint32_t address) {
  auto found = warp.block->barriers.find(address);
  if (found == warp.block->barriers.end()) {
    warp.fail("expected a barrier at byte " + Twine(ofRank(address, 0)) +
              " of shared memory, got none that was initialised");
    return nullptr;
  }
  if (!touchShared(warp, address, kBarrierBytes, {false, false, warp.now()})) {
    return nullptr;
  }
  return &found->second;
}

Barrier *modelc::ptx::findBarrierOfUnit(Warp &warp, uint32_t address) {
  Barrier *barrier = findBarrier(warp, address);
  if (!barrier) {
    return nullptr;
  }
  const Knowledge &known = warp.knowledge;
  bool isPublished = barrier->published && known.all.knows(barrier->published);
  if (isPublished || known.fenced.knows(barrier->initialised)) {
    return barrier;
  }
  warp.fail("arrives at the barrier at byte " + Twine(ofRank(address, 0)) +
            " of shared memory, which no fence (fence.mbarrier_init, "
            "fence.proxy.async) has made visible since it was initialised");
  return nullptr;
}

void modelc::ptx::publishBarriers(Warp &warp, const Instruction &) {
  for (auto &[address, barrier] : warp.block->barriers) {
    bool isOwn = barrier.thread / kLanes == warp.id &&
                 warp.active >> barrier.thread % kLanes & 1;
    if (isOwn && !barrier.published) {
      barrier.published = warp.now();
    }
  }
}

void modelc::ptx::arriveAt(Warp &warp, Barrier &barrier, const Arrival &arrival,
                           const Knowledge &with) {
  constexpr int64_t kMostBytes = (1 << 20) - 1;
  if (arrival.arrivals > barrier.pending) {
    return warp.fail(
        "a barrier gets more arrivals in a phase than its count, " +
        Twine(barrier.count));
  }
  barrier.pending -= arrival.arrivals;
  barrier.bytes += arrival.expected;
  barrier.arriving.join(with);
  ++warp.block->launch->progress;
  if (barrier.bytes > kMostBytes || barrier.bytes < -kMostBytes) {
    return warp.fail("a barrier expects " + Twine(barrier.bytes) +
                     " bytes, more than it can count");
  }
  if (barrier.pending == 0 && barrier.bytes < 0) {
    return warp.fail("a barrier got all arrivals and " + Twine(-barrier.bytes) +
                     " bytes more than it expects");
  }
  if (barrier.pending == 0 && barrier.bytes == 0) {
    barrier.pending = barrier.count;
    ++barrier.phase;
    barrier.done.join(barrier.arriving);
    barrier.done.all.learn(barrier.actor, barrier.phase);
    barrier.arriving = {};
  }
}

/// Calls visit(lane, address) for the active lanes until one fails.
template <typename Visit>
static void forAddresses(Warp &warp, const Operand &operand, Visit visit) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t address = 0;
    if (warp.active >> lane & 1 &&
        (!sharedAddress(warp, operand, lane, address) ||
         !visit(lane, address))) {
      return;
    }
  }
}

/// [address], count
static void initialise(Warp &warp, const Instruction &i) {
  forAddresses(warp, i.operands[0], [&](unsigned lane, uint32_t address) {
    uint64_t count = warp.value(i.operands[1], lane);
    if (address % kBarrierBytes || count < 1 || count > 1024) {
      warp.fail("expected a barrier at a multiple of 8 bytes with 1 to 1024 "
                "arrivals, got " +
                Twine(count) + " arrivals at byte " +
                Twine(ofRank(address, 0)));
      return false;
    }
    Block &block = *warp.block;
    Barrier fresh;
    if (auto old = block.barriers.find(address); old != block.barriers.end()) {
      fresh.actor = old->second.actor;
      fresh.phase = fresh.firstPhase = old->second.phase + 1;
      block.barriers.erase(old);
    } else {
      fresh.actor = block.addActor("a copy to the barrier at byte " +
                                   std::to_string(ofRank(address, 0)));
    }
    if (!touchShared(warp, address, kBarrierBytes, {true, false, warp.now()})) {
      return false;
    }
    fresh.count = fresh.pending = uint32_t(count);
    fresh.thread = warp.id * kLanes + lane;
    fresh.initialised = warp.now();
    block.barriers[address] = fresh;
    return true;
  });
}

/// [address]
static void invalidate(Warp &warp, const Instruction &i) {
  forAddresses(warp, i.operands[0], [&](unsigned, uint32_t address) {
    if (!findBarrier(warp, address)) {
      return false;
    }
    warp.block->barriers.erase(address);
    return true;
  });
}

/// state, [address][, count or bytes]; `how` bit 0: arrives, bit 1: expects.
static void arrive(Warp &warp, const Instruction &i) {
  bool hasState = i.operands[0].place != Operand::Place::Address;
  const Operand &address = i.operands[hasState ? 1 : 0];
  const Operand *last =
      i.operands.size() > (hasState ? 2u : 1u) ? &i.operands.back() : nullptr;
  Knowledge with = warp.release();
  forAddresses(warp, address, [&](unsigned lane, uint32_t at) {
    Barrier *barrier = findBarrier(warp, at);
    if (!barrier) {
      return false;
    }
    Arrival arrival;
    uint64_t value = last ? warp.value(*last, lane) : 1;
    bool expects = i.how & 2;
    arrival.arrivals = i.how & 1 ? (expects ? 1 : uint32_t(value)) : 0;
    arrival.expected = expects ? int64_t(value) : 0;
    if (hasState) {
      warp.setValue(i.operands[0], lane, barrier->phase);
    }
    arriveAt(warp, *barrier, arrival, with);
    return true;
  });
}

/// Whether the phase that a lane names has ended.
static bool hasEnded(const Barrier &barrier, bool byParity, uint64_t phase) {
  return byParity ? ((barrier.phase - barrier.firstPhase) & 1) != phase
                  : barrier.phase > phase;
}

/// predicate, [address], parity or state[, time]
static void wait(Warp &warp, const Instruction &i) {
  bool byParity = i.how & 1, suspends = i.how & 2;
  Mask ended = 0;
  Knowledge learned;
  forAddresses(warp, i.operands[1], [&](unsigned lane, uint32_t address) {
    Barrier *barrier = findBarrier(warp, address);
    uint64_t phase = warp.value(i.operands[2], lane);
    if (!barrier || (byParity && phase > 1)) {
      warp.fail("expected parity 0 or 1, got " + Twine(phase));
      return false;
    }
    if (hasEnded(*barrier, byParity, phase)) {
      ended |= Mask(1) << lane;
      learned.join(barrier->done);
    }
    return true;
  });
  if (!ended && suspends) {
    Path &path = warp.running();
    path.state = Path::State::Polling;
    --path.next;
    --warp.block->launch->executed[path.next];
    return;
  }
  Mask &p = warp.predicates[i.operands[0].row];
  p = (p & ~warp.active) | ended;
  warp.acquire(learned);
  if (ended != warp.active) {
    warp.state = Warp::State::Asleep;
  }
}

static bool decodeBarrier(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Barrier;
  if (modifiers.empty() || has(modifiers, "noComplete")) {
    return false;
  }
  StringRef what = modifiers.front();
  bool expects = has(modifiers, "expect_tx");
  if (what == "arrive" || what == "expect_tx") {
    i.how = uint8_t((what == "arrive") | expects << 1);
    i.handler = arrive;
  } else if (what == "try_wait" || what == "test_wait") {
    i.kind = check::Kind::Wait;
    i.how = uint8_t(has(modifiers, "parity") | (what == "try_wait") << 1);
    i.handler = wait;
    return i.operands.size() >= 3 &&
           i.operands[0].place == Operand::Place::Predicate;
  } else {
    i.handler = what == "init"    ? initialise
                : what == "inval" ? invalidate
                                  : nullptr;
  }
  return i.handler;
}

void modelc::ptx::addBarriers(Decoders &to) { to["mbarrier"] = decodeBarrier; }
