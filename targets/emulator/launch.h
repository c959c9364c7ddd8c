// Starts and ends the threads, blocks and clusters of a launch.
#ifndef TARGETS_EMULATOR_LAUNCH_H
#define TARGETS_EMULATOR_LAUNCH_H

#include "asynchronous.h"
#include "memory.h"
#include "rings.h"

#include <algorithm>

namespace emulator {

/// What a fiber does, again and again: one GPU thread after another.
inline void runThreads() {
  self().fiber->arrived();
  while (true) {
    Launch &launch = *self().block->launch;
    acquire(self().block);
    launch.body();
    Thread &thread = self();
    release(&launch.end);
    Unseen unseen;
    if (thread.copies.size() > 0) {
      CopyQueue &queue = thread.copies;
      if (std::any_of(queue.copies.begin() + queue.head, queue.copies.end(),
                      [](const Copy &copy) { return copy.to != nullptr; })) {
        fail("%zu asynchronous copies are still in flight at the end of the "
             "thread",
             queue.size());
      }
    }
    thread.done = true;
    thread.wave->ready &= ~(uint64_t(1) << thread.position);
    state.blockEnded |= --thread.block->alive == 0;
    state.rounds = 0;
    leave(/*toScheduler=*/false);
  }
}

inline Thread *takeThread() {
  std::unique_ptr<Thread> thread;
  if (state.idle.empty()) {
    thread = std::make_unique<Thread>();
    thread->fiber =
        std::make_unique<Fiber>(runThreads, state.options.stackBytes);
  } else {
    thread = std::move(state.idle.back());
    state.idle.pop_back();
  }
  thread->done = false;
  thread->waitsFor = "";
  thread->copies = {};
  thread->uniformCount = 0;
  thread->uniformHash = 0;
  thread->fenced = false;
  thread->lastAtomic = nullptr;
  thread->followed = true;
  return thread.release();
}

inline void startWave(Block &block, int index, int first, int size) {
  Wave &wave = block.waves[index];
  wave.block = &block;
  wave.first = first;
  wave.size = size;
  wave.laneAt.resize(size);
  for (int i = 0; i < size; ++i) {
    wave.laneAt[i] = uint8_t(i);
  }
  for (int i = size - 1; i > 0; --i) {
    std::swap(wave.laneAt[i], wave.laneAt[nextRandom() % (i + 1)]);
  }
  for (int position = 0; position < size; ++position) {
    Thread &thread = *block.threads[first + wave.laneAt[position]];
    thread.wave = &wave;
    thread.lane = wave.laneAt[position];
    thread.position = position;
    wake(thread);
  }
}

inline std::unique_ptr<Block> startBlock(Launch &launch, Cluster &cluster,
                                         Dim3 index, int rank) {
  auto block = std::make_unique<Block>();
  block->launch = &launch;
  block->cluster = &cluster;
  block->index = index;
  block->rank = rank;
  makeArena(*block);
  if (launch.shape.sharedBytes) {
    takeShared(*block, nullptr, launch.shape.sharedBytes);
  }
  int threads = int(launch.shape.block.count());
  int waveSize = launch.device->waveSize;
  block->alive = threads;
  block->waves.resize((threads + waveSize - 1) / waveSize);
  block->groups.resize((block->waves.size() + 3) / 4);
  for (int i = 0; i < threads; ++i) {
    Thread *thread = takeThread();
    thread->block = block.get();
    thread->id = i;
    thread->followed = !launch.shape.startsEarly;
    block->threads.push_back(thread);
  }
  release(block.get());
  for (int i = 0; i < int(block->waves.size()); ++i) {
    startWave(*block, i, i * waveSize,
              std::min(waveSize, threads - i * waveSize));
  }
  return block;
}

/// Starts the next cluster of a launch.
inline void startCluster(Launch &launch) {
  const Dim3 &size = launch.shape.cluster;
  Dim3 clusters{launch.shape.grid.x / size.x, launch.shape.grid.y / size.y,
                launch.shape.grid.z / size.z};
  unsigned next = launch.order.back();
  launch.order.pop_back();
  Dim3 origin{next % clusters.x * size.x,
              next / clusters.x % clusters.y * size.y,
              next / (clusters.x * clusters.y) * size.z};
  auto cluster = std::make_unique<Cluster>();
  cluster->alive = int(size.count());
  for (unsigned rank = 0; rank < size.count(); ++rank) {
    Dim3 index{origin.x + rank % size.x, origin.y + rank / size.x % size.y,
               origin.z + rank / (size.x * size.y)};
    cluster->blocks.push_back(startBlock(launch, *cluster, index, int(rank)));
  }
  launch.live.push_back(std::move(cluster));
}

/// Frees a cluster all of whose threads have ended.
inline void endCluster(Cluster &cluster) {
  for (std::unique_ptr<Block> &block : cluster.blocks) {
    for (const std::deque<Deferred> &queue : block->deferred) {
      if (!queue.empty()) {
        fail("kernel '%s', block (%u, %u, %u) ends with work in flight: %s",
             block->launch->shape.kernel.c_str(), block->index.x,
             block->index.y, block->index.z, queue.front().what.c_str());
      }
    }
    for (const Wave &wave : block->waves) {
      checkUniform(wave);
    }
    keepRings(*block);
    endArena(*block);
    for (Thread *thread : block->threads) {
      state.idle.emplace_back(thread);
    }
  }
}

/// A kernel that starts early and waits for nobody may end before the ones
/// before it, of which the next one then knows nothing.
inline void checkFollowed(const Launch &launch) {
  if (launch.shape.startsEarly && !launch.followed) {
    fail("kernel '%s' is launched to start early and never waits for earlier "
         "kernels, which may still write what it reads",
         launch.shape.kernel.c_str());
  }
}

/// Frees what has ended in a launch; true when all of it has.
inline bool endClusters(Launch &launch) {
  std::erase_if(launch.live, [](std::unique_ptr<Cluster> &cluster) {
    bool ended = std::all_of(
        cluster->blocks.begin(), cluster->blocks.end(),
        [](const std::unique_ptr<Block> &block) { return block->alive == 0; });
    if (ended) {
      endCluster(*cluster);
    }
    return ended;
  });
  return launch.live.empty() && launch.order.empty();
}

} // namespace emulator

#endif // TARGETS_EMULATOR_LAUNCH_H
