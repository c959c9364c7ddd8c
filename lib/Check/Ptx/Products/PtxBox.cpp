//===- PtxBox.cpp - Tensor maps, boxes and bulk copies --------------------===//
//
// A load takes place when no wave of the workgroup can go on, and arrives then
// with its bytes. Until the phase of its barrier has been waited for, its bytes
// of shared memory are poison. A store reads shared memory at once, but the
// bytes may not be written before its group has been waited for.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/Products/PtxBox.h"
#include "lib/Check/Ptx/Products/PtxMap.h"
#include "lib/Check/Ptx/PtxBarriers.h"
#include <cstring>

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// One box of a map; `at` is its first element.
struct Box {
  TensorMap map;
  std::array<int64_t, kMaxRank> at = {};

  uint32_t rowBytes() const { return uint32_t(map.box[0]) * map.elementBytes; }
  uint32_t rows() const {
    uint32_t result = 1;
    for (unsigned axis = 1; axis < map.rank; ++axis) {
      result *= map.box[axis];
    }
    return result;
  }
  uint32_t bytes() const { return rowBytes() * rows(); }
};
} // namespace

/// Calls visit(number, global address, first and last byte inside of the
/// tensor) for each row.
template <typename Visit>
static void forEachRow(const Box &box, Visit visit) {
  const TensorMap &map = box.map;
  int64_t first = std::max<int64_t>(0, -box.at[0]);
  int64_t last =
      std::min<int64_t>(map.box[0], int64_t(map.sizes[0]) - box.at[0]);
  for (uint32_t row = 0; row < box.rows(); ++row) {
    bool inside = first < last;
    int64_t address = int64_t(map.base) + box.at[0] * map.elementBytes;
    uint32_t rest = row;
    for (unsigned axis = 1; axis < map.rank; ++axis) {
      int64_t index = box.at[axis] + rest % map.box[axis];
      rest /= map.box[axis];
      inside &= index >= 0 && index < int64_t(map.sizes[axis]);
      address += index * int64_t(map.strides[axis - 1]);
    }
    if (!visit(row, uint64_t(address),
               inside ? uint32_t(first) * map.elementBytes : 0,
               inside ? uint32_t(last) * map.elementBytes : 0)) {
      return;
    }
  }
}

static constexpr const char *kRow = "a row of the box is at ";

/// The bytes of a row in global memory; null after a failure. Whether it may be
/// touched is asked where the copy is issued, not when it takes place.
static uint8_t *findRow(Warp &warp, uint64_t address, uint32_t bytes,
                        bool writes) {
  check::AddressSpace &memory = warp.block->launch->memory;
  uint8_t *found = memory.find(address, bytes, writes);
  if (!found) {
    warp.fail(kRow + memory.explain(address, bytes));
  }
  return found;
}

/// Moves a box whose shared address and bounds have been checked.
static void moveBox(Warp &warp, const Box &box, uint32_t shared,
                    bool toShared) {
  uint8_t *bytes = warp.block->shared.data();
  check::Counts &counts = warp.block->launch->counts;
  forEachRow(box, [&](uint32_t row, uint64_t address, uint32_t first,
                      uint32_t last) {
    uint8_t *global = nullptr;
    if (first < last &&
        !(global = findRow(warp, address + first, last - first, !toShared))) {
      return false;
    }
    for (uint32_t at = 0; at < box.rowBytes(); ++at) {
      size_t place = warp.block->placeOf(
          swizzled(shared + row * box.rowBytes() + at, box.map.swizzleBytes));
      bool inside = at >= first && at < last;
      if (toShared) {
        bytes[place] = inside ? global[at - first] : 0;
      } else if (inside) {
        global[at - first] = bytes[place];
      }
    }
    (toShared ? counts.copiedBytes : counts.storedBytes) += last - first;
    uint64_t lines[] = {address + first};
    if (first < last) {
      check::countLines(counts, last - first, lines);
    }
    return true;
  });
}

