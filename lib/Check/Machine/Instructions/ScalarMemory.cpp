//===- ScalarMemory.cpp - Loads of the scalar unit ------------------------===//

#include "lib/Check/Machine/Lanes.h"
#include <cstring>

using namespace modelc::check;

/// d, base, offset
static void load(Wave &wave, const Instruction &i) {
  const Operand &to = i.operands[0], &base = i.operands[1];
  bool buffer = base.words == 4;
  uint64_t offset = 0;
  if (i.operands.size() > 2) {
    offset = i.operands[2].place == Operand::Place::Constant
                 ? uint64_t(int64_t(int32_t(i.operands[2].constant[0])))
                 : scalar32(wave, i.operands[2]);
  }
  offset += uint64_t(int64_t(i.modifiers.offset));
  uint64_t start = wave.pair(base.index);
  start &= buffer ? 0xFFFFFFFFFFFF : ~uint64_t(0);
  uint32_t limit = buffer ? wave.scalar[base.index + 2] : 0;
  AddressSpace &memory = wave.group->launch->memory;
  Pending &pending = issue(wave);
  pending.onLocal = pending.unordered = true;
  for (unsigned w = 0; w < to.words; ++w) {
    uint64_t at = (start + offset & ~uint64_t(3)) + 4 * w;
    uint32_t &word = wave.scalar[to.index + w];
    if (buffer && offset + 4 * w + 4 > limit) {
      word = 0;
      continue;
    }
    const uint8_t *bytes = memory.find(at, 4, false);
    if (!bytes) {
      return wave.fail("accesses " + memory.explain(at, 4));
    }
    std::memcpy(&word, bytes, 4);
  }
  ownRegisters(wave, pending, kVectorRegisters + to.index, to.words);
}

/// A clock that counts instructions.
static void time(Wave &wave, const Instruction &i) {
  uint64_t now = 0;
  for (uint64_t count : wave.group->launch->executed) {
    now += count;
  }
  Pending &pending = issue(wave);
  pending.onLocal = pending.unordered = true;
  setScalar64(wave, i.operands[0], now);
  ownRegisters(wave, pending, kVectorRegisters + i.operands[0].index, 2);
}

void modelc::check::addScalarMemoryMeanings(Meanings &to) {
  for (llvm::StringRef size : {"", "x2", "x3", "x4", "x8", "x16"}) {
    to[("s_load_dword" + size).str()] = {load, Kind::ScalarMemory, {}};
    to[("s_buffer_load_dword" + size).str()] = {load, Kind::ScalarMemory, {}};
  }
  to["s_memtime"] = {time, Kind::ScalarMemory, {}};
  to["s_memrealtime"] = {time, Kind::ScalarMemory, {}};
}
