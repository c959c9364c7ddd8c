//===- Global.cpp - Loads, stores and copies of device memory -------------===//

#include "lib/Check/Machine/Access.h"
#include <cstring>

using namespace modelc::check;

static Pending &issueAccess(Wave &wave, const Instruction &i) {
  Pending &pending = issue(wave);
  pending.onVector = true;
  if (i.meaning->shape.space == Space::Flat) {
    pending.onLocal = pending.unordered = true;
  }
  return pending;
}

/// Flat accesses of shared memory: all lanes or none, and noted as such.
static bool touchFlat(Wave &wave, Pending &pending, unsigned bytes,
                      SharedUse use, LaneAddresses &lanes) {
  if (!lanes.isShared) {
    return true;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane) && lanes.at[lane]) {
      wave.fail("a flat access of both global and shared memory is not "
                "modelled");
      return false;
    }
    if (wave.isActive(lane)) {
      addRange(pending.shared, lanes.offset[lane], bytes);
    }
  }
  if (!touchShared(wave, pending, use)) {
    return false;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    lanes.at[lane] = wave.group->shared.bytes.data() + lanes.offset[lane];
  }
  return true;
}

/// The machine needs an instruction between a write of m0 and its use here.
static bool checkBaseIsSet(Wave &wave, const Instruction &i) {
  if (&i == wave.group->launch->code.data()) {
    return true;
  }
  const Instruction &before = *(&i - 1);
  if (before.operands.empty() ||
      before.operands[0].place != Operand::Place::Scalar ||
      before.operands[0].index != kM0) {
    return true;
  }
  wave.fail("copies right behind '" + before.text +
            "', expected an instruction between a write of m0 and a copy");
  return false;
}

/// Copies to shared memory: lane l's bytes to m0 + offset + l * bytes.
static void copy(Wave &wave, const Instruction &i) {
  unsigned bytes = i.meaning->shape.bytes;
  LaneAddresses from;
  if (bytes < 4) {
    return wave.fail("copies of less than 4 bytes are not modelled");
  }
  if (!checkBaseIsSet(wave, i) || !locate(wave, i, 0, bytes, false, from)) {
    return;
  }
  Pending &pending = issueAccess(wave, i);
  uint32_t base = wave.scalar[kM0] + uint32_t(i.modifiers.offset);
  if (base % bytes && base % 16) {
    return wave.fail("copies to shared address " + llvm::Twine(base) +
                     ", which is not aligned to " + llvm::Twine(bytes) +
                     " bytes");
  }
  std::vector<uint8_t> incoming;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    addRange(pending.shared, base + lane * bytes, bytes);
    if (from.at[lane]) {
      incoming.insert(incoming.end(), from.at[lane], from.at[lane] + bytes);
    } else {
      incoming.insert(incoming.end(), bytes, 0);
    }
  }
  if (!touchShared(wave, pending, {.writes = true, .copies = true}, incoming)) {
    return;
  }
  size_t at = 0;
  for (const ByteRange &range : pending.shared) {
    std::memcpy(wave.group->shared.bytes.data() + range.start, &incoming[at],
                range.bytes);
    at += range.bytes;
  }
  wave.group->launch->counts.copiedBytes += incoming.size();
}

static void load(Wave &wave, const Instruction &i) {
  if (i.modifiers.lds) {
    return copy(wave, i);
  }
  const Shape &shape = i.meaning->shape;
  LaneAddresses from;
  if (!locate(wave, i, 1, shape.bytes, false, from)) {
    return;
  }
  Pending &pending = issueAccess(wave, i);
  if (!touchFlat(wave, pending, shape.bytes, {.reads = true}, from)) {
    return;
  }
  const Operand &to = i.operands[0];
  uint32_t *row = wave.row(to.index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint32_t words[4] = {};
    if (from.at[lane]) {
      loadWords(shape, from.at[lane], words);
      wave.group->launch->counts.loadedBytes += shape.bytes;
    }
    for (unsigned w = 0; w < to.words; ++w) {
      row[w * kLanes + lane] =
          shape.half ? mergeHalf(shape, row[lane], words[0]) : words[w];
    }
  }
  ownRegisters(wave, pending, to.index, to.words);
}

static void store(Wave &wave, const Instruction &i) {
  const Shape &shape = i.meaning->shape;
  bool buffer = shape.space == Space::Buffer;
  LaneAddresses to;
  if (!locate(wave, i, buffer ? 1 : 0, shape.bytes, true, to)) {
    return;
  }
  Pending &pending = issueAccess(wave, i);
  if (!touchFlat(wave, pending, shape.bytes, {.writes = true}, to)) {
    return;
  }
  Source data = sourceOf(wave, i.operands[buffer ? 0 : 1]);
  KernelRun &launch = *wave.group->launch;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane) && to.at[lane]) {
      storeWords(shape, data, lane, to.at[lane]);
      launch.counts.storedBytes += shape.bytes;
      ++launch.stores;
    }
  }
}

