//===- PtxControl.cpp - Branches, barriers of threads, fences -------------===//

#include "lib/Check/Ptx/PtxBarriers.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;

/// The active lanes go elsewhere.
static void branch(Warp &warp, const Instruction &i) {
  Path &path = warp.running();
  if (warp.active == path.lanes) {
    path.next = i.target;
    return;
  }
  path.lanes &= ~warp.active;
  warp.paths.push_back({warp.active, i.target, Path::State::Ready});
}

/// The active lanes end.
static void end(Warp &warp, const Instruction &) {
  warp.live &= ~warp.active;
  Path &path = warp.running();
  path.lanes &= ~warp.active;
  if (!path.lanes) {
    warp.paths.erase(warp.paths.begin() + long(warp.path));
  }
  for (Path &other : warp.paths) { // may be all that live now
    other.state = other.state == Path::State::Converging ? Path::State::Ready
                                                         : other.state;
  }
  if (warp.paths.empty()) {
    warp.state = Warp::State::Ended;
  }
}

static bool decodeBranch(Instruction &i, ArrayRef<StringRef>) {
  i.kind = check::Kind::Branch;
  i.handler = i.target == ~0u ? nullptr : branch;
  return i.handler;
}
static bool decodeEnd(Instruction &i, ArrayRef<StringRef>) {
  i.kind = check::Kind::Branch;
  i.handler = end;
  return true;
}

static void comeTo(Warp &warp, unsigned barrier) {
  warp.block->arrived[barrier].join(warp.release());
  warp.block->arrivedThreads[barrier] += kLanes;
}

/// number[, threads]: waits, or with `how` only arrives.
static void barrier(Warp &warp, const Instruction &i) {
  Block &block = *warp.block;
  unsigned lane = unsigned(std::countr_zero(warp.active));
  uint64_t number = i.operands.empty() ? 0 : warp.value(i.operands[0], lane);
  uint64_t threads =
      i.operands.size() > 1 ? warp.value(i.operands[1], lane) : 0;
  uint64_t most = block.wavesOfOne() * kLanes;
  if (number > 15 || threads % kLanes || threads > most) {
    return warp.fail("expected barrier 0 to 15 and whole waves of the "
                     "workgroup, got barrier " +
                     llvm::Twine(number) + " of " + llvm::Twine(threads) +
                     " threads");
  }
  unsigned here = block.numberOf(warp.rank, unsigned(number));
  for (const Warp &other : block.warps) {
    if (other.state == Warp::State::AtBarrier && other.barrier == here &&
        other.barrierThreads != threads) {
      return warp.fail("expects " + llvm::Twine(threads) +
                       " threads at a barrier where wave " +
                       llvm::Twine(other.number) + " expects " +
                       llvm::Twine(other.barrierThreads) + " (0: all)");
    }
  }
  comeTo(warp, here);
  if (i.how) {
    return;
  }
  warp.state = Warp::State::AtBarrier;
  warp.barrier = here;
  warp.barrierThreads = uint32_t(threads);
}

/// Comes to the barrier of the cluster; `how` 0: waits there, having come.
static void barrierOfCluster(Warp &warp, const Instruction &i) {
  unsigned here = warp.block->barrierOfCluster();
  if (i.how) {
    comeTo(warp, here);
    return;
  }
  warp.state = Warp::State::AtBarrier;
  warp.barrier = here;
  warp.barrierThreads = 0;
}

static void nothing(Warp &, const Instruction &) {}

/// Ordinary accesses that this wave knows of become visible to units; `how` 1:
/// those of its own workgroup.
static void fenceProxy(Warp &warp, const Instruction &i) {
  Knowledge &known = warp.knowledge;
  if (!i.how) {
    known.fenced.join(known.all);
    return;
  }
  for (const Warp &other : warp.block->warps) {
    for (uint32_t actor : {other.id, other.actor(Queue::Copies)}) {
      if (other.rank == warp.rank) {
        known.fenced.learn(actor, known.all.timeOf(actor));
      }
    }
  }
}

static bool decodeBarrier(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Barrier;
  if (has(modifiers, "cluster")) {
    if (has(modifiers, "relaxed")) {
      return false;
    }
    i.how = has(modifiers, "arrive");
    i.handler = barrierOfCluster;
    i.convergent = true;
    return true;
  }
  if (has(modifiers, "warp")) {
    i.handler = nothing;
    i.convergent = uint32_t(i.operands[0].offset) == kAllLanes;
    return true;
  }
  if (has(modifiers, "red")) {
    return false;
  }
  i.how = has(modifiers, "arrive");
  i.convergent = true;
  i.handler = barrier;
  return i.operands.empty() || i.operands.front().place == Operand::Place::Row;
}

static bool decodeFence(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Wait;
  bool isOfUnits = has(modifiers, "proxy") && has(modifiers, "async") &&
                   !has(modifiers, "global");
  i.how = has(modifiers, "shared::cta");
  i.handler = isOfUnits                         ? fenceProxy
              : has(modifiers, "mbarrier_init") ? publishBarriers
                                                : nothing;
  return true;
}

/// Hints and what has no effect on one kernel alone.
static bool decodeNothing(Instruction &i, ArrayRef<StringRef>) {
  i.kind = check::Kind::Other;
  i.handler = nothing;
  return true;
}
static void followKernels(Warp &warp, const Instruction &) {
  warp.followed |= warp.active;
}

/// The wait for earlier kernels, or leave for the next one to start.
static bool decodeKernelOrder(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Wait;
  i.handler = has(modifiers, "wait") ? followKernels : nothing;
  return true;
}
static bool decodeRegisters(Instruction &i, ArrayRef<StringRef>) {
  i.kind = check::Kind::Other;
  i.handler = nothing;
  i.convergent = true;
  return true;
}

void modelc::ptx::addControl(Decoders &to) {
  to["bra"] = decodeBranch;
  to["ret"] = decodeEnd;
  to["exit"] = decodeEnd;
  to["bar"] = decodeBarrier;
  to["barrier"] = decodeBarrier;
  to["fence"] = decodeFence;
  to["membar"] = decodeFence;
  to["griddepcontrol"] = decodeKernelOrder;
  to["prefetch"] = decodeNothing;
  to["nanosleep"] = decodeNothing;
  to["discard"] = decodeNothing;
  to["setmaxnreg"] = decodeRegisters;
}
