//===- PtxRun.cpp - The order in which lanes, waves and units run ---------===//
//
// Lanes of a wave that are at the same instruction are a path. The path that is
// furthest behind runs, until it meets another; so paths join where the code
// does. An instruction that all lanes do together waits for the others.
//
// A wave runs until it has to wait. Asynchronous operations that arrive at a
// barrier happen one by one when no wave of the workgroup can go on: as late as
// they may. Workgroups, those of a cluster as one, run one after the other;
// when all that have started sleep, the next one starts.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/PtxMachine.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace modelc::ptx;
using llvm::Twine;

/// Joins paths that are at the same instruction and picks the one furthest
/// behind; false when none can run.
static bool pickPath(Warp &warp) {
  for (size_t i = 0; i < warp.paths.size(); ++i) {
    for (size_t j = warp.paths.size() - 1; j > i; --j) {
      if (warp.paths[j].next == warp.paths[i].next) {
        warp.paths[i].lanes |= warp.paths[j].lanes;
        warp.paths[i].state = Path::State::Ready;
        warp.paths.erase(warp.paths.begin() + long(j));
      }
    }
  }
  bool found = false;
  for (size_t i = 0; i < warp.paths.size(); ++i) {
    if (warp.paths[i].state == Path::State::Ready &&
        (!found || warp.paths[i].next < warp.paths[warp.path].next)) {
      warp.path = i;
      found = true;
    }
  }
  return found;
}

/// Nothing of the wave can run: it polls, or waits for lanes that never come.
static void stopWarp(Warp &warp) {
  bool polls = llvm::any_of(warp.paths, [](const Path &path) {
    return path.state == Path::State::Polling;
  });
  if (polls) {
    warp.state = Warp::State::Asleep;
    return;
  }
  const Path &path = warp.paths.front();
  warp.current = &warp.block->launch->program->code[path.next];
  warp.fail("lanes 0x" + Twine::utohexstr(path.lanes) +
            " wait here for the other lanes of the wave, which are elsewhere");
}

/// Fails if an operation in flight still reads a register.
static bool mayWrite(Warp &warp, const Operand &to) {
  Stamp stamp =
      to.place == Operand::Place::Row ? warp.outgoing[to.row / kLanes] : 0;
  if (stamp && !warp.knowledge.all.knows(stamp)) {
    warp.fail("writes a register that " + warp.block->describe(stamp) +
              " reads, which it has not waited for");
    return false;
  }
  return true;
}

/// Fails if a register of the instruction is not there yet.
static bool registersAreReady(Warp &warp, const Instruction &instruction) {
  for (uint32_t row : instruction.rows) {
    Stamp stamp = warp.incoming[row / kLanes];
    if (stamp && !warp.knowledge.all.knows(stamp)) {
      warp.fail("uses a register that " + warp.block->describe(stamp) +
                " writes, which it has not waited for");
      return false;
    }
  }
  if (instruction.operands.empty()) {
    return true;
  }
  const Operand &to = instruction.operands.front();
  if (to.place == Operand::Place::Row) {
    return mayWrite(warp, to);
  }
  return to.place != Operand::Place::Tuple ||
         llvm::all_of(to.parts, [&](const Operand &part) {
           return mayWrite(warp, part);
         });
}

/// Runs one instruction of the running path.
static void step(Warp &warp, const Instruction &instruction) {
  Path &path = warp.running();
  warp.active = path.lanes;
  if (instruction.guard >= 0) {
    warp.active &= warp.predicates[instruction.guard] ^
                   (instruction.guardNegated ? kAllLanes : 0);
  }
  if (instruction.convergent && path.lanes != warp.live) {
    path.state = Path::State::Converging;
    return;
  }
  KernelRun &launch = *warp.block->launch;
  ++launch.executed[path.next++];
  if (!warp.active) {
    return;
  }
  if (!instruction.handler) {
    return warp.fail(Twine(instruction.name) + " is not modelled");
  }
  if (!warp.hasInFlight || registersAreReady(warp, instruction)) {
    instruction.handler(warp, instruction);
  }
}

/// Runs until the wave waits, ends or fails; one that polls gives way to
/// others.
static void runWarp(Warp &warp, uint64_t &left) {
  constexpr unsigned kTurn = 50000;
  KernelRun &launch = *warp.block->launch;
  const std::vector<Instruction> &code = launch.program->code;
  unsigned turn = 0;
  while (warp.state == Warp::State::Ready && launch.fault.empty()) {
    if (warp.paths.size() != 1 ||
        warp.paths.front().state != Path::State::Ready) {
      if (!pickPath(warp)) {
        return stopWarp(warp);
      }
    } else {
      warp.path = 0;
    }
    uint32_t next = warp.running().next;
    if (next >= code.size()) {
      return warp.fail("runs over the end of the kernel");
    }
    if (++turn == kTurn) {
      warp.state = Warp::State::Asleep;
      return;
    }
    warp.current = &code[next];
    if (left-- == 0) {
      left = 0;
      return warp.fail("more instructions than allowed; does it end?");
    }
    step(warp, code[next]);
  }
}

