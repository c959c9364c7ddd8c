//===- Movement.cpp - Values that move between lanes ----------------------===//

#include "lib/Check/Machine/Lanes.h"

using namespace modelc::check;

static unsigned firstActive(const Wave &wave) {
  return wave.exec() ? unsigned(__builtin_ctzll(wave.exec())) : 0;
}

static void readFirstLane(Wave &wave, const Instruction &i) {
  Source from = sourceOf(wave, i.operands[1]);
  setScalar32(wave, i.operands[0], from.word(firstActive(wave)));
}
static void readLaneNumber(Wave &wave, const Instruction &i) {
  Source from = sourceOf(wave, i.operands[1]);
  unsigned lane = scalar32(wave, i.operands[2]) % kLanes;
  setScalar32(wave, i.operands[0], from.word(lane));
}
static void writeLaneNumber(Wave &wave, const Instruction &i) {
  unsigned lane = scalar32(wave, i.operands[2]) % kLanes;
  wave.row(i.operands[0].index)[lane] = scalar32(wave, i.operands[1]);
}

/// d = b + bits of the mask a below the lane, in one half of the lanes.
template <bool Upper>
static void countBelow(Wave &wave, const Instruction &i) {
  Source mask = sourceOf(wave, i.operands[1]);
  Source add = sourceOf(wave, i.operands[2]);
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t below = (uint64_t(1) << lane) - 1;
    uint32_t half = uint32_t(Upper ? below >> 32 : below);
    if (wave.isActive(lane)) {
      to[lane] =
          uint32_t(__builtin_popcount(mask.word(lane) & half)) + add.word(lane);
    }
  }
}

/// Swaps the odd rows of the first with the even rows of the second operand; a
/// row has Row lanes.
template <unsigned Row>
static void swapRows(Wave &wave, const Instruction &i) {
  uint32_t *first = wave.row(i.operands[0].index);
  uint32_t *second = wave.row(i.operands[1].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (lane & Row || !wave.isActive(lane) || !wave.isActive(lane + Row)) {
      continue;
    }
    std::swap(first[lane + Row], second[lane]);
  }
}

static void swapRegisters(Wave &wave, const Instruction &i) {
  uint32_t *first = wave.row(i.operands[0].index);
  uint32_t *second = wave.row(i.operands[1].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      std::swap(first[lane], second[lane]);
    }
  }
}

/// d = data of lane `from(lane)`, 0 where that lane is not active. The shared
/// memory moves it, so it is waited for like a read.
template <typename From>
static void gather(Wave &wave, const Instruction &i, const Source &data,
                   From from) {
  uint32_t values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned other = from(lane) % kLanes;
    values[lane] = wave.isActive(other) ? data.word(other) : 0;
  }
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      to[lane] = values[lane];
    }
  }
  Pending &pending = issue(wave);
  pending.onLocal = true;
  ownRegisters(wave, pending, i.operands[0].index, 1);
}

static void gatherLanes(Wave &wave, const Instruction &i) {
  Source address = sourceOf(wave, i.operands[1]);
  gather(wave, i, sourceOf(wave, i.operands[2]), [&](unsigned lane) {
    return (address.word(lane) + uint32_t(i.modifiers.offset)) / 4;
  });
}

/// The other way round: lanes say where their value goes; the highest wins.
static void scatterLanes(Wave &wave, const Instruction &i) {
  Source address = sourceOf(wave, i.operands[1]);
  Source data = sourceOf(wave, i.operands[2]);
  uint32_t values[kLanes] = {};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t to = (address.word(lane) + uint32_t(i.modifiers.offset)) / 4;
    if (wave.isActive(lane)) {
      values[to % kLanes] = data.word(lane);
    }
  }
  Source moved{values, 1, kLanes};
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (wave.isActive(lane)) {
      to[lane] = moved.word(lane);
    }
  }
  Pending &pending = issue(wave);
  pending.onLocal = true;
  ownRegisters(wave, pending, i.operands[0].index, 1);
}

/// Bits 0 to 4 keep, 5 to 9 set and 10 to 14 turn bits of the lane's number in
/// its 32; with bit 15, two bits for each lane of four.
static void swizzle(Wave &wave, const Instruction &i) {
  unsigned how = unsigned(i.immediate) & 0xFFFF;
  gather(wave, i, sourceOf(wave, i.operands[1]), [how](unsigned lane) {
    if (how & 0x8000) {
      return (lane & ~3u) + (how >> (lane & 3) * 2 & 3);
    }
    unsigned in = lane & 31;
    in = ((in & how) | (how >> 5 & 31)) ^ (how >> 10 & 31);
    return (lane & 32) + (in & 31);
  });
}

void modelc::check::addMovementMeanings(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[name] = {run, Kind::Lanes, {}};
  };
  add("v_readfirstlane_b32", readFirstLane);
  add("v_readlane_b32", readLaneNumber);
  add("v_writelane_b32", writeLaneNumber);
  add("v_mbcnt_lo_u32_b32", countBelow<false>);
  add("v_mbcnt_hi_u32_b32", countBelow<true>);
  add("v_permlane16_swap_b32", swapRows<16>);
  add("v_permlane32_swap_b32", swapRows<32>);
  add("v_swap_b32", swapRegisters);
  add("ds_bpermute_b32", gatherLanes);
  add("ds_permute_b32", scatterLanes);
  add("ds_swizzle_b32", swizzle);
}
