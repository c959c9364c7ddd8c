//===- PtxAtomics.cpp - Changes that are one step -------------------------===//

#include "lib/Check/Machine/Access.h"
#include "lib/Check/Ptx/PtxLanes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace modelc::ptx;
using check::Atomic;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

constexpr uint8_t kNoAtomic = 0xFF;

static uint8_t operationNamed(StringRef name, Type type) {
  bool real = type == Type::F32 || type == Type::F64;
  auto pick = [&](Atomic whole, Atomic withSign) {
    return uint8_t(isSigned(type) ? withSign : whole);
  };
  if (type == Type::Bf16Pair || type == Type::F16Pair) {
    return name != "add"
               ? kNoAtomic
               : uint8_t(type == Type::Bf16Pair ? Atomic::AddBf16Pair
                                                : Atomic::AddHalfPair);
  }
  return llvm::StringSwitch<uint8_t>(name)
      .Case("add", uint8_t(real ? Atomic::AddFloat : Atomic::Add))
      .Case("min", real ? uint8_t(Atomic::MinFloat)
                        : pick(Atomic::UnsignedMin, Atomic::SignedMin))
      .Case("max", real ? uint8_t(Atomic::MaxFloat)
                        : pick(Atomic::UnsignedMax, Atomic::SignedMax))
      .Case("and", uint8_t(Atomic::And))
      .Case("or", uint8_t(Atomic::Or))
      .Case("xor", uint8_t(Atomic::Xor))
      .Case("exch", uint8_t(Atomic::Swap))
      .Case("inc", uint8_t(Atomic::Increment))
      .Case("dec", uint8_t(Atomic::Decrement))
      .Case("cas", uint8_t(Atomic::CompareSwap))
      .Default(kNoAtomic);
}

/// Changes of shared memory that are one step are in some order with each
/// other.
static uint8_t *findShared(Warp &warp, uint64_t address, unsigned bytes) {
  Block &block = *warp.block;
  if (!block.atomics) {
    block.atomics = block.addActor("an atomic operation");
  }
  warp.knowledge.all.learn(block.atomics, ++block.atomicTime);
  return touchShared(warp, uint32_t(address), bytes,
                     {true, false, stampOf(block.atomics, block.atomicTime)});
}

static uint8_t *findBytes(Warp &warp, const Instruction &i,
                          const Operand &operand, unsigned lane,
                          unsigned bytes) {
  const Operand &base = operand.parts.front();
  uint64_t at =
      base.isConstant ? uint64_t(base.offset) : warp.value(base, lane);
  at += uint64_t(operand.offset);
  if (at % bytes) {
    warp.fail("address 0x" + Twine::utohexstr(at) + " is not a multiple of " +
              Twine(bytes) + " bytes");
    return nullptr;
  }
  if (i.space == Space::Shared ||
      (i.space == Space::Generic && at >= kSharedWindow)) {
    return findShared(warp, at & (kSharedWindow - 1), bytes);
  }
  return warp.findGlobal(at, bytes, true, "lane " + Twine(lane) + " accesses ");
}

/// d, [address], value[, second]; of `red` without d.
static void change(Warp &warp, const Instruction &i) {
  bool returns = i.shape[0] != 0;
  const Operand &address = i.operands[returns ? 1 : 0];
  const Operand &data = i.operands[returns ? 2 : 1];
  const Operand *second =
      i.operands.size() > (returns ? 3u : 2u) ? &i.operands.back() : nullptr;
  unsigned bytes = bytesOf(i.type);
  check::Shape shape;
  shape.operation = i.how;
  shape.wide = bytes == 8;
  auto read = [&](const Operand &operand, unsigned lane) {
    return bytes == 8 ? warp.row<uint64_t>(operand)[lane]
                      : warp.value(operand, lane);
  };
  KernelRun &launch = *warp.block->launch;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(warp.active >> lane & 1)) {
      continue;
    }
    uint8_t *at = findBytes(warp, i, address, lane, bytes);
    if (!at) {
      return;
    }
    // Of a compare and swap the first value is compared with.
    uint64_t value = read(second ? *second : data, lane);
    uint64_t old = check::applyAtomic(shape, at, value, read(data, lane));
    if (returns) {
      warp.setValue(i.operands[0], lane, old);
    }
    launch.counts.storedBytes += bytes;
    ++launch.progress;
  }
}

static bool decodeAtomic(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Global;
  for (StringRef word : modifiers) {
    uint8_t operation = operationNamed(word, i.type);
    if (operation != kNoAtomic) {
      i.how = operation;
      i.handler = change;
    }
  }
  i.shape[0] =
      i.operands.size() > 1 && i.operands[0].place != Operand::Place::Address;
  return i.handler;
}

void modelc::ptx::addAtomics(Decoders &to) {
  to["atom"] = decodeAtomic;
  to["red"] = decodeAtomic;
}
