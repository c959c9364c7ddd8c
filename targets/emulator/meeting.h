// How threads meet: operations of a whole wave, barriers, and waiting for
// memory to say something.
#ifndef TARGETS_EMULATOR_MEETING_H
#define TARGETS_EMULATOR_MEETING_H

#include "grid.h"

namespace emulator {

/// Who takes part in a collective operation.
enum class Scope { Wave, FourWaves };

/// The operands or results of all lanes that take part, by lane (for four
/// waves: by thread within the four).
template <typename T, typename Pointer>
class Lanes {
public:
  Lanes(Pointer const *pointers, int size) : pointers(pointers), count(size) {}
  T &operator[](int lane) const { return *static_cast<T *>(pointers[lane]); }
  int size() const { return count; }

private:
  Pointer const *pointers;
  int count;
};

inline void checkUniform(const Wave &wave);

inline Rendezvous &rendezvousOf(Scope scope, int &index, int &size) {
  Thread &thread = self();
  Wave &wave = *thread.wave;
  Block &block = *thread.block;
  if (scope == Scope::Wave) {
    index = thread.lane;
    size = wave.size;
    return wave.rendezvous;
  }
  int perGroup = 4 * block.waves[0].size;
  int group = thread.id / perGroup;
  index = thread.id % perGroup;
  size = perGroup;
  if ((group + 1) * perGroup > int(block.threads.size())) {
    fail("an operation of four waves in a group of fewer");
  }
  return block.groups[group];
}

/// One operation of a whole wave or of four: every lane brings `in`; the last
/// to come runs `compute(in, out)` once, with `in[lane]` and `out[lane]` of
/// all; each lane leaves with its own result. Lanes that meet in different
/// operations are an error. Orders no memory.
template <typename Out, typename In, typename Compute>
Out collective(Scope scope, const char *operation, const In &in,
               Compute compute) {
  Unseen unseen;
  int index, size;
  Rendezvous &meeting = rendezvousOf(scope, index, size);
  if (meeting.arrived == 0) {
    meeting.operation = operation;
    meeting.in.resize(size);
    meeting.out.resize(size);
  } else if (meeting.operation != operation &&
             std::strcmp(meeting.operation, operation) != 0) {
    fail("divergent lanes: this one is at '%s', %d others at '%s'", operation,
         meeting.arrived, meeting.operation);
  }
  Out out;
  meeting.in[index] = &in;
  meeting.out[index] = &out;
  if (++meeting.arrived < size) {
    sleep(operation);
    return out;
  }
  meeting.arrived = 0;
  compute(Lanes<const In, const void *>(meeting.in.data(), size),
          Lanes<Out, void *>(meeting.out.data(), size));
  state.rounds = 0;
  Block &block = *self().block;
  int first = scope == Scope::Wave ? self().wave->first : self().id - index;
  for (int i = 0; i < size; i += block.waves[0].size) {
    for (int lane = 0; lane < block.waves[0].size && i + lane < size; ++lane) {
      wake(*block.threads[first + i + lane]);
    }
  }
  if (nextRandom() % 8 == 0) {
    yield(); // now and then another wave goes first
  }
  return out;
}

/// The same for a wave.
template <typename Out, typename In, typename Compute>
Out collective(const char *operation, const In &in, Compute compute) {
  return collective<Out>(Scope::Wave, operation, in, compute);
}

/// Whether it holds in some lane of the wave: the same in all of them.
inline bool anyLane(bool holds) {
  return collective<bool>("anyLane", holds, [](auto in, auto out) {
    bool any = false;
    for (int i = 0; i < in.size(); ++i) {
      any |= in[i];
    }
    for (int i = 0; i < in.size(); ++i) {
      out[i] = any;
    }
  });
}

/// Waits until `expected` threads have come. What each did before is visible to
/// all after.
inline void meet(Barrier &barrier, int expected, const char *what) {
  if (barrier.arrived > 0 && barrier.expected != expected) {
    fail("%s: this thread expects %d threads, others %d", what, expected,
         barrier.expected);
  }
  barrier.expected = expected;
  const char *order = &barrier.order[barrier.phase & 1];
  release(order);
  Unseen unseen;
  if (++barrier.arrived < expected) {
    barrier.waiting.push_back(&self());
    sleep(what);
  } else {
    barrier.arrived = 0;
    ++barrier.phase;
    state.rounds = 0;
    for (Thread *thread : barrier.waiting) {
      wake(*thread);
    }
    barrier.waiting.clear();
  }
  acquire(order);
}

/// Barrier of all threads of the block.
inline void syncBlock() {
  Block &block = *self().block;
  int threads = int(block.threads.size());
  if (block.barriers[0].arrived + 1 == threads) {
    for (const Wave &wave : block.waves) {
      checkUniform(wave);
    }
  }
  meet(block.barriers[0], threads, "the block's barrier");
}

/// Barrier `id` (0 to 15) of `threads` threads of the block.
inline void syncNamed(int id, int threads) {
  if (id < 0 || id >= Block::kBarriers || threads <= 0) {
    fail("no barrier %d of %d threads", id, threads);
  }
  meet(self().block->barriers[id], threads, "a named barrier");
}

/// Comes to barrier `id` of `threads` threads without waiting.
inline void arriveNamed(int id, int threads) {
  Barrier &barrier = self().block->barriers[id];
  if (barrier.arrived + 1 == threads) {
    meet(barrier, threads, "a named barrier");
    return;
  }
  barrier.expected = threads;
  ++barrier.arrived;
  release(&barrier.order[barrier.phase & 1]);
}

/// Barrier of all threads of the cluster.
inline void syncCluster() {
  Cluster &cluster = *self().block->cluster;
  meet(cluster.barrier,
       int(cluster.blocks.size() * self().block->threads.size()),
       "the cluster's barrier");
}

/// Barrier of the lanes of the wave.
inline void syncWave() {
  Wave &wave = *self().wave;
  const char *order = &wave.order[wave.phase & 1];
  release(order);
  collective<char>("syncWave", char(0), [&](auto, auto) { ++wave.phase; });
  acquire(order);
}

/// Wakes all that wait on `channel`: call it after every change of the memory
/// that a `waitUntil` looks at.
inline void notify(const void *channel) {
  Unseen unseen;
  state.rounds = 0;
  auto waiters = state.channels.find(channel);
  if (waiters == state.channels.end()) {
    return;
  }
  std::vector<Thread *> threads = std::move(waiters->second);
  state.channels.erase(waiters);
  for (Thread *thread : threads) {
    wake(*thread);
  }
}

/// Waits until `condition()` holds; it is asked again after each
/// `notify(channel)`. Orders no memory: use `acquire` after it.
template <typename Condition>
void waitUntil(const void *channel, const char *what, Condition condition) {
  while (!condition()) {
    Unseen unseen;
    state.channels[channel].push_back(&self());
    sleep(what);
  }
}

/// Waits for the kernels before this one on the device. They have ended here,
/// but only now may the thread touch what they touch.
inline void followEarlier() {
  self().followed = true;
  self().block->launch->followed = true;
}
/// To be called before each access of global memory.
inline void requireFollowed() {
  if (!self().followed) {
    fail("this thread uses global memory before it has waited for earlier "
         "kernels, which may still write there");
  }
}

/// A fence between blocks, for the race detector: what came before it is
/// ordered by this thread's later relaxed atomics; what comes after, by the
/// last one.
inline void fence() {
  Thread &thread = self();
  thread.fenced = true;
  if (thread.lastAtomic) {
    acquire(thread.lastAtomic);
  }
}
/// To be called before each relaxed atomic operation.
inline void noteAtomic(const void *address) {
  Thread &thread = self();
  if (thread.fenced) {
    release(address);
  }
  thread.lastAtomic = address;
}

/// For loops in a kernel that poll memory: lets others run; fails when nothing
/// but polling has happened for long.
inline void poll() {
  constexpr uint64_t kManyRounds = 10'000'000;
  if (++state.rounds > kManyRounds) {
    fail("livelock: threads poll memory and nothing else happens");
  }
  yield();
}

/// Says that `value` must be the same in all lanes of the wave; compared, with
/// all others said so far, at the next barrier of the block and at the end.
inline void noteUniform(uint64_t value) {
  Thread &thread = self();
  ++thread.uniformCount;
  thread.uniformHash = (thread.uniformHash ^ value) * 0x9E3779B97F4A7C15ull;
}

/// Lanes that said as many uniform values must have said the same.
inline void checkUniform(const Wave &wave) {
  const Thread *one = nullptr;
  for (int lane = 0; lane < wave.size; ++lane) {
    const Thread &thread = *wave.block->threads[wave.first + lane];
    if (!one) {
      one = &thread;
    } else if (one->uniformCount == thread.uniformCount &&
               one->uniformHash != thread.uniformHash) {
      fail("a value that must be the same in all lanes of a wave (the shared "
           "address of a copy, a uniform value) differs between lanes %d and "
           "%d",
           one->lane, thread.lane);
    }
  }
}

} // namespace emulator

#endif // TARGETS_EMULATOR_MEETING_H
