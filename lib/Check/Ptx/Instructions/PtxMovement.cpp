//===- PtxMovement.cpp - Between registers, lanes and address spaces ------===//

#include "lib/Check/Ptx/PtxLanes.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;
using Place = Operand::Place;

/// A value that is not there yet may move: the compiler names it anew.
static void moveStamp(Warp &warp, const Operand &to, const Operand &from) {
  if (!warp.hasInFlight) {
    return;
  }
  Stamp stamp = warp.incoming[from.row / kLanes];
  warp.incoming[to.row / kLanes] = stamp;
}

static void moveRow(Warp &warp, const Instruction &i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  moveStamp(warp, to, from);
  if (to.bytes == 8) {
    auto *d = warp.row<uint64_t>(to);
    const auto *a = warp.row<uint64_t>(from);
    forLanes(warp.active, [&](unsigned lane) { d[lane] = a[lane]; });
  } else {
    auto *d = warp.row<uint32_t>(to);
    const auto *a = warp.row<uint32_t>(from);
    uint32_t keep = bytesOf(i.type) == 2 ? 0xFFFF : ~0u;
    forLanes(warp.active, [&](unsigned lane) { d[lane] = a[lane] & keep; });
  }
}

static void movePredicate(Warp &warp, const Instruction &i) {
  const Operand &from = i.operands[1];
  Mask value = from.place == Place::Predicate ? warp.predicate(from)
               : from.offset                  ? kAllLanes
                                              : 0;
  Mask &d = warp.predicates[i.operands[0].row];
  d = (d & ~warp.active) | (value & warp.active);
}

/// Fails if a part of a tuple is not there yet.
static bool partsAreReady(Warp &warp, const Operand &operand) {
  if (operand.place == Place::Row) {
    Stamp stamp = warp.incoming[operand.row / kLanes];
    if (stamp && !warp.knowledge.all.knows(stamp)) {
      warp.fail("uses a register that " + warp.block->describe(stamp) +
                " writes, which it has not waited for");
      return false;
    }
  }
  for (const Operand &part : operand.parts) {
    if (!partsAreReady(warp, part)) {
      return false;
    }
  }
  return true;
}

/// `{a, b} = d` or `d = {a, b}`: the first part is the low one.
static void moveParts(Warp &warp, const Instruction &i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  if (!partsAreReady(warp, from)) {
    return;
  }
  bool splits = to.place == Place::Tuple;
  const std::vector<Operand> &parts = splits ? to.parts : from.parts;
  unsigned bits = 8 * bytesOf(i.type) / unsigned(parts.size());
  uint64_t field = bits == 32 ? 0xFFFFFFFF : (uint64_t(1) << bits) - 1;
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t whole = splits ? warp.value(from, lane) : 0;
    for (size_t part = 0; part < parts.size(); ++part) {
      if (splits) {
        warp.setValue(parts[part], lane, whole >> bits * part & field);
      } else {
        whole |= (warp.value(parts[part], lane) & field) << bits * part;
      }
    }
    if (!splits) {
      warp.setValue(to, lane, whole);
    }
  });
}

static bool decodeMove(Instruction &i, ArrayRef<StringRef>) {
  i.kind = check::Kind::Vector;
  i.rows.clear(); // values in flight may move
  if (i.operands.size() != 2 || i.type == Type::None) {
    return false;
  }
  bool tuple = i.operands[0].place == Place::Tuple ||
               i.operands[1].place == Place::Tuple;
  i.handler = i.type == Type::Predicate ? movePredicate
              : tuple                   ? moveParts
                                        : moveRow;
  return true;
}

//===----------------------------------------------------------------------===//
// Between lanes
//===----------------------------------------------------------------------===//

namespace {
enum class Shuffle : uint8_t { Index, Butterfly, Up, Down };
} // namespace

/// d[|p], a, b, c, mask: each lane reads a of another; p says whether there is
/// one in its segment.
static void shuffle(Warp &warp, const Instruction &i) {
  const Operand &result = i.operands[0];
  bool pair = result.place == Place::Tuple;
  const Operand &to = pair ? result.parts[0] : result;
  const auto *a = warp.row<uint32_t>(i.operands[1]);
  const auto *b = warp.row<uint32_t>(i.operands[2]);
  const auto *c = warp.row<uint32_t>(i.operands[3]);
  const auto *members = warp.row<uint32_t>(i.operands[4]);
  uint32_t values[kLanes];
  Mask inside = 0;
  bool failed = false;
  forLanes(warp.active, [&](unsigned lane) {
    unsigned clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    int by = int(b[lane] & 31),
        last = int((lane & segment) | (clamp & ~segment));
    int from = 0;
    bool valid = false;
    switch (Shuffle(i.how)) {
    case Shuffle::Up:
      from = int(lane) - by;
      valid = from >= last;
      break;
    case Shuffle::Down:
      from = int(lane) + by;
      valid = from <= last;
      break;
    case Shuffle::Butterfly:
      from = int(lane) ^ by;
      valid = from <= last;
      break;
    case Shuffle::Index:
      from = int((lane & segment) | (unsigned(by) & ~segment));
      valid = from <= last;
      break;
    }
    from = valid ? from : int(lane);
    failed |= !(members[lane] >> from & 1) || !(warp.active >> from & 1);
    values[lane] = a[from];
    inside |= Mask(valid) << lane;
  });
  if (failed) {
    return warp.fail("reads from a lane that does not take part");
  }
  if (to.place == Place::Row) {
    auto *d = warp.row<uint32_t>(to);
    forLanes(warp.active, [&](unsigned lane) { d[lane] = values[lane]; });
  }
  if (pair && result.parts[1].place == Place::Predicate) {
    Mask &p = warp.predicates[result.parts[1].row];
    p = (p & ~warp.active) | inside;
  }
}

