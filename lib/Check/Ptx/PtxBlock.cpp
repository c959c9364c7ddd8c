//===- PtxBlock.cpp - How workgroups begin and end ------------------------===//

#include "lib/Check/Ptx/PtxMachine.h"
#include "llvm/ADT/STLExtras.h"

using namespace modelc::ptx;
using llvm::Twine;

static uint32_t presetValue(const Preset &preset, const Warp &warp,
                            unsigned lane) {
  const KernelRun &launch = *warp.block->launch;
  uint32_t id = warp.number * kLanes + lane;
  const auto &size = launch.block;
  switch (preset.special) {
  case Special::Constant:
    return uint32_t(preset.value);
  case Special::Thread:
    return preset.axis == 0   ? id % size[0]
           : preset.axis == 1 ? id / size[0] % size[1]
                              : id / size[0] / size[1];
  case Special::BlockSize:
    return size[preset.axis];
  case Special::Block:
    return warp.block->indices[warp.rank][preset.axis];
  case Special::GridSize:
    return launch.grid[preset.axis];
  case Special::Lane:
    return lane;
  case Special::Wave:
    return warp.number;
  case Special::LanesBelow:
    return (1u << lane) - 1;
  case Special::Rank:
    return warp.rank;
  case Special::Cluster:
    return launch.cluster;
  case Special::DynamicBytes:
    return launch.dynamicBytes;
  }
  return 0;
}

static void setUpWarp(Warp &warp, Block &block, unsigned id) {
  const KernelRun &launch = *block.launch;
  const Program &program = *launch.program;
  unsigned number = id % block.wavesOfOne();
  warp.block = &block;
  warp.number = number;
  warp.rank = id / block.wavesOfOne();
  warp.id = id;
  // What nobody has written is a NaN.
  warp.registers.assign(program.registerWords, ~0u);
  warp.predicates.assign(program.predicates, 0);
  warp.local.assign(size_t(program.localBytes) * kLanes, 0xFF);
  warp.incoming.assign(program.registerWords / kLanes, 0);
  warp.outgoing.assign(program.registerWords / kLanes, 0);
  uint64_t lanes =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    warp.live |= Mask(uint64_t(number) * kLanes + lane < lanes) << lane;
  }
  for (const Preset &preset : program.presets) {
    auto *wide = reinterpret_cast<uint64_t *>(&warp.registers[preset.row]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (preset.wide) {
        wide[lane] = preset.value;
      } else {
        warp.registers[preset.row + lane] = presetValue(preset, warp, lane);
      }
    }
  }
  warp.paths.push_back({warp.live, 0, Path::State::Ready});
  warp.knowledge.all.learn(id, 1);
}

/// "wave 2", in a cluster with its workgroup.
static std::string nameOfWave(const Block &block, unsigned id) {
  std::string name = "wave " + std::to_string(id % block.wavesOfOne());
  return block.ranks() == 1
             ? name
             : name + " of workgroup " +
                   std::to_string(id / block.wavesOfOne()) + " of the cluster";
}

std::unique_ptr<Block> modelc::ptx::makeBlock(KernelRun &launch,
                                              uint64_t number) {
  auto block = std::make_unique<Block>();
  block->launch = &launch;
  unsigned ranks = launch.cluster;
  for (uint64_t one = number * ranks; one < (number + 1) * ranks; ++one) {
    block->indices.push_back({uint32_t(one % launch.grid[0]),
                              uint32_t(one / launch.grid[0] % launch.grid[1]),
                              uint32_t(one / launch.grid[0] / launch.grid[1])});
  }
  uint64_t lanes =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  auto waves = ranks * unsigned((lanes + kLanes - 1) / kLanes);
  block->shared.assign(size_t(ranks) * launch.sharedBytes, 0xFF);
  block->cells.reset(block->shared.size(), 2 * waves);
  block->warps.resize(waves);
  block->arrived.resize(block->barrierOfCluster() + 1);
  block->arrivedThreads.resize(block->barrierOfCluster() + 1);
  block->tensors.resize(ranks);
  block->matrixLog.resize(waves);
  for (unsigned wave = 0; wave < waves; ++wave) {
    block->addActor(nameOfWave(*block, wave));
  }
  static const char *const kNames[kQueues] = {"a 16-byte copy",
                                              "a box store",
                                              "a box store",
                                              "a matrix operation",
                                              "a tensor operation",
                                              "a load of tensor memory",
                                              "a store to tensor memory"};
  for (const char *name : kNames) {
    for (unsigned wave = 0; wave < waves; ++wave) {
      block->addActor(std::string(name) + " of " + nameOfWave(*block, wave));
    }
  }
  for (unsigned wave = 0; wave < waves; ++wave) {
    setUpWarp(block->warps[wave], *block, wave);
  }
  launch.counts.waves += waves;
  return block;
}

/// What must not be left when a workgroup ends.
void modelc::ptx::checkEnd(Block &block) {
  for (Warp &warp : block.warps) {
    for (Queue queue : {Queue::Matrix, Queue::StoreReads, Queue::TensorLoads,
                        Queue::TensorStores, Queue::Copies}) {
      const Groups &groups = warp.groups[unsigned(queue)];
      Stamp last = stampOf(warp.actor(queue), groups.time - !groups.any);
      if (!warp.knowledge.all.knows(last) && groups.time + groups.any > 1) {
        return warp.fail("the workgroup ends, but " + block.describe(last) +
                         " was not waited for");
      }
    }
  }
  Warp &first = block.warps.front();
  if (block.launch->startsEarly &&
      llvm::none_of(block.warps,
                    [](const Warp &warp) { return warp.followed != 0; })) {
    first.fail("the workgroup ends and has not waited for earlier kernels: the "
               "next one would not know that they are done");
  }
  if (llvm::any_of(block.tensors, [](const TensorMemory &tensor) {
        return !tensor.taken.empty();
      })) {
    first.fail("the workgroup ends, but tensor memory was not freed");
  }
}
