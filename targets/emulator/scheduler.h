// Runs launches: which cluster starts next and which wave runs next is random,
// by the seed; when nothing can go on, reports a deadlock.
#ifndef TARGETS_EMULATOR_SCHEDULER_H
#define TARGETS_EMULATOR_SCHEDULER_H

#include "launch.h"

#include <tuple>

namespace emulator {

/// Blocks of one launch that are live at first; more start when all wait.
constexpr int kBlocksAtOnce = 2;

inline void beginLaunch(Launch &launch) {
  launch.started = true;
  const Shape &shape = launch.shape;
  const Dim3 &cluster = shape.cluster;
  if (shape.grid.x % cluster.x || shape.grid.y % cluster.y ||
      shape.grid.z % cluster.z || shape.block.count() == 0 ||
      shape.block.count() > 1024) {
    fail("kernel '%s': a block has 1 to 1024 threads, and a grid a whole "
         "number of clusters",
         shape.kernel.c_str());
  }
  for (unsigned i = 0; i < shape.grid.count() / cluster.count(); ++i) {
    launch.order.push_back(i);
  }
  for (size_t i = launch.order.size(); i > 1; --i) {
    std::swap(launch.order[i - 1], launch.order[nextRandom() % i]);
  }
}

inline int liveBlocks(const Launch &launch) {
  return int(launch.live.size() * launch.shape.cluster.count());
}

/// Starts what may start on a device: the next launch, its first blocks.
inline void feed(Device &device) {
  while (!device.queue.empty()) {
    Launch &launch = *device.queue.front();
    if (!launch.started) {
      beginLaunch(launch);
    }
    if (!endClusters(launch)) {
      while (!launch.order.empty() && liveBlocks(launch) < kBlocksAtOnce) {
        startCluster(launch);
      }
      return;
    }
    acquire(&launch.end);
    checkFollowed(launch);
    device.queue.pop_front();
  }
}

/// Starts one more cluster somewhere, because all live ones wait.
inline bool startAnother() {
  for (Device *device : state.devices) {
    if (device->queue.empty()) {
      continue;
    }
    Launch &launch = *device->queue.front();
    int next = liveBlocks(launch) + int(launch.shape.cluster.count());
    if (!launch.order.empty() && next <= device->residentBlocks) {
      startCluster(launch);
      return true;
    }
  }
  return false;
}

/// Calls `visit` on every live block of every device.
template <typename Visit>
void forEachBlock(Visit visit) {
  for (Device *device : state.devices) {
    if (device->queue.empty()) {
      continue;
    }
    for (auto &cluster : device->queue.front()->live) {
      for (auto &block : cluster->blocks) {
        visit(*block);
      }
    }
  }
}

/// Runs one deferred action of a random block; false when there is none.
inline bool runDeferred() {
  std::vector<Block *> blocks;
  forEachBlock([&](Block &block) {
    if (std::any_of(std::begin(block.deferred), std::end(block.deferred),
                    [](const auto &queue) { return !queue.empty(); })) {
      blocks.push_back(&block);
    }
  });
  if (blocks.empty()) {
    return false;
  }
  Block &block = *blocks[nextRandom() % blocks.size()];
  for (std::deque<Deferred> &queue : block.deferred) {
    if (!queue.empty()) {
      Deferred next = std::move(queue.front());
      queue.pop_front();
      next.run();
      break;
    }
  }
  return true;
}

/// Threads that poll are never idle: after a while, what would run if they
/// slept runs.
inline void helpPolling() {
  constexpr uint64_t kPatience = 256;
  if (state.rounds < state.helped) {
    state.helped = 0;
  }
  if (state.rounds - state.helped > kPatience) {
    state.helped = state.rounds;
    if (!runDeferred()) {
      startAnother();
    }
  }
}

/// Reports who waits for what.
[[noreturn]] inline void failDeadlock() {
  std::string report;
  forEachBlock([&](Block &block) {
    std::vector<std::pair<std::string, int>> waits; // what, how many
    std::vector<int> firsts;
    for (Thread *thread : block.threads) {
      if (thread->done) {
        continue;
      }
      auto known = std::find_if(waits.begin(), waits.end(), [&](auto &wait) {
        return wait.first == thread->waitsFor;
      });
      if (known == waits.end()) {
        waits.emplace_back(thread->waitsFor, 1);
        firsts.push_back(thread->id);
      } else {
        ++known->second;
      }
    }
    if (report.size() > 2000) {
      return;
    }
    for (size_t i = 0; i < waits.size(); ++i) {
      char line[300];
      std::snprintf(line, sizeof line,
                    "\n  kernel '%s', block (%u, %u, %u): thread %d and %d "
                    "others of %zu wait for %s",
                    block.launch->shape.kernel.c_str(), block.index.x,
                    block.index.y, block.index.z, firsts[i],
                    waits[i].second - 1, block.threads.size(),
                    waits[i].first.c_str());
      report += line;
    }
  });
  fail("deadlock: no thread can go on%s", report.c_str());
}

/// Runs the ready lanes of a wave until none is.
inline void runWave(Wave &wave) {
  int position = __builtin_ctzll(wave.ready);
  Thread &thread = *wave.block->threads[wave.first + wave.laneAt[position]];
  state.current = &thread;
  state.scheduler->switchTo(*thread.fiber);
  wave.queued = wave.ready != 0;
  if (wave.queued) { // it left to let others go first
    state.ready.push_back(&wave);
  }
}

/// Starts what may start on all devices; false when all work is done.
inline bool feedAll() {
  bool busy = false;
  state.blockEnded = false;
  for (Device *device : state.devices) {
    feed(*device);
    busy |= !device->queue.empty();
  }
  return busy;
}

/// Runs everything that was launched on all devices, side by side.
inline void synchronize() {
  if (state.current) {
    fail("synchronize from within a kernel");
  }
  if (!state.scheduler) {
    state.scheduler = std::make_unique<Fiber>();
  }
  Unseen unseen;
  state.blockEnded = true;
  while (true) {
    if (state.blockEnded && !feedAll()) {
      return;
    }
    if (state.ready.empty() && !runDeferred() && !startAnother()) {
      failDeadlock();
    }
    helpPolling();
    if (!state.ready.empty()) {
      std::swap(state.ready[nextRandom() % state.ready.size()],
                state.ready.back());
      Wave &wave = *state.ready.back();
      state.ready.pop_back();
      runWave(wave);
    }
  }
}

/// Appends a kernel whose threads run `body` to a device's queue.
inline void launchBody(Device &device, const Shape &shape,
                       std::function<void()> body) {
  auto launch = std::make_unique<Launch>();
  launch->shape = shape;
  launch->body = std::move(body);
  launch->device = &device;
  device.queue.push_back(std::move(launch));
  if (std::find(state.devices.begin(), state.devices.end(), &device) ==
      state.devices.end()) {
    state.devices.push_back(&device);
  }
}

/// Appends `kernel(arguments...)` to a device's queue; the arguments are
/// copied.
template <typename... Parameters, typename... Arguments>
void launch(Device &device, const Shape &shape, void (*kernel)(Parameters...),
            Arguments... arguments) {
  std::tuple<Parameters...> copied(arguments...);
  launchBody(device, shape, [=] { std::apply(kernel, copied); });
}

/// Launches, and runs until it has ended.
template <typename... Parameters, typename... Arguments>
void run(Device &device, const Shape &shape, void (*kernel)(Parameters...),
         Arguments... arguments) {
  launch(device, shape, kernel, arguments...);
  synchronize();
}

} // namespace emulator

#endif // TARGETS_EMULATOR_SCHEDULER_H
