//===- Run.cpp - The order in which waves run -----------------------------===//
//
// A wave runs until it has to wait for others. The order is of no consequence
// for what is found (see Shared.h) unless waves talk through global memory: so
// workgroups run one after the other, but when all that have started sleep, the
// next one starts.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Machine/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace modelc::check;

/// What nobody has written is a NaN.
constexpr uint32_t kUnwritten = ~0u;

void Wave::fail(const llvm::Twine &message) {
  KernelRun &launch = *group->launch;
  if (!launch.fault.empty()) {
    return;
  }
  launch.fault =
      ("'" + llvm::Twine(current->text) + "' at 0x" +
       llvm::Twine::utohexstr(current->address) + " in kernel \"" +
       launch.kernel->name + "\", workgroup (" + llvm::Twine(group->index[0]) +
       ", " + llvm::Twine(group->index[1]) + ", " +
       llvm::Twine(group->index[2]) + "), wave " + llvm::Twine(number) + ": " +
       message)
          .str();
}

/// Scalar registers as the descriptor of the kernel orders them.
static void setUpScalars(Wave &wave) {
  const KernelRun &launch = *wave.group->launch;
  const Kernel &kernel = *launch.kernel;
  unsigned at = 0;
  auto put = [&](unsigned bit, unsigned words, uint64_t value) {
    if (kernel.properties >> bit & 1) {
      wave.scalar[at] = uint32_t(value);
      wave.scalar[at + 1] = uint32_t(value >> 32);
      at += words;
    }
  };
  put(0, 4, 0); // descriptor of private memory
  put(1, 2, launch.dispatchAddress);
  put(2, 2, 0); // queue
  put(3, 2, launch.kernargAddress);
  put(4, 2, 0); // number of the dispatch
  put(5, 2, 0); // flat scratch
  put(6, 1, kernel.scratchBytes);
  unsigned preloaded = kernel.preload & 0x7F, from = kernel.preload >> 7;
  const Region *arguments = launch.memory.at(launch.kernargAddress);
  for (unsigned word = 0; arguments && word < preloaded; ++word) {
    std::memcpy(&wave.scalar[at + word], &arguments->bytes[4 * (from + word)],
                4);
  }
  at = kernel.setupWord2 >> 1 & 0x1F;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (kernel.setupWord2 >> (7 + axis) & 1) {
      wave.scalar[at++] = wave.group->index[axis];
    }
  }
  // Halves of the address space where flat accesses find other memories.
  wave.scalar[kSharedBase + 1] = 0x10000;
  wave.scalar[kPrivateBase + 1] = 0x20000;
  wave.scalar[kScalarZero] = wave.scalar[kScalarZero + 1] = 0;
}

static void setUpWave(Wave &wave, Group &group, unsigned number) {
  const KernelRun &launch = *group.launch;
  wave.group = &group;
  wave.number = number;
  wave.scalar.fill(kUnwritten);
  // One register more: wide reads of the last one may look behind it.
  wave.vector.assign((kVectorRegisters + 1) * kLanes, kUnwritten);
  wave.scratch.assign(size_t(launch.kernel->scratchBytes) * kLanes, 0xFF);
  setUpScalars(wave);
  uint64_t lanes =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t exec = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t id = uint64_t(number) * kLanes + lane;
    uint64_t x = id % launch.block[0];
    uint64_t y = id / launch.block[0] % launch.block[1];
    uint64_t z = id / launch.block[0] / launch.block[1];
    wave.row(0)[lane] = uint32_t(x | y << 10 | z << 20);
    exec |= uint64_t(id < lanes) << lane;
  }
  wave.setPair(kExec, exec);
  // Kernels whose arguments are preloaded begin with code that loads them.
  if (launch.kernel->preload & 0x7F) {
    constexpr uint64_t kPrologueBytes = 256;
    while (launch.code[wave.next].address <
           launch.kernel->entry + kPrologueBytes) {
      ++wave.next;
    }
  }
}

