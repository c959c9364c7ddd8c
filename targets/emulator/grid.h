// What lives while a kernel runs on the emulator: threads, waves, blocks,
// clusters, launches and devices, and the scheduler's wake and wait.
#ifndef TARGETS_EMULATOR_GRID_H
#define TARGETS_EMULATOR_GRID_H

#include "fiber.h"

#include <cstdarg>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace emulator {

struct Block;
struct Wave;

/// Sizes or an index in up to three dimensions.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  unsigned count() const { return x * y * z; }
};

/// How the emulator behaves; read once from the environment, then free to set.
struct Options {
  /// EMULATOR_SEED: chooses the order in which waves and blocks run.
  uint64_t seed = 1;
  /// EMULATOR_COPIES=lazy|eager: an asynchronous copy lands only when it is
  /// waited for (its destination is poison until then), or at once.
  bool lazy = true;
  /// EMULATOR_STACK_KIB: stack of one thread.
  size_t stackBytes = 256 << 10;
};

/// One copy in flight of one thread. Zero bytes: an operation that counts but
/// moves nothing (a load into registers). No source: the bytes become zero.
struct Copy {
  void *to = nullptr;
  const void *from = nullptr;
  uint32_t bytes = 0;
  uint32_t group = 0;
};

/// The copies of one thread, oldest first.
struct CopyQueue {
  std::vector<Copy> copies;
  size_t head = 0;
  uint32_t group = 0; // of the copies not yet committed
  size_t size() const { return copies.size() - head; }
};

/// One GPU thread.
struct Thread {
  std::unique_ptr<Fiber> fiber;
  Block *block = nullptr;
  Wave *wave = nullptr;
  int id = 0;       // within the block, x fastest
  int lane = 0;     // within the wave
  int position = 0; // its turn within the wave
  bool done = true;
  const char *waitsFor = ""; // in words, for the report of a deadlock
  CopyQueue copies;
  uint32_t uniformCount = 0; // values that all lanes must agree on
  uint64_t uniformHash = 0;
  bool fenced = false;              // it has ordered its memory for others
  const void *lastAtomic = nullptr; // that a fence may order later accesses by
  bool followed = true; // it has waited for earlier kernels, or need not
};

/// Where the lanes of a wave, or of a group of waves, meet for one operation.
struct Rendezvous {
  const char *operation = nullptr;
  int arrived = 0;
  std::vector<const void *> in; // one a lane: its operands, on its own stack
  std::vector<void *> out;      // one a lane: its result
};

/// Lanes that run together: 32 or 64 threads.
struct Wave {
  Block *block = nullptr;
  int first = 0; // thread of lane 0
  int size = 0;
  uint64_t ready = 0;          // one bit a position: may run
  bool queued = false;         // in the scheduler's list, or running
  std::vector<uint8_t> laneAt; // position -> lane, a random order
  Rendezvous rendezvous;
  unsigned phase = 0; // of its barriers
  char order[2] = {};
};

/// A barrier of counted threads; reused phase after phase.
struct Barrier {
  int arrived = 0, expected = 0;
  unsigned phase = 0;
  char order[2] = {}; // addresses for the race detector, one a parity
  std::vector<Thread *> waiting;
};

/// Named memory of a block.
struct SharedObject {
  const void *key;
  size_t offset, bytes;
};

/// What a block did with one ring of places in its shared memory.
struct RingUse {
  std::vector<const char *> places = {}; // one a slot
  int fills = 0, trips = 0;
};

/// A queued asynchronous action of a block (a bulk copy, a matrix operation).
struct Deferred {
  std::string what;
  std::function<void()> run;
};

struct Cluster;
struct Launch;

/// Threads that share memory and barriers.
struct Block {
  static constexpr int kBarriers = 16, kQueues = 4;
  Launch *launch = nullptr;
  Cluster *cluster = nullptr;
  Dim3 index{0, 0, 0};
  int rank = 0; // within its cluster
  int alive = 0;
  std::vector<Thread *> threads;
  std::vector<Wave> waves;
  std::vector<Rendezvous> groups; // of four waves
  Barrier barriers[kBarriers];
  std::deque<Deferred> deferred[kQueues];
  char *arena = nullptr; // shared memory
  size_t arenaBytes = 0, arenaUsed = 0, sharedBytes = 0;
  std::vector<SharedObject> objects;
  std::vector<RingUse> rings;
  std::shared_ptr<void> extension; // what a target adds (tensor memory)
};

/// Blocks that start together and reach each other's shared memory.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  Barrier barrier;
  int alive = 0; // blocks
};

