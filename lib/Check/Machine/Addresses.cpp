//===- Addresses.cpp - Where the lanes of a memory instruction access -----===//

#include "lib/Check/Machine/Access.h"
#include "llvm/ADT/STLExtras.h"

using namespace modelc::check;

namespace {
/// The descriptor of a buffer: base, stride, bytes, flags.
struct Buffer {
  uint64_t base;
  uint32_t stride, bytes;
};
} // namespace

static Buffer bufferOf(Wave &wave, const Operand &operand) {
  const uint32_t *words = &wave.scalar[operand.index];
  return {words[0] | uint64_t(words[1] & 0xFFFF) << 32, words[1] >> 16 & 0x3FFF,
          words[2]};
}

/// offset, descriptor, scalar offset: only raw buffers.
static bool locateBuffer(Wave &wave, const Instruction &i, unsigned first,
                         unsigned bytes, bool forWriting, LaneAddresses &to) {
  // Without an offset in a register, copies have no operand for it.
  bool hasOffset = i.operands[first].place != Operand::Place::Scalar ||
                   i.operands[first].words != 4;
  const Operand &descriptor = i.operands[first + (hasOffset ? 1 : 0)];
  Buffer buffer = bufferOf(wave, descriptor);
  if (buffer.stride || i.modifiers.idxen) {
    wave.fail("a buffer with a stride or an index is not modelled");
    return false;
  }
  Source offset = sourceOf(wave, i.operands[first]);
  uint32_t common = scalar32(wave, i.operands[first + (hasOffset ? 2 : 1)]) +
                    uint32_t(i.modifiers.offset);
  llvm::SmallVector<uint64_t, kLanes> addresses;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint64_t at = uint64_t(i.modifiers.offen ? offset.word(lane) : 0) + common;
    if (at >= buffer.bytes) {
      continue;
    }
    if (buffer.bytes - at < bytes) {
      wave.fail(llvm::Twine(bytes) + " bytes at offset " + llvm::Twine(at) +
                " straddle the end of a buffer of " +
                llvm::Twine(buffer.bytes));
      return false;
    }
    AddressSpace &memory = wave.group->launch->memory;
    to.at[lane] = memory.find(buffer.base + at, bytes, forWriting);
    if (!to.at[lane]) {
      wave.fail("lane " + llvm::Twine(lane) + " accesses " +
                memory.explain(buffer.base + at, bytes));
      return false;
    }
    addresses.push_back(buffer.base + at);
  }
  countLines(wave.group->launch->counts, bytes, addresses);
  return true;
}

/// A flat address may be one of shared memory: the upper half says so.
static bool isShared(const Wave &wave, uint64_t address) {
  return uint32_t(address >> 32) == wave.scalar[kSharedBase + 1];
}

/// Or one of the lane's private memory.
static bool isPrivate(const Wave &wave, uint64_t address) {
  return uint32_t(address >> 32) == wave.scalar[kPrivateBase + 1];
}

/// Bytes of a lane's private memory; null after a failure.
static uint8_t *privateBytes(Wave &wave, unsigned lane, uint32_t at,
                             unsigned bytes) {
  uint32_t perLane = wave.group->launch->kernel->scratchBytes;
  if (uint64_t(at) + bytes > perLane) {
    wave.fail("accesses byte " + llvm::Twine(at) + " of " +
              llvm::Twine(perLane) + " bytes of private memory");
    return nullptr;
  }
  return &wave.scratch[size_t(lane) * perLane + at];
}

/// Private memory: a lane's own bytes.
static bool locateScratch(Wave &wave, const Instruction &i, unsigned first,
                          unsigned bytes, LaneAddresses &to) {
  // Stores have their data between the two parts of the address.
  const Operand &scalar = i.operands.back();
  Source offset = sourceOf(wave, i.operands[first]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint32_t at = offset.word(lane) + uint32_t(i.modifiers.offset);
    at += scalar.place == Operand::Place::None ? 0 : scalar32(wave, scalar);
    to.at[lane] = privateBytes(wave, lane, at, bytes);
    if (!to.at[lane]) {
      return false;
    }
  }
  return true;
}

/// address, [base] of global and flat accesses.
static bool locateGlobal(Wave &wave, const Instruction &i, unsigned first,
                         unsigned bytes, bool forWriting, LaneAddresses &to) {
  const Operand &base = i.operands.back();
  bool hasBase = base.place == Operand::Place::Scalar;
  Source address = sourceOf(wave, i.operands[first]);
  AddressSpace &memory = wave.group->launch->memory;
  llvm::SmallVector<uint64_t, kLanes> addresses;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint64_t at = hasBase ? wave.pair(base.index) + address.word(lane)
                          : readLane<uint64_t>(address, lane);
    at += uint64_t(int64_t(i.modifiers.offset));
    if (i.meaning->shape.space == Space::Flat && isShared(wave, at)) {
      to.isShared = true;
      to.offset[lane] = uint32_t(at);
      continue;
    }
    if (i.meaning->shape.space == Space::Flat && isPrivate(wave, at)) {
      to.at[lane] = privateBytes(wave, lane, uint32_t(at), bytes);
      if (!to.at[lane]) {
        return false;
      }
      continue;
    }
    to.at[lane] = memory.find(at, bytes, forWriting);
    if (!to.at[lane]) {
      wave.fail("lane " + llvm::Twine(lane) + " accesses " +
                memory.explain(at, bytes));
      return false;
    }
    addresses.push_back(at);
  }
  countLines(wave.group->launch->counts, bytes, addresses);
  return true;
}

bool modelc::check::locate(Wave &wave, const Instruction &instruction,
                           unsigned firstAddress, unsigned bytes,
                           bool forWriting, LaneAddresses &to) {
  switch (instruction.meaning->shape.space) {
  case Space::Buffer:
    return locateBuffer(wave, instruction, firstAddress, bytes, forWriting, to);
  case Space::Scratch:
    return locateScratch(wave, instruction, firstAddress, bytes, to);
  case Space::Global:
  case Space::Flat:
    return locateGlobal(wave, instruction, firstAddress, bytes, forWriting, to);
  }
  return false;
}
