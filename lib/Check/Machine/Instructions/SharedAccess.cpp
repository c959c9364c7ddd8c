//===- SharedAccess.cpp - Instructions of shared memory -------------------===//

#include "lib/Check/Machine/Access.h"
#include "lib/Check/Machine/Lanes.h"
#include <cstring>

using namespace modelc::check;

static uint32_t accessOffset(const Instruction &i, unsigned access) {
  const Shape &shape = i.meaning->shape;
  if (shape.accesses == 1) {
    return uint32_t(i.modifiers.offset);
  }
  return uint32_t(access ? i.modifiers.offset1 : i.modifiers.offset0) *
         shape.offsetUnit;
}

/// Notes the bytes of all active lanes; false after a failure.
static bool touch(Wave &wave, const Instruction &i, const Source &address,
                  SharedUse use) {
  const Shape &shape = i.meaning->shape;
  Pending &pending = issue(wave);
  pending.onLocal = true;
  Counts &counts = wave.group->launch->counts;
  for (unsigned access = 0; access < shape.accesses; ++access) {
    uint32_t starts[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      starts[lane] = address.word(lane) + accessOffset(i, access);
      if (!wave.isActive(lane)) {
        starts[lane] = kNowhere;
        continue;
      }
      if (starts[lane] % std::min<unsigned>(shape.bytes, 4)) {
        wave.fail("shared address " + llvm::Twine(starts[lane]) +
                  " is not aligned to " + llvm::Twine(shape.bytes) + " bytes");
        return false;
      }
      addRange(pending.shared, starts[lane], shape.bytes);
      (use.writes ? counts.sharedWrittenBytes : counts.sharedReadBytes) +=
          shape.bytes;
    }
    countBanks(counts, wave.group->launch->target,
               use.writes ? "write" : "read", shape.bytes, starts);
  }
  return touchShared(wave, pending, use);
}

/// d, address
static void read(Wave &wave, const Instruction &i) {
  const Shape &shape = i.meaning->shape;
  Source address = sourceOf(wave, i.operands[1]);
  if (!touch(wave, i, address, {.reads = true})) {
    return;
  }
  const uint8_t *memory = wave.group->shared.bytes.data();
  const Operand &to = i.operands[0];
  uint32_t *row = wave.row(to.index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint32_t start = address.word(lane); // the destination may be the address
    uint32_t words[8] = {};
    for (unsigned access = 0; access < shape.accesses; ++access) {
      loadWords(shape, memory + start + accessOffset(i, access),
                words + access * shape.bytes / 4);
    }
    for (unsigned w = 0; w < to.words; ++w) {
      row[w * kLanes + lane] =
          shape.half ? mergeHalf(shape, row[lane], words[0]) : words[w];
    }
  }
  ownRegisters(wave, wave.pending.back(), to.index, to.words);
}

/// address, data, [data]
static void write(Wave &wave, const Instruction &i) {
  const Shape &shape = i.meaning->shape;
  Source address = sourceOf(wave, i.operands[0]);
  if (!touch(wave, i, address, {.writes = true})) {
    return;
  }
  uint8_t *memory = wave.group->shared.bytes.data();
  for (unsigned access = 0; access < shape.accesses; ++access) {
    Source data = sourceOf(wave, i.operands[1 + access]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (wave.isActive(lane)) {
        storeWords(shape, data, lane,
                   memory + address.word(lane) + accessOffset(i, access));
      }
    }
  }
}

/// d, address: of 16 lanes, lane l gets column l of a tile of 4 rows of 16
/// columns of 16 bits, or 8 rows of 8 bits; a row lies in 4 or 2 lanes.
template <unsigned Bits>
static void readTransposed(Wave &wave, const Instruction &i) {
  constexpr unsigned kRows = 64 / Bits, kLanesOfRow = 16 / kRows;
  Source address = sourceOf(wave, i.operands[1]);
  if (wave.exec() != ~uint64_t(0)) {
    return wave.fail("a transposed read with lanes that are not active");
  }
  if (!touch(wave, i, address, {.reads = true})) {
    return;
  }
  const uint8_t *memory = wave.group->shared.bytes.data();
  uint64_t in[kLanes], out[kLanes] = {};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    std::memcpy(&in[lane], memory + address.word(lane) + i.modifiers.offset, 8);
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned column = lane % 16;
    for (unsigned row = 0; row < kRows; ++row) {
      uint64_t from = in[(lane & ~15u) + row * kLanesOfRow + column / kRows];
      uint64_t number = from >> column % kRows * Bits & ((1u << Bits) - 1);
      out[lane] |= number << row * Bits;
    }
  }
  uint32_t *row = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    row[lane] = uint32_t(out[lane]);
    row[kLanes + lane] = uint32_t(out[lane] >> 32);
  }
  ownRegisters(wave, wave.pending.back(), i.operands[0].index, 2);
}