/// The map and coordinates of `[map, {x, y}]` in one lane.
static bool readBox(Warp &warp, const Operand &operand, unsigned lane,
                    Box &box) {
  uint64_t address = warp.value(operand.parts[0], lane);
  const uint8_t *map =
      warp.block->launch->memory.find(address, kMapBytes, false);
  if (!map || address % 64) {
    warp.fail("expected a tensor map at a multiple of 64 bytes");
    return false;
  }
  std::memcpy(&box.map, map, sizeof box.map);
  if (box.map.magic != kMapMagic) {
    warp.fail("a tensor map is used that was not encoded");
    return false;
  }
  const std::vector<Operand> &at = operand.parts[1].parts;
  if (at.size() != box.map.rank) {
    warp.fail("a box of " + Twine(at.size()) + " dimensions of a tensor of " +
              Twine(box.map.rank));
    return false;
  }
  for (size_t axis = 0; axis < at.size(); ++axis) {
    box.at[axis] = int32_t(warp.value(at[axis], lane));
  }
  return true;
}

static bool isAligned(Warp &warp, uint32_t address) {
  if (address % 128) {
    warp.fail("the shared address " + Twine(address) +
              " of a box is not a multiple of 128");
    return false;
  }
  return true;
}

/// What of an active lane starts a copy to shared memory: the place is poison
/// until the phase of the barrier ends.
static bool startLoad(Warp &warp, uint32_t shared, uint32_t bytes,
                      uint32_t barrierAddress) {
  Barrier *barrier = findBarrierOfUnit(warp, barrierAddress);
  if (!barrier) {
    return false;
  }
  Stamp stamp = stampOf(barrier->actor, barrier->phase + 1);
  uint8_t *to = touchShared(warp, shared, bytes, {true, true, stamp});
  if (to) {
    std::memset(to, 0xFF, bytes);
  }
  return to;
}

static void finishLoad(Warp &warp, uint32_t barrier, uint32_t bytes,
                       const Knowledge &with) {
  arriveFrom(warp, barrier, {.expected = -int64_t(bytes)}, with);
}

static void loadBoxAt(Warp &warp, const Box &box, uint32_t shared,
                      uint32_t barrier) {
  if (!startLoad(warp, shared, box.bytes(), barrier)) {
    return;
  }
  doLater(warp, Order::Copy,
          [&warp, box, shared, barrier, with = warp.release()] {
            moveBox(warp, box, shared, true);
            finishLoad(warp, barrier, box.bytes(), with);
          });
}

/// [shared], [map, {x, y}], [barrier]; `how` 1: with the workgroups of the
/// cluster that get it, each at these addresses, as bits.
static void loadBox(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    Box box;
    uint32_t shared = 0, barrier = 0;
    if (!sharedAddress(warp, i.operands[0], lane, shared) ||
        !sharedAddress(warp, i.operands[2], lane, barrier) ||
        !isAligned(warp, shared) || !readBox(warp, i.operands[1], lane, box) ||
        !warp.mayTouch(box.map.base, kRow)) {
      return;
    }
    if (!i.how) {
      return loadBoxAt(warp, box, shared, barrier);
    }
    auto ranks = unsigned(warp.value(i.operands[3], lane));
    if (!ranks || ranks >> warp.block->ranks()) {
      return warp.fail("expected the workgroups of a cluster of " +
                       Twine(warp.block->ranks()) + ", got the bits " +
                       Twine(ranks));
    }
    for (unsigned rank = 0; ranks >> rank; ++rank) {
      if (ranks >> rank & 1) {
        loadBoxAt(warp, box, ofRank(shared, rank), ofRank(barrier, rank));
      }
    }
  });
}

