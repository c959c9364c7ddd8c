// Barriers in shared memory and asynchronous copies: boxes of tensor maps, bulk
// copies, 16-byte copies. See targets/nvidia/copy.cuh for the names.
#ifndef TARGETS_EMULATOR_NVIDIACOPY_H
#define TARGETS_EMULATOR_NVIDIACOPY_H

#include "nvidiaMap.h"
#include "nvidiaState.h"

namespace emulator::nvidia {

using modelc::Barrier;
using modelc::TensorMap;

/// What the word of a barrier says. The hardware's own format is secret; all
/// that counts is that overwriting it is noticed.
struct BarrierWord {
  static constexpr uint64_t kMagic = 0x5BA2;
  static constexpr int64_t kMaxBytes = (1 << 20) - 1;
  uint64_t arrivals : 12 = 0; // of each phase
  uint64_t pending : 12 = 0;  // of this phase
  int64_t bytes : 22 = 0;     // expected and not yet copied
  uint64_t phase : 1 = 0;
  uint64_t ofMatrix : 1 = 0; // a matrix operation has arrived here
  uint64_t magic : 16 = kMagic;
};
static_assert(sizeof(BarrierWord) == 8);

inline BarrierWord read(const Barrier &barrier) {
  auto word = std::bit_cast<BarrierWord>(barrier.word);
  if (word.magic != BarrierWord::kMagic) {
    fail("a barrier is used that was not initialised, or was overwritten");
  }
  return word;
}

/// Ends the phase if all has come; wakes those who wait.
inline void settle(Barrier &barrier, BarrierWord word) {
  if (word.pending == 0 && word.bytes < 0) {
    fail("a barrier got all arrivals and %d bytes more than it expects",
         int(-word.bytes));
  }
  if (word.pending == 0 && word.bytes == 0) {
    word.pending = word.arrivals;
    word.phase ^= 1;
  }
  barrier.word = std::bit_cast<uint64_t>(word);
  notify(&barrier);
}

/// `bytes` more (or, negative, fewer) are to be copied in this phase.
inline void addBytes(BarrierWord &word, int64_t bytes) {
  int64_t sum = word.bytes + bytes;
  if (sum > BarrierWord::kMaxBytes || sum < -BarrierWord::kMaxBytes) {
    fail("a barrier expects %lld bytes, more than it can count",
         static_cast<long long>(sum));
  }
  word.bytes = sum;
}

/// One arrival that first expects `bytes` bytes.
inline void arriveAt(Barrier &barrier, int64_t bytes, bool ofMatrix = false) {
  Unseen unseen;
  BarrierWord word = read(barrier);
  if (word.pending == 0) {
    fail("a barrier got more arrivals in a phase than its count, %d",
         int(word.arrivals));
  }
  addBytes(word, bytes);
  --word.pending;
  word.ofMatrix |= ofMatrix;
  settle(barrier, word);
}

/// The barrier at the same address of a block of the cluster.
inline Barrier &barrierOf(Barrier &barrier, int rank) {
  char *there = sharedAddress(rank, sharedOffset(&barrier));
  return *reinterpret_cast<Barrier *>(there);
}

/// A copy has brought `bytes` bytes.
inline void completeBytes(Barrier &barrier, int64_t bytes) {
  Unseen unseen;
  BarrierWord word = read(barrier);
  addBytes(word, -bytes);
  settle(barrier, word);
}

/// Copies a box between shared and global memory, as `map` says.
inline void copyBox(Block &block, const Box &box, uint32_t address,
                    bool toShared) {
  std::vector<char> row(box.rowBytes());
  box.forEachRow(
      [&](uint32_t offset, char *global, uint32_t first, uint32_t last) {
        if (toShared) {
          std::memset(row.data(), 0, row.size());
          if (first < last) {
            noteRead(global + first, last - first);
            std::memcpy(row.data() + first, global + first, last - first);
          }
        }
        for (uint32_t at = 0; at < row.size(); at += 16) {
          uint32_t unit = swizzled(address + offset + at, box.map.swizzle);
          char *shared = sharedBytes(block, unit, 16);
          if (toShared) {
            noteWrite(shared, 16);
            std::memcpy(shared, row.data() + at, 16);
          } else {
            noteRead(shared, 16);
            std::memcpy(row.data() + at, shared, 16);
          }
        }
        if (!toShared && first < last) {
          noteWrite(global + first, last - first);
          std::memcpy(global + first, row.data() + first, last - first);
        }
      });
}

inline uint32_t boxAddress(const void *shared) {
  uint32_t address = sharedOffset(shared);
  if (address % 128 != 0) {
    fail("the shared address %u of a box is not a multiple of 128", address);
  }
  return address;
}

/// Into the shared memory of `block`, at the address that `shared` has here.
inline void loadBoxInto(Block &block, void *shared, const TensorMap &map,
                        int rank, std::array<int, 3> at, Barrier &full) {
  requireFollowed();
  Box box(map, rank, at);
  uint32_t address = boxAddress(shared);
  char *to = sharedBytes(block, address, box.bytes());
  box.forEachRow(
      [&](uint32_t offset, char *from, uint32_t first, uint32_t last) {
        if (offset == 0) {
          noteFill(block, to, from + first, last - first);
        }
      });
  if (state.options.lazy) {
    noteWrite(shared, box.bytes());
    std::memset(to, 0xFF, box.bytes());
  }
  later(state.options.lazy, kCopyQueue, "a box on its way to shared memory",
        [&block, box, address, &full] {
          copyBox(block, box, address, /*toShared=*/true);
          release(&full);
          completeBytes(full, box.bytes());
        });
}

inline void loadBox(void *shared, const TensorMap &map, int rank,
                    std::array<int, 3> at, Barrier &full) {
  loadBoxInto(*self().block, shared, map, rank, at, full);
}

inline void storeBox(const TensorMap &map, const void *shared, int rank,
                     std::array<int, 3> at) {
  requireFollowed();
  Block &block = *self().block;
  auto run = [&block, box = Box(map, rank, at), address = boxAddress(shared)] {
    copyBox(block, box, address, /*toShared=*/false);
  };
  if (!state.options.lazy) {
    run();
  }
  Unseen unseen;
  ThreadState &thread = threadState();
  thread.stores.push_back(
      {thread.storeGroup, state.options.lazy ? std::function<void()>(run)
                                             : std::function<void()>([] {})});
}

inline void waitBoxStores(uint32_t pending) {
  ThreadState &thread = threadState();
  while (!thread.stores.empty() &&
         thread.stores.front().group + pending < thread.storeGroup) {
    thread.stores.front().run();
    Unseen unseen;
    thread.stores.pop_front();
  }
}

} // namespace emulator::nvidia

