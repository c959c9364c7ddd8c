//===- PtxAccess.cpp - Loads and stores -----------------------------------===//

#include "lib/Check/Ptx/PtxLanes.h"
#include <cstring>

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// One lane's bytes.
struct Where {
  Space space = Space::Global;
  uint64_t address = 0;
};

/// All lanes of one access.
struct Access {
  Warp &warp;
  unsigned bytes;
  bool writes;
  uint32_t shared[kLanes];
  llvm::SmallVector<uint64_t, kLanes> global;
  bool anyShared = false;

  Access(Warp &warp, unsigned bytes, bool writes)
      : warp(warp), bytes(bytes), writes(writes) {
    std::fill_n(shared, kLanes, check::kNowhere);
  }
  uint8_t *find(const Where &where, unsigned lane);
  uint8_t *findLocal(uint64_t address, unsigned lane);
  uint8_t *findGlobal(uint64_t address, unsigned lane);
  void count();
};
} // namespace

/// The address that a lane names; generic ones say which memory they mean.
static Where whereOf(Warp &warp, const Instruction &i, const Operand &operand,
                     unsigned lane) {
  const Operand &base = operand.parts.front();
  uint64_t at =
      base.isConstant ? uint64_t(base.offset) : warp.value(base, lane);
  at += uint64_t(operand.offset);
  Space space = i.space;
  if (space == Space::Param) {
    return {Space::Global, at + warp.block->launch->parameterAddress};
  }
  if (space == Space::Generic && at >= kLocalWindow) {
    return {Space::Local, at - kLocalWindow};
  }
  if (space == Space::Generic && at >= kSharedWindow) {
    return {Space::Shared, at - kSharedWindow};
  }
  return {space == Space::Generic ? Space::Global : space, at};
}

uint8_t *Access::findLocal(uint64_t address, unsigned lane) {
  uint32_t perLane = warp.block->launch->program->localBytes;
  if (address + bytes > perLane) {
    warp.fail("accesses byte " + Twine(address) + " of " + Twine(perLane) +
              " bytes of private memory");
    return nullptr;
  }
  return &warp.local[size_t(lane) * perLane + address];
}

uint8_t *Access::findGlobal(uint64_t address, unsigned lane) {
  uint8_t *at = warp.findGlobal(address, bytes, writes,
                                "lane " + Twine(lane) + " accesses ");
  if (at && address < warp.block->launch->parameterAddress) {
    global.push_back(address);
  }
  return at;
}

uint8_t *Access::find(const Where &where, unsigned lane) {
  if (where.address % bytes) {
    warp.fail("lane " + Twine(lane) + ": address 0x" +
              Twine::utohexstr(where.address) + " is not a multiple of " +
              Twine(bytes) + " bytes");
    return nullptr;
  }
  if (where.space == Space::Shared) {
    auto address = uint32_t(where.address);
    shared[lane] = address;
    anyShared = true;
    return resolveShared(warp, address)
               ? touchShared(warp, address, bytes, {writes, false, warp.now()})
               : nullptr;
  }
  return where.space == Space::Local ? findLocal(where.address, lane)
                                     : findGlobal(where.address, lane);
}

void Access::count() {
  KernelRun &launch = *warp.block->launch;
  check::Counts &counts = launch.counts;
  if (anyShared) {
    unsigned lanes =
        kLanes - unsigned(std::count(shared, shared + kLanes, check::kNowhere));
    (writes ? counts.sharedWrittenBytes : counts.sharedReadBytes) +=
        lanes * bytes;
    countBanks(counts, launch.target, writes ? "write" : "read", bytes,
               ArrayRef<uint32_t>(shared, kLanes));
  }
  if (!global.empty()) {
    (writes ? counts.storedBytes : counts.loadedBytes) += global.size() * bytes;
    check::countLines(counts, bytes, global);
  }
  launch.progress += writes;
}

/// The registers of a vector, or the only one.
static ArrayRef<Operand> registersOf(const Operand &operand) {
  return operand.place == Operand::Place::Tuple
             ? ArrayRef<Operand>(operand.parts)
             : ArrayRef<Operand>(operand);
}

static uint64_t extended(Type type, uint64_t bits) {
  return type == Type::S8    ? uint64_t(int64_t(int8_t(bits)))
         : type == Type::S16 ? uint64_t(int64_t(int16_t(bits)))
         : type == Type::S32 ? uint64_t(int64_t(int32_t(bits)))
                             : bits;
}

/// d, [address]
static void load(Warp &warp, const Instruction &i) {
  unsigned each = bytesOf(i.type);
  ArrayRef<Operand> to = registersOf(i.operands[0]);
  Access access(warp, each * unsigned(to.size()), false);
  uint64_t values[kLanes][8];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(warp.active >> lane & 1)) {
      continue;
    }
    const uint8_t *from =
        access.find(whereOf(warp, i, i.operands[1], lane), lane);
    if (!from) {
      return;
    }
    for (size_t n = 0; n < to.size(); ++n) {
      values[lane][n] = 0;
      std::memcpy(&values[lane][n], from + n * each, each);
    }
  }
  forLanes(warp.active, [&](unsigned lane) {
    for (size_t n = 0; n < to.size(); ++n) {
      warp.setValue(to[n], lane, extended(i.type, values[lane][n]));
    }
  });
  access.count();
  if (i.how) { // it polls: others go on first
    warp.state = Warp::State::Asleep;
  }
}

/// [address], value
static void store(Warp &warp, const Instruction &i) {
  unsigned each = bytesOf(i.type);
  ArrayRef<Operand> from = registersOf(i.operands[1]);
  Access access(warp, each * unsigned(from.size()), true);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(warp.active >> lane & 1)) {
      continue;
    }
    uint8_t *to = access.find(whereOf(warp, i, i.operands[0], lane), lane);
    if (!to) {
      return;
    }
    for (size_t n = 0; n < from.size(); ++n) {
      uint64_t value = each == 8 ? warp.row<uint64_t>(from[n])[lane]
                                 : warp.value(from[n], lane);
      std::memcpy(to + n * each, &value, each);
    }
  }
  access.count();
}

template <Handler Run>
static bool decodeAccess(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = i.space == Space::Shared  ? check::Kind::Shared
           : i.space == Space::Param ? check::Kind::ScalarMemory
                                     : check::Kind::Global;
  i.how = has(modifiers, "acquire") || has(modifiers, "volatile") ||
          has(modifiers, "relaxed");
  i.handler = Run;
  return i.type != Type::None && i.operands.size() == 2 &&
         i.space != Space::Const;
}

void modelc::ptx::addAccess(Decoders &to) {
  to["ld"] = decodeAccess<load>;
  to["ldu"] = decodeAccess<load>;
  to["st"] = decodeAccess<store>;
}