static void atomic(Wave &wave, const Instruction &i) {
  const Shape &shape = i.meaning->shape;
  bool buffer = shape.space == Space::Buffer, returns = i.modifiers.returns;
  // A buffer's data is also where the old value goes.
  unsigned address = buffer || returns ? 1 : 0;
  const Operand &data = i.operands[buffer ? 0 : address + 1];
  LaneAddresses at;
  if (!locate(wave, i, address, shape.bytes, true, at)) {
    return;
  }
  Pending &pending = issueAccess(wave, i);
  if (!touchFlat(wave, pending, shape.bytes, {.reads = true, .writes = true},
                 at)) {
    return;
  }
  Source values = sourceOf(wave, data);
  uint32_t *row = wave.row(i.operands[0].index);
  unsigned words = shape.bytes / 4;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane) || !at.at[lane]) {
      continue;
    }
    Source second = values;
    second.words += size_t(words) * values.stride;
    bool pair = data.words > words;
    uint64_t old =
        applyAtomic(shape, at.at[lane], readLane<uint64_t>(values, lane),
                    pair ? readLane<uint64_t>(second, lane) : 0);
    for (unsigned w = 0; returns && w < words; ++w) {
      row[w * kLanes + lane] = uint32_t(old >> 32 * w);
    }
    ++wave.group->launch->stores;
  }
  if (returns) {
    ownRegisters(wave, pending, i.operands[0].index, words);
  }
}

namespace {
/// The spaces and how their instructions begin.
struct SpaceName {
  Space space;
  llvm::StringRef prefix;
};
} // namespace
static const SpaceName kSpaces[] = {{Space::Global, "global_"},
                                    {Space::Flat, "flat_"},
                                    {Space::Scratch, "scratch_"},
                                    {Space::Buffer, "buffer_"}};

static void addMoves(Meanings &to, const SpaceName &space) {
  auto add = [&](const llvm::Twine &name, Handler run, Shape shape) {
    shape.space = space.space;
    to[(space.prefix + name).str()] = {run, Kind::Global, shape};
  };
  const std::pair<llvm::StringRef, uint8_t> kWords[] = {
      {"dword", 4}, {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}};
  for (auto [name, bytes] : kWords) {
    add("load_" + name, load, {.bytes = bytes});
    add("store_" + name, store, {.bytes = bytes});
  }
  add("load_ubyte", load, {.bytes = 1});
  add("load_sbyte", load, {.bytes = 1, .isSigned = true});
  add("load_ushort", load, {.bytes = 2});
  add("load_sshort", load, {.bytes = 2, .isSigned = true});
  add("store_byte", store, {.bytes = 1});
  add("store_short", store, {.bytes = 2});
  for (bool high : {false, true}) {
    llvm::StringRef suffix = high ? "_d16_hi" : "_d16";
    add("load_ubyte" + suffix, load, {.bytes = 1, .half = true, .high = high});
    add("load_sbyte" + suffix, load,
        {.bytes = 1, .isSigned = true, .half = true, .high = high});
    add("load_short" + suffix, load, {.bytes = 2, .half = true, .high = high});
  }
  add("store_byte_d16_hi", store, {.bytes = 1, .high = true});
  add("store_short_d16_hi", store, {.bytes = 2, .high = true});
}

void modelc::check::addGlobalMeanings(Meanings &to) {
  for (const SpaceName &space : kSpaces) {
    addMoves(to, space);
  }
  to["global_load_lds_dword"] = {copy, Kind::Copy, {.bytes = 4}};
  to["global_load_lds_dwordx3"] = {copy, Kind::Copy, {.bytes = 12}};
  to["global_load_lds_dwordx4"] = {copy, Kind::Copy, {.bytes = 16}};
}

void modelc::check::addAtomicMeanings(Meanings &to) {
  for (const SpaceName &space : kSpaces) {
    for (const AtomicName &named : atomicNames()) {
      for (bool wide : {false, true}) {
        llvm::StringRef name = wide ? named.global64 : named.global32;
        if (name.empty() || space.space == Space::Scratch) {
          continue;
        }
        Shape shape{.bytes = uint8_t(wide ? 8 : 4)};
        shape.operation = uint8_t(named.operation);
        shape.wide = wide;
        shape.space = space.space;
        to[(space.prefix + "atomic_" + name).str()] = {atomic, Kind::Global,
                                                       shape};
      }
    }
  }
}