namespace modelc {

DEV void initBarrier(Barrier &barrier, int arrivals) {
  if (emulator::sharedOffset(&barrier) % 8 != 0 || arrivals < 1 ||
      arrivals > 1024) {
    emulator::fail("expected a barrier at a multiple of 8 bytes with 1 to 1024 "
                   "arrivals, got %d arrivals",
                   arrivals);
  }
  emulator::nvidia::BarrierWord word;
  word.arrivals = word.pending = uint64_t(arrivals);
  barrier.word = std::bit_cast<uint64_t>(word);
}
DEV void fenceBarrierInit() {}
DEV void arrive(Barrier &barrier) {
  emulator::release(&barrier);
  emulator::nvidia::arriveAt(barrier, 0);
}
DEV void arriveExpect(Barrier &barrier, int bytes) {
  emulator::release(&barrier);
  emulator::nvidia::arriveAt(barrier, bytes);
}
DEV void waitParity(Barrier &barrier, uint32_t parity) {
  using emulator::nvidia::read;
  emulator::sharedOffset(&barrier);
  if (parity > 1) {
    emulator::fail("expected parity 0 or 1, got %u", parity);
  }
  emulator::waitUntil(&barrier, "a barrier in shared memory",
                      [&] { return read(barrier).phase != parity; });
  emulator::nvidia::threadState().tensorFenceDue |= read(barrier).ofMatrix;
  emulator::acquire(&barrier);
}
DEV void arriveExpectAtRank(Barrier &barrier, int rank, int bytes) {
  Barrier &there = emulator::nvidia::barrierOf(barrier, rank);
  emulator::release(&there);
  emulator::nvidia::arriveAt(there, bytes);
}
DEV void arriveAtRank(Barrier &barrier, int rank) {
  arriveExpectAtRank(barrier, rank, 0);
}
DEV void fenceAsyncShared() {}
DEV void prefetchMap(const TensorMap &map) {
  emulator::nvidia::MapFields::of(map);
}

DEV void prefetchToL2(const void *from, int bytes) {
  if (uintptr_t(from) % 16 || bytes % 16) {
    emulator::fail("expected a prefetch of whole 16 bytes, got %d at %p", bytes,
                   from);
  }
}

DEV void loadBox(void *shared, const TensorMap &map, int x, int y,
                 Barrier &full) {
  emulator::nvidia::loadBox(shared, map, 2, {x, y, 0}, full);
}
DEV void loadBox(void *shared, const TensorMap &map, int x, int y, int z,
                 Barrier &full) {
  emulator::nvidia::loadBox(shared, map, 3, {x, y, z}, full);
}
DEV void loadBoxOfPair(void *shared, const TensorMap &map, int x, int y,
                       Barrier &full, int rank) {
  emulator::nvidia::loadBox(shared, map, 2, {x, y, 0},
                            emulator::nvidia::barrierOf(full, rank));
}
DEV void loadBoxOfPair(void *shared, const TensorMap &map, int x, int y, int z,
                       Barrier &full, int rank) {
  emulator::nvidia::loadBox(shared, map, 3, {x, y, z},
                            emulator::nvidia::barrierOf(full, rank));
}
DEV void loadBoxToRanks(void *shared, const TensorMap &map, int x, int y,
                        Barrier &full, int ranks) {
  using namespace emulator;
  using namespace emulator::nvidia;
  for (int rank = 0; ranks >> rank; ++rank) {
    if (ranks >> rank & 1) {
      Block &block = *self().block->cluster->blocks.at(size_t(rank));
      loadBoxInto(block, shared, map, 2, {x, y, 0}, barrierOf(full, rank));
    }
  }
}
DEV void loadBulk(void *shared, const void *global, int bytes, Barrier &full) {
  emulator::requireFollowed();
  uint32_t address = emulator::sharedOffset(shared);
  if (bytes % 16 || address % 16 || uintptr_t(global) % 16) {
    emulator::fail("a bulk copy of %d bytes to %u: expected multiples of 16",
                   bytes, address);
  }
  emulator::noteFill(*emulator::self().block, static_cast<char *>(shared),
                     static_cast<const char *>(global), size_t(bytes));
  const bool lazy = emulator::state.options.lazy;
  if (lazy) {
    emulator::noteWrite(shared, size_t(bytes));
    std::memset(shared, 0xFF, size_t(bytes));
  }
  emulator::nvidia::later(lazy, emulator::nvidia::kCopyQueue,
                          "a bulk copy to shared memory", [=, &full] {
                            emulator::copyNow(
                                {shared, global, uint32_t(bytes), 0});
                            emulator::release(&full);
                            emulator::nvidia::completeBytes(full, bytes);
                          });
}
DEV void storeBox(const TensorMap &map, const void *shared, int x, int y) {
  emulator::nvidia::storeBox(map, shared, 2, {x, y, 0});
}
DEV void storeBox(const TensorMap &map, const void *shared, int x, int y,
                  int z) {
  emulator::nvidia::storeBox(map, shared, 3, {x, y, z});
}
DEV void commitStores() { ++emulator::nvidia::threadState().storeGroup; }
template <int Pending>
DEV void waitStoresRead() {
  emulator::nvidia::waitBoxStores(Pending);
}
template <int Pending>
DEV void waitStores() {
  emulator::nvidia::waitBoxStores(Pending);
}

DEV void copyAsync16(void *shared, const void *global, bool valid = true) {
  if (emulator::sharedOffset(shared) % 16 ||
      (valid && uintptr_t(global) % 16)) {
    emulator::fail("a copy of 16 bytes: expected multiples of 16");
  }
  if (valid) {
    emulator::requireFollowed();
  }
  emulator::startCopy(shared, valid ? global : nullptr, 16);
}
DEV void commitCopies() { emulator::commitCopies(); }
template <int Pending>
DEV void waitCopies() {
  emulator::waitCopyGroups(Pending);
}
DEV void arriveAfterCopies(Barrier &barrier) {
  emulator::Thread &thread = emulator::self();
  emulator::nvidia::later(
      emulator::state.options.lazy, emulator::nvidia::kCopyQueue,
      "16-byte copies that arrive at a barrier", [&thread, &barrier] {
        while (thread.copies.size() > 0) {
          emulator::finishOldestCopy(thread.copies);
        }
        emulator::release(&barrier);
        emulator::nvidia::arriveAt(barrier, 0);
      });
}

} // namespace modelc

#endif // TARGETS_EMULATOR_NVIDIACOPY_H