/// The shape of a launch.
struct Shape {
  std::string kernel; // its name, for messages
  Dim3 grid = {}, block = {};
  Dim3 cluster = {};      // in blocks
  size_t sharedBytes = 0; // dynamic
  /// Programmatic dependent launch: its blocks may start before earlier kernels
  /// of the device have ended, and wait for them (waitPreviousKernel).
  bool startsEarly = false;
  int sums = 1; // that a block makes, one after the other, of its many
};

struct Device;

/// One kernel in a device's queue.
struct Launch {
  Shape shape;
  std::function<void()> body; // what each thread runs
  Device *device = nullptr;
  std::vector<unsigned> order; // clusters still to start, last first
  bool started = false;
  bool followed = false; // a thread has waited for earlier kernels
  std::vector<std::unique_ptr<Cluster>> live;
  char begin = 0, end = 0; // addresses for the race detector
};

/// A GPU: kernels run in the order of their launch.
struct Device {
  int waveSize = 64;
  size_t sharedBytes = 160 << 10; // that one block may have
  int residentBlocks = 256;       // that can be live at the same time
  std::deque<std::unique_ptr<Launch>> queue = {};
};

/// All of the emulator's state; there is one.
struct State {
  Options options;
  uint64_t random = 0;
  Thread *current = nullptr;
  std::unique_ptr<Fiber> scheduler = nullptr;
  std::vector<Wave *> ready = {};
  std::vector<std::unique_ptr<Thread>> idle = {}; // ended, to be reused
  std::unordered_map<const void *, std::vector<Thread *>> channels = {};
  std::vector<Device *> devices = {};
  uint64_t rounds = 0; // of polling since something else last happened
  uint64_t helped = 0; // the round in which polling threads last got help
  bool blockEnded = false;
  /// By kernel, offset in shared memory and slots.
  std::map<std::tuple<std::string, ptrdiff_t, int>, RingUse> rings = {};
};

inline Options readOptions() {
  Options options;
  if (const char *seed = std::getenv("EMULATOR_SEED")) {
    options.seed = std::strtoull(seed, nullptr, 10);
  }
  if (const char *copies = std::getenv("EMULATOR_COPIES")) {
    options.lazy = std::strcmp(copies, "eager") != 0;
  }
  if (const char *kib = std::getenv("EMULATOR_STACK_KIB")) {
    options.stackBytes = std::strtoull(kib, nullptr, 10) << 10;
  }
  return options;
}

inline State state{.options = readOptions()};

/// The running GPU thread.
inline Thread &self() { return *state.current; }

/// Reports an error of the kernel with the place it happened at; ends the
/// process with code 3.
[[noreturn, gnu::format(printf, 1, 2)]] inline void fail(const char *format,
                                                         ...) {
  std::fflush(stdout);
  std::fprintf(stderr, "emulator: ");
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (Thread *thread = state.current) {
    const Block &block = *thread->block;
    std::fprintf(stderr,
                 "\n  in kernel '%s', block (%u, %u, %u), thread %d (wave %d, "
                 "lane %d)",
                 block.launch->shape.kernel.c_str(), block.index.x,
                 block.index.y, block.index.z, thread->id,
                 int(thread->wave - block.waves.data()), thread->lane);
  }
  std::fprintf(stderr, "\n");
  std::fflush(stderr);
  std::_Exit(3);
}

/// The next number of the seeded sequence that orders everything.
inline uint64_t nextRandom() {
  uint64_t &x = state.random;
  if (x == 0) {
    x = state.options.seed * 0x9E3779B97F4A7C15ull + 1;
  }
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x * 0x2545F4914F6CDD1Dull >> 11;
}

/// Lets a thread run again.
inline void wake(Thread &thread) {
  Wave &wave = *thread.wave;
  wave.ready |= uint64_t(1) << thread.position;
  if (!wave.queued) {
    Unseen unseen;
    wave.queued = true;
    state.ready.push_back(&wave);
  }
}

/// Leaves the running thread; it goes on when it is ready and chosen.
inline void leave(bool toScheduler) {
  Thread &thread = self();
  Wave &wave = *thread.wave;
  uint64_t others = wave.ready;
  if (toScheduler || others == 0) {
    state.current = nullptr;
    thread.fiber->switchTo(*state.scheduler);
    return;
  }
  uint64_t later = others & (~uint64_t(0) << thread.position);
  int position = __builtin_ctzll(later ? later : others);
  Thread &next = *wave.block->threads[wave.first + wave.laneAt[position]];
  state.current = &next;
  thread.fiber->switchTo(*next.fiber);
}

/// Puts the running thread to sleep until someone wakes it.
inline void sleep(const char *what) {
  Thread &thread = self();
  thread.waitsFor = what;
  thread.wave->ready &= ~(uint64_t(1) << thread.position);
  leave(/*toScheduler=*/false);
}

/// Lets every other wave run first.
inline void yield() { leave(/*toScheduler=*/true); }

} // namespace emulator

#endif // TARGETS_EMULATOR_GRID_H
