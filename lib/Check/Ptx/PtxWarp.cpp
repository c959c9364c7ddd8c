//===- PtxWarp.cpp - What a wave knows and may touch ----------------------===//

#include "lib/Check/Ptx/PtxMachine.h"

using namespace modelc::ptx;
using llvm::Twine;

uint32_t Warp::actor(Queue queue) const {
  return uint32_t(block->warps.size()) * (1 + unsigned(queue)) + id;
}

uint64_t Warp::value(const Operand &operand, unsigned lane) {
  return operand.bytes == 8 ? row<uint64_t>(operand)[lane]
                            : row<uint32_t>(operand)[lane];
}

void Warp::setValue(const Operand &operand, unsigned lane, uint64_t value) {
  if (operand.bytes == 8) {
    row<uint64_t>(operand)[lane] = value;
  } else if (operand.place == Operand::Place::Row) {
    row<uint32_t>(operand)[lane] = uint32_t(value);
  }
}

Knowledge Warp::release() {
  Knowledge result = knowledge;
  result.all.rewind(actor(Queue::TensorLoads), publishedLoads);
  result.all.rewind(actor(Queue::TensorStores), publishedStores);
  knowledge.all.learn(id, knowledge.all.timeOf(id) + 1);
  return result;
}

void Warp::fail(const Twine &message) {
  KernelRun &launch = *block->launch;
  if (!launch.fault.empty()) {
    return;
  }
  std::string text = current ? current->text : "the start";
  constexpr size_t kMost = 160;
  if (text.size() > kMost) {
    text = text.substr(0, kMost) + "...";
  }
  launch.fault =
      ("'" + Twine(text) + "' at line " + Twine(current ? current->line : 0) +
       " in kernel \"" + launch.program->name + "\", workgroup (" +
       Twine(block->indices[rank][0]) + ", " + Twine(block->indices[rank][1]) +
       ", " + Twine(block->indices[rank][2]) + "), wave " + Twine(number) +
       ": " + message)
          .str();
}

size_t Block::placeOf(uint32_t address) const {
  return size_t(address >> kRankShift) * launch->sharedBytes +
         ofRank(address, 0) - kSharedStart;
}

bool modelc::ptx::resolveShared(Warp &warp, uint32_t &address) {
  uint32_t named = address >> kRankShift;
  if (named > warp.block->ranks()) {
    warp.fail("names workgroup " + Twine(named - 1) + " of a cluster of " +
              Twine(warp.block->ranks()));
    return false;
  }
  address = ofRank(address, named ? named - 1 : warp.rank);
  return true;
}

uint32_t Block::addActor(std::string what) {
  actors.push_back(std::move(what));
  return uint32_t(actors.size() - 1);
}

std::string Block::describe(Stamp stamp) const { return actors[whoOf(stamp)]; }

/// What is wrong about two accesses, in words.
static std::string explain(const Warp &warp, uint32_t byte,
                           const SharedUse &use, const Conflict &conflict) {
  bool byWave = whoOf(conflict.other) < warp.block->warps.size();
  std::string who = warp.block->describe(conflict.other);
  std::string mine = std::string(use.writes ? "writes" : "reads") + " byte " +
                     std::to_string(byte) + " of shared memory";
  if (byWave && conflict.otherWrites && use.async &&
      warp.knowledge.all.knows(conflict.other)) {
    return mine + " that " + who +
           " wrote, and no proxy fence has made it visible";
  }
  if (byWave) {
    return "race: " + mine + " that " + who +
           (conflict.otherWrites ? " wrote" : " read") +
           ", without a barrier in between";
  }
  return mine + " that " + who + (conflict.otherWrites ? " writes" : " reads") +
         ", which it has not waited for";
}

bool Warp::mayTouch(uint64_t address, const Twine &what) {
  KernelRun &launch = *block->launch;
  bool waits = launch.startsEarly && (active & ~followed);
  if (!waits || launch.memory.isConstant(address)) {
    return true;
  }
  fail(what + "memory before it has waited for earlier kernels, which may "
              "still use it");
  return false;
}

uint8_t *Warp::findGlobal(uint64_t address, uint64_t bytes, bool writes,
                          const Twine &what) {
  KernelRun &launch = *block->launch;
  if (!mayTouch(address, what)) {
    return nullptr;
  }
  uint8_t *found = launch.memory.find(address, bytes, writes);
  if (!found) {
    fail(what + launch.memory.explain(address, bytes));
  }
  return found;
}

uint8_t *modelc::ptx::touchShared(Warp &warp, uint32_t address, uint32_t bytes,
                                  const SharedUse &use) {
  Block &block = *warp.block;
  uint64_t size = block.launch->sharedBytes;
  uint64_t inOwn = uint64_t(ofRank(address, 0)) - kSharedStart;
  if (inOwn >= size || bytes > size - inOwn) {
    warp.fail("accesses bytes " + Twine(ofRank(address, 0)) + " to " +
              Twine(uint64_t(ofRank(address, 0)) + bytes - 1) +
              " of shared memory, but the workgroup has " +
              Twine(kSharedStart) + " to " + Twine(kSharedStart + size - 1));
    return nullptr;
  }
  if (use.writes && !block.barriers.empty()) {
    auto next = block.barriers.lower_bound(address + bytes);
    if (next != block.barriers.begin() &&
        std::prev(next)->first + 8 > address) {
      warp.fail("overwrites the barrier at byte " +
                Twine(ofRank(std::prev(next)->first, 0)) + " of shared memory");
      return nullptr;
    }
  }
  const Knowledge &known = warp.knowledge;
  Touch touch{use.writes, use.stamp, &known.all,
              use.async ? &known.fenced : &known.all};
  size_t at = block.placeOf(address);
  if (auto conflict = block.cells.touch(at, bytes, touch)) {
    warp.fail(explain(warp, uint32_t(conflict->cell % size) + kSharedStart, use,
                      *conflict));
    return nullptr;
  }
  return &block.shared[at];
}

bool modelc::ptx::sharedAddress(Warp &warp, const Operand &operand,
                                unsigned lane, uint32_t &address) {
  const Operand &base = operand.place == Operand::Place::Address
                            ? operand.parts.front()
                            : operand;
  uint64_t at = warp.value(base, lane) + uint64_t(operand.offset);
  if (base.isConstant) {
    at = uint64_t(base.offset + operand.offset);
  }
  if (at >= kSharedWindow) {
    at -= kSharedWindow;
  }
  if (at >> 32) {
    warp.fail("expected an address of shared memory, got 0x" +
              Twine::utohexstr(at));
    return false;
  }
  address = uint32_t(at);
  return resolveShared(warp, address);
}