/// Lets the waves on that wait at a barrier to which all have come.
static bool passBarrier(Block &block, unsigned number) {
  uint32_t waiting = 0, ended = 0, lanes = 0;
  Warp *first = nullptr;
  for (Warp &warp : block.warps) {
    if (number != block.barrierOfCluster() &&
        warp.rank != number / Block::kBarriers) {
      continue;
    }
    ended += warp.state == Warp::State::Ended;
    lanes += kLanes;
    if (warp.state == Warp::State::AtBarrier && warp.barrier == number) {
      ++waiting;
      first = first ? first : &warp;
    }
  }
  if (!first) {
    return false;
  }
  uint32_t wanted = first->barrierThreads ? first->barrierThreads : lanes;
  if (block.arrivedThreads[number] < wanted) {
    if (!first->barrierThreads && (waiting + ended) * kLanes == lanes) {
      first->fail("waits at a barrier that " + Twine(ended) + " of " +
                  Twine(lanes / kLanes) + " waves have ended without");
    }
    return false;
  }
  for (Warp &warp : block.warps) {
    if (warp.state == Warp::State::AtBarrier && warp.barrier == number) {
      warp.acquire(block.arrived[number]);
      warp.state = Warp::State::Ready;
    }
  }
  block.arrived[number] = {};
  block.arrivedThreads[number] = 0;
  return true;
}

static bool anyReady(const Block &block) {
  return llvm::any_of(block.warps, [](const Warp &warp) {
    return warp.state == Warp::State::Ready;
  });
}

/// Lets one asynchronous operation happen; false if there is none.
static bool runLate(Block &block) {
  for (std::deque<Late> &queue : block.late) {
    if (!queue.empty()) {
      Late late = std::move(queue.front());
      queue.pop_front();
      const Instruction *current = late.from->current;
      late.from->current = late.instruction;
      late.run();
      late.from->current = current;
      return true;
    }
  }
  return false;
}

static void wake(Block &block) {
  for (Warp &warp : block.warps) {
    if (warp.state == Warp::State::Asleep) {
      warp.state = Warp::State::Ready;
    }
    for (Path &path : warp.paths) {
      if (path.state == Path::State::Polling) {
        path.state = Path::State::Ready;
      }
    }
  }
}

/// Runs a workgroup until it has ended or waits for another.
static void runBlock(Block &block, uint64_t &left) {
  KernelRun &launch = *block.launch;
  wake(block);
  uint64_t progress = 0;
  while (launch.fault.empty()) {
    while (launch.fault.empty() && anyReady(block)) {
      for (Warp &warp : block.warps) {
        runWarp(warp, left);
      }
      for (unsigned number = 0;
           number <= block.barrierOfCluster() && launch.fault.empty();
           ++number) {
        passBarrier(block, number);
      }
    }
    if (launch.fault.empty() && progress != launch.progress) {
      progress = launch.progress;
      wake(block);
    } else if (launch.fault.empty() && runLate(block)) {
      wake(block);
    } else {
      return;
    }
  }
}

static bool hasEnded(const Block &block) {
  return llvm::all_of(block.warps, [](const Warp &warp) {
    return warp.state == Warp::State::Ended;
  });
}

/// Nobody moves any more.
static void reportDeadlock(Block &block) {
  for (Warp &warp : block.warps) {
    if (warp.state != Warp::State::Ended) {
      return warp.fail("deadlock: what it waits for never happens");
    }
  }
}

bool modelc::ptx::runGrid(KernelRun &launch, uint64_t maxInstructions) {
  constexpr unsigned kPatience = 10000;
  uint64_t blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] /
                    launch.cluster;
  uint64_t started = 0, progress = 0;
  unsigned idle = 0;
  std::vector<std::unique_ptr<Block>> running;
  launch.executed.assign(launch.program->code.size(), 0);
  while (launch.fault.empty() && (!running.empty() || started < blocks)) {
    if (started < blocks) {
      running.push_back(makeBlock(launch, started++));
    }
    for (auto &block : running) {
      if (launch.fault.empty()) {
        runBlock(*block, maxInstructions);
      }
    }
    llvm::erase_if(running, [&](const std::unique_ptr<Block> &block) {
      bool ended = launch.fault.empty() && hasEnded(*block);
      if (ended) {
        checkEnd(*block);
      }
      return ended;
    });
    idle = progress == launch.progress && started == blocks ? idle + 1 : 0;
    progress = launch.progress;
    if (idle > kPatience && !running.empty() && launch.fault.empty()) {
      reportDeadlock(*running.front());
    }
  }
  return launch.fault.empty();
}
