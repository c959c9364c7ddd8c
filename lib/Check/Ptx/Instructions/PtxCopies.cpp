//===- PtxCopies.cpp - Copies of 4 to 16 bytes and their groups -----------===//
//
// The bytes move at once, but nobody may touch them before the wait: see
// PtxClock.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/Products/PtxBox.h"
#include "lib/Check/Ptx/PtxBarriers.h"
#include <cstring>

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

static Groups &groupsOf(Warp &warp) {
  return warp.groups[unsigned(Queue::Copies)];
}

/// [shared], [global], bytes[, bytes that are read: the others are zeros]
static void copy(Warp &warp, const Instruction &i) {
  auto bytes = uint32_t(i.operands[2].offset);
  KernelRun &launch = *warp.block->launch;
  llvm::SmallVector<uint64_t, kLanes> addresses;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t to = 0;
    if (!(warp.active >> lane & 1)) {
      continue;
    }
    const Operand &source = i.operands[1];
    uint64_t from =
        warp.value(source.parts.front(), lane) + uint64_t(source.offset);
    auto valid = i.operands.size() > 3
                     ? uint32_t(warp.value(i.operands[3], lane))
                     : bytes;
    if (!sharedAddress(warp, i.operands[0], lane, to)) {
      return;
    }
    if (to % bytes || (valid && from % bytes) || valid > bytes) {
      return warp.fail("a copy of " + Twine(bytes) +
                       " bytes: expected multiples of it");
    }
    uint8_t *bytesTo =
        touchShared(warp, to, bytes, {true, false, warp.stamp(Queue::Copies)});
    if (!bytesTo) {
      return;
    }
    std::memset(bytesTo, 0, bytes);
    if (valid) {
      const uint8_t *bytesFrom = warp.findGlobal(
          from, valid, false, "lane " + Twine(lane) + " copies from ");
      if (!bytesFrom) {
        return;
      }
      std::memcpy(bytesTo, bytesFrom, valid);
      addresses.push_back(from);
    }
    launch.counts.copiedBytes += valid;
  }
  if (!addresses.empty()) {
    check::countLines(launch.counts, bytes, addresses);
  }
  groupsOf(warp).any = true;
}

static bool isWhole(Warp &warp) {
  if (warp.active != warp.live) {
    warp.fail("groups that not all lanes of a wave close or wait for are not "
              "modelled");
  }
  return warp.active == warp.live;
}

static void commit(Warp &warp, const Instruction &) {
  if (isWhole(warp)) {
    groupsOf(warp).close();
  }
}

/// groups that may be left
static void waitGroup(Warp &warp, const Instruction &i) {
  if (isWhole(warp)) {
    warp.knowledge.all.learn(
        warp.actor(Queue::Copies),
        groupsOf(warp).waitedFor(uint64_t(i.operands[0].offset)));
  }
}

static void waitAll(Warp &warp, const Instruction &) {
  Groups &groups = groupsOf(warp);
  warp.knowledge.all.learn(warp.actor(Queue::Copies), groups.time);
  groups.close();
}

/// [barrier]: arrives when the copies of the lane so far are there.
static void arriveAfter(Warp &warp, const Instruction &i) {
  Groups &groups = groupsOf(warp);
  Knowledge with = warp.release();
  with.all.learn(warp.actor(Queue::Copies), groups.time);
  ++groups.time;
  groups.any = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t address = 0;
    if (!(warp.active >> lane & 1)) {
      continue;
    }
    if (!sharedAddress(warp, i.operands[0], lane, address) ||
        !findBarrier(warp, address)) {
      return;
    }
    doLater(warp, Order::Copy, [&warp, address, with] {
      arriveAt(warp, warp.block->barriers[address], {.arrivals = 1}, with);
    });
  }
}

static bool decodeCopy(Instruction &i, ArrayRef<StringRef> modifiers) {
  if (has(modifiers, "bulk")) {
    return decodeBulk(i, modifiers);
  }
  if (modifiers.empty() || modifiers.front() != "async") {
    return false;
  }
  i.kind = check::Kind::Wait;
  if (has(modifiers, "commit_group")) {
    i.handler = commit;
  } else if (has(modifiers, "wait_group")) {
    i.handler = waitGroup;
  } else if (has(modifiers, "wait_all")) {
    i.handler = waitAll;
  } else if (has(modifiers, "mbarrier")) {
    i.handler = has(modifiers, "noinc") ? arriveAfter : nullptr;
  } else {
    i.kind = check::Kind::Copy;
    i.handler = i.operands.size() >= 3 ? copy : nullptr;
  }
  return i.handler;
}

void modelc::ptx::addCopies(Decoders &to) { to["cp"] = decodeCopy; }