/// [shared], [global], bytes, [barrier]
static void loadBulk(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t shared = 0, barrier = 0;
    uint64_t from = warp.value(i.operands[1].parts[0], lane) +
                    uint64_t(i.operands[1].offset);
    auto bytes = uint32_t(warp.value(i.operands[2], lane));
    if (!sharedAddress(warp, i.operands[0], lane, shared) ||
        !sharedAddress(warp, i.operands[3], lane, barrier)) {
      return;
    }
    if (bytes % 16 || shared % 16 || from % 16) {
      return warp.fail("a bulk copy of " + Twine(bytes) + " bytes to " +
                       Twine(shared) + ": expected multiples of 16");
    }
    const uint8_t *bytesFrom = warp.findGlobal(from, bytes, false, kRow);
    if (!bytesFrom || !startLoad(warp, shared, bytes, barrier)) {
      return;
    }
    doLater(warp, Order::Copy,
            [&warp, bytesFrom, shared, bytes, barrier, with = warp.release()] {
              std::memcpy(&warp.block->shared[warp.block->placeOf(shared)],
                          bytesFrom, bytes);
              warp.block->launch->counts.copiedBytes += bytes;
              finishLoad(warp, barrier, bytes, with);
            });
  });
}

/// [global], bytes: a hint, which earlier kernels may run beside. It stays
/// within its buffer.
static void prefetchBulk(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t from = warp.value(i.operands[0].parts[0], lane) +
                    uint64_t(i.operands[0].offset);
    auto bytes = uint32_t(warp.value(i.operands[1], lane));
    check::AddressSpace &memory = warp.block->launch->memory;
    if (bytes % 16 || from % 16) {
      warp.fail("a prefetch of " + Twine(bytes) +
                " bytes: expected multiples of 16");
    } else if (!memory.find(from, bytes, false)) {
      warp.fail("asks for " + memory.explain(from, bytes));
    }
  });
}

/// [map, {x, y}], [shared]
static void storeBox(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    Box box;
    uint32_t shared = 0;
    if (!sharedAddress(warp, i.operands[1], lane, shared) ||
        !isAligned(warp, shared) || !readBox(warp, i.operands[0], lane, box) ||
        !warp.mayTouch(box.map.base, kRow) ||
        !touchShared(warp, shared, box.bytes(),
                     {false, true, warp.stamp(Queue::StoreReads)})) {
      return;
    }
    moveBox(warp, box, shared, false);
  });
  warp.groups[unsigned(Queue::StoreReads)].any = true;
  warp.groups[unsigned(Queue::StoreWrites)].any = true;
}

static void commit(Warp &warp, const Instruction &) {
  warp.groups[unsigned(Queue::StoreReads)].close();
  warp.groups[unsigned(Queue::StoreWrites)].close();
}

/// groups that may be left; `how` 1: until shared memory has been read.
static void waitGroup(Warp &warp, const Instruction &i) {
  for (Queue queue : {Queue::StoreReads, Queue::StoreWrites}) {
    if (queue == Queue::StoreReads || !i.how) {
      warp.knowledge.all.learn(warp.actor(queue),
                               warp.groups[unsigned(queue)].waitedFor(
                                   uint64_t(i.operands[0].offset)));
    }
  }
}

bool modelc::ptx::decodeBulk(Instruction &i, ArrayRef<StringRef> modifiers) {
  bool isBox = has(modifiers, "tensor");
  bool toShared = has(modifiers, "mbarrier::complete_tx::bytes");
  i.kind = check::Kind::Wait;
  if (has(modifiers, "commit_group")) {
    i.handler = commit;
  } else if (has(modifiers, "wait_group")) {
    i.how = has(modifiers, "read");
    i.handler = waitGroup;
  } else if (has(modifiers, "prefetch") && !isBox) {
    i.kind = check::Kind::Other;
    i.handler = prefetchBulk;
  } else if (has(modifiers, "prefetch") || has(modifiers, "im2col") ||
             (has(modifiers, "multicast::cluster") && !(isBox && toShared))) {
    return false;
  } else {
    i.kind = check::Kind::Copy;
    i.how = has(modifiers, "multicast::cluster");
    i.handler = isBox ? (toShared ? loadBox : storeBox)
                      : (toShared ? loadBulk : nullptr);
  }
  return i.handler;
}