/// [d,] address, data, [second data]
static void atomic(Wave &wave, const Instruction &i) {
  const Shape &shape = i.meaning->shape;
  unsigned first = shape.returns ? 1 : 0;
  Source address = sourceOf(wave, i.operands[first]);
  if (!touch(wave, i, address, {.reads = true, .writes = true})) {
    return;
  }
  Source data = sourceOf(wave, i.operands[first + 1]);
  Source second = i.operands.size() > first + 2
                      ? sourceOf(wave, i.operands[first + 2])
                      : data;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!wave.isActive(lane)) {
      continue;
    }
    uint8_t *at = wave.group->shared.bytes.data() + address.word(lane) +
                  accessOffset(i, 0);
    uint64_t old = applyAtomic(shape, at, readLane<uint64_t>(data, lane),
                               readLane<uint64_t>(second, lane));
    if (shape.returns) {
      uint32_t *row = wave.row(i.operands[0].index);
      row[lane] = uint32_t(old);
      if (shape.wide) {
        row[kLanes + lane] = uint32_t(old >> 32);
      }
    }
  }
  if (shape.returns) {
    ownRegisters(wave, wave.pending.back(), i.operands[0].index,
                 i.operands[0].words);
  }
}

static void addAtomics(Meanings &to) {
  for (const AtomicName &named : atomicNames()) {
    for (bool wide : {false, true}) {
      std::string type =
          wide ? named.sharedType64.str() : named.sharedType32.str();
      if (type.empty()) {
        continue;
      }
      Shape shape{.bytes = uint8_t(wide ? 8 : 4)};
      shape.operation = uint8_t(named.operation);
      shape.wide = wide;
      std::string name = ("ds_" + named.shared + "_").str();
      to[name + type] = {atomic, Kind::Shared, shape};
      shape.returns = true;
      to[name + "rtn_" + type] = {atomic, Kind::Shared, shape};
    }
  }
}

void modelc::check::addSharedMeanings(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run, Shape shape) {
    to[name] = {run, Kind::Shared, shape};
  };
  for (unsigned bytes : {4u, 8u, 12u, 16u}) {
    std::string bits = "_b" + std::to_string(bytes * 8);
    add("ds_read" + bits, read, {.bytes = uint8_t(bytes)});
    add("ds_write" + bits, write, {.bytes = uint8_t(bytes)});
  }
  for (unsigned bytes : {4u, 8u}) {
    std::string bits = "_b" + std::to_string(bytes * 8);
    for (bool far : {false, true}) {
      std::string two = far ? "2st64" : "2";
      Shape shape{.bytes = uint8_t(bytes), .accesses = 2};
      shape.offsetUnit = uint16_t(far ? 64 * bytes : bytes);
      add("ds_read" + two + bits, read, shape);
      add("ds_write" + two + bits, write, shape);
    }
  }
  for (bool high : {false, true}) {
    llvm::StringRef suffix = high ? "_d16_hi" : "_d16";
    for (unsigned bytes : {1u, 2u}) {
      Shape shape{.bytes = uint8_t(bytes), .half = true, .high = high};
      std::string letters = bytes == 1 ? "8" : "16";
      add(("ds_read_u" + letters + suffix).str(), read, shape);
      add(("ds_write_b" + letters + (high ? "_d16_hi" : "")), write, shape);
      shape.isSigned = true;
      add(("ds_read_i" + letters + suffix).str(), read, shape);
    }
  }
  for (unsigned bytes : {1u, 2u}) {
    std::string letters = bytes == 1 ? "8" : "16";
    add("ds_read_u" + letters, read, {.bytes = uint8_t(bytes)});
    add("ds_read_i" + letters, read,
        {.bytes = uint8_t(bytes), .isSigned = true});
  }
  add("ds_read_b64_tr_b16", readTransposed<16>, {.bytes = 8});
  add("ds_read_b64_tr_b8", readTransposed<8>, {.bytes = 8});
  addAtomics(to);
}