/// Fails unless all the lanes that a mask names are here.
static bool lanesAreHere(Warp &warp, const Operand &members) {
  const auto *mask = warp.row<uint32_t>(members);
  bool here = true;
  forLanes(warp.active, [&](unsigned lane) {
    here &= (mask[lane] & warp.live & ~warp.active) == 0;
  });
  if (!here) {
    warp.fail("the lanes that the mask names have not all come");
  }
  return here;
}

static bool decodeShuffle(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Lanes;
  i.how = uint8_t(has(modifiers, "idx")    ? Shuffle::Index
                  : has(modifiers, "bfly") ? Shuffle::Butterfly
                  : has(modifiers, "up")   ? Shuffle::Up
                                           : Shuffle::Down);
  i.convergent =
      i.operands.size() == 5 && uint32_t(i.operands[4].offset) == kAllLanes;
  i.handler = shuffle;
  return i.operands.size() == 5;
}

/// d|p, mask: p in one of the lanes, d its number.
static void elect(Warp &warp, const Instruction &i) {
  if (!lanesAreHere(warp, i.operands[1])) {
    return;
  }
  const Operand &result = i.operands[0];
  auto leader = uint32_t(std::countr_zero(warp.active));
  forLanes(warp.active, [&](unsigned lane) {
    warp.setValue(result.parts[0], lane, leader);
  });
  Mask &p = warp.predicates[result.parts[1].row];
  p = (p & ~warp.active) | 1u << leader;
}

/// d = the lanes whose predicate holds; `how` 1 of all, 2 of any.
static void vote(Warp &warp, const Instruction &i) {
  if (!lanesAreHere(warp, i.operands[2])) {
    return;
  }
  Mask yes = warp.predicate(i.operands[1]) & warp.active;
  if (i.how == 0) {
    auto *d = warp.row<uint32_t>(i.operands[0]);
    forLanes(warp.active, [&](unsigned lane) { d[lane] = yes; });
    return;
  }
  bool holds = i.how == 1 ? yes == warp.active : yes != 0;
  Mask &p = warp.predicates[i.operands[0].row];
  p = (p & ~warp.active) | (holds ? warp.active : 0);
}

//===----------------------------------------------------------------------===//
// Between address spaces
//===----------------------------------------------------------------------===//

/// d = a + or - what the window of a space begins at.
static void convertAddress(Warp &warp, const Instruction &i) {
  uint64_t window = i.space == Space::Shared  ? kSharedWindow
                    : i.space == Space::Local ? kLocalWindow
                    : i.space == Space::Param
                        ? warp.block->launch->parameterAddress
                        : 0;
  auto *d = warp.row<uint64_t>(i.operands[0]);
  const auto *a = warp.row<uint64_t>(i.operands[1]);
  bool toSpace = i.how != 0;
  forLanes(warp.active, [&](unsigned lane) {
    d[lane] = toSpace ? a[lane] - window : a[lane] + window;
  });
}

/// d = a, the same address in another workgroup of the cluster.
static void mapAddress(Warp &warp, const Instruction &i) {
  auto *d = warp.row<uint32_t>(i.operands[0]);
  forLanes(warp.active, [&](unsigned lane) {
    uint64_t rank = warp.value(i.operands[2], lane);
    if (rank >= warp.block->ranks()) {
      warp.fail("names workgroup " + llvm::Twine(rank) + " of a cluster of " +
                llvm::Twine(warp.block->ranks()));
      return;
    }
    d[lane] =
        ofRank(uint32_t(warp.value(i.operands[1], lane)), unsigned(rank) + 1);
  });
}

static bool decodeAddress(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Vector;
  i.how = has(modifiers, "to");
  i.handler = convertAddress;
  return i.type == Type::U64;
}

void modelc::ptx::addMovement(Decoders &to) {
  to["mov"] = decodeMove;
  to["shfl"] = decodeShuffle;
  to["cvta"] = decodeAddress;
  to["mapa"] = [](Instruction &i, ArrayRef<StringRef> modifiers) {
    i.kind = check::Kind::Vector;
    i.handler = mapAddress;
    return i.type == Type::U32 && has(modifiers, "shared::cluster");
  };
  to["elect"] = [](Instruction &i, ArrayRef<StringRef>) {
    i.kind = check::Kind::Lanes;
    i.convergent = true;
    i.handler = elect;
    return i.operands[0].place == Place::Tuple;
  };
  to["vote"] = [](Instruction &i, ArrayRef<StringRef> modifiers) {
    i.kind = check::Kind::Lanes;
    i.convergent = true;
    i.how = has(modifiers, "all") ? 1 : has(modifiers, "any") ? 2 : 0;
    i.handler = vote;
    return i.operands.size() == 3;
  };
}