static std::unique_ptr<Group> makeGroup(KernelRun &launch, uint64_t number) {
  auto group = std::make_unique<Group>();
  group->launch = &launch;
  group->index = {uint32_t(number % launch.grid[0]),
                  uint32_t(number / launch.grid[0] % launch.grid[1]),
                  uint32_t(number / launch.grid[0] / launch.grid[1])};
  group->shared.bytes.assign(launch.sharedBytes, 0xFF);
  group->shared.states.resize(launch.sharedBytes);
  uint64_t lanes =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  group->waves.resize((lanes + kLanes - 1) / kLanes);
  for (unsigned wave = 0; wave < group->waves.size(); ++wave) {
    setUpWave(group->waves[wave], *group, wave);
  }
  launch.counts.waves += group->waves.size();
  return group;
}

/// Runs until the wave waits, ends or fails; one that polls gives way to
/// others.
static void runWave(Wave &wave, uint64_t &left) {
  constexpr unsigned kTurn = 50000;
  KernelRun &launch = *wave.group->launch;
  unsigned turn = 0;
  while (wave.state == Wave::State::Ready && launch.fault.empty()) {
    if (wave.next >= launch.code.size()) {
      return wave.fail("runs over the end of the kernel");
    }
    if (++turn == kTurn) {
      wave.state = Wave::State::Asleep;
      return;
    }
    const Instruction &instruction = launch.code[wave.next];
    wave.current = &instruction;
    if (left-- == 0) {
      left = 0;
      return wave.fail("more instructions than allowed; does it end?");
    }
    if (!instruction.handler) {
      return wave.fail(llvm::Twine(instruction.name) + " is not modelled");
    }
    ++launch.executed[wave.next++];
    checkOperands(wave, instruction);
    if (launch.fault.empty()) {
      instruction.handler(wave, instruction);
    }
  }
}

static bool all(const Group &group, Wave::State state) {
  return llvm::all_of(group.waves,
                      [&](const Wave &wave) { return wave.state == state; });
}

/// Lets the waves on if all have come to the barrier.
static void passBarrier(Group &group) {
  auto at = [&](Wave::State state) {
    return llvm::count_if(
        group.waves, [&](const Wave &wave) { return wave.state == state; });
  };
  auto waiting = at(Wave::State::AtBarrier), ended = at(Wave::State::Ended);
  if (waiting == 0 || size_t(waiting + ended) != group.waves.size()) {
    return;
  }
  if (ended) {
    Wave &wave = *llvm::find_if(group.waves, [](const Wave &wave) {
      return wave.state == Wave::State::AtBarrier;
    });
    return wave.fail("waits at a barrier that " + llvm::Twine(ended) + " of " +
                     llvm::Twine(group.waves.size()) +
                     " waves have ended without");
  }
  ++group.epoch;
  for (Wave &wave : group.waves) {
    wave.state = Wave::State::Ready;
  }
}

/// Runs a group until it has ended or only sleeps.
static void runGroup(Group &group, uint64_t &left) {
  KernelRun &launch = *group.launch;
  for (Wave &wave : group.waves) {
    if (wave.state == Wave::State::Asleep) {
      wave.state = Wave::State::Ready;
    }
  }
  auto isReady = [](const Wave &wave) {
    return wave.state == Wave::State::Ready;
  };
  while (launch.fault.empty() && llvm::any_of(group.waves, isReady)) {
    for (Wave &wave : group.waves) {
      runWave(wave, left);
    }
    if (launch.fault.empty()) {
      passBarrier(group);
    }
  }
}

bool modelc::check::runGrid(KernelRun &launch, uint64_t maxInstructions) {
  constexpr unsigned kPatience = 10000;
  uint64_t groups = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  uint64_t started = 0, stores = 0;
  unsigned idle = 0;
  std::vector<std::unique_ptr<Group>> running;
  launch.executed.assign(launch.code.size(), 0);
  launch.drained.assign(launch.code.size(), 0);
  while (launch.fault.empty() && (!running.empty() || started < groups)) {
    if (started < groups) {
      running.push_back(makeGroup(launch, started++));
    }
    for (auto &group : running) {
      runGroup(*group, maxInstructions);
    }
    llvm::erase_if(running, [](const std::unique_ptr<Group> &group) {
      return all(*group, Wave::State::Ended);
    });
    idle = stores == launch.stores && started == groups ? idle + 1 : 0;
    stores = launch.stores;
    if (idle > kPatience && !running.empty() && launch.fault.empty()) {
      running.front()->waves.front().fail(
          "livelock: waves sleep and nobody writes what they wait for");
    }
  }
  return launch.fault.empty();
}
