//===- Lanes.cpp - Sources with their modifiers; scalar operands ----------===//

#include "lib/Check/Machine/Lanes.h"
#include <optional>

using namespace modelc::check;

static const uint32_t kZeros[2] = {0, 0};

Source modelc::check::sourceOf(Wave &wave, const Operand &operand) {
  Source source;
  switch (operand.place) {
  case Operand::Place::Vector:
    source.words = wave.row(operand.index);
    source.step = 1;
    source.stride = kLanes;
    break;
  case Operand::Place::Scalar:
    source.words = &wave.scalar[operand.index];
    break;
  case Operand::Place::Constant:
    source.words = operand.constant;
    break;
  case Operand::Place::None:
    source.words = kZeros;
  }
  if (operand.absolute) {
    source.keep = 0x7FFFFFFF;
  }
  if (operand.negate) {
    source.flip = 0x80000000;
  }
  return source;
}

/// The lane that a lane's value comes from, if there is one.
static std::optional<unsigned> movedFrom(const Movement &movement,
                                         unsigned lane) {
  using How = Movement::How;
  unsigned row = lane & ~15u, at = lane & 15, n = movement.amount;
  auto within = [](bool inside, unsigned from) -> std::optional<unsigned> {
    return inside ? std::optional(from) : std::nullopt;
  };
  switch (movement.how) {
  case How::Quad:
    return (lane & ~3u) + (n >> (lane & 3) * 2 & 3);
  case How::ShiftLeft:
    return within(at + n < 16, lane + n);
  case How::ShiftRight:
    return within(at >= n, lane - n);
  case How::RotateRight:
    return row + ((at + 16 - n) & 15);
  case How::WaveShiftLeft:
    return within(lane + 1 < kLanes, lane + 1);
  case How::WaveShiftRight:
    return within(lane >= 1, lane - 1);
  case How::WaveRotateLeft:
    return (lane + 1) % kLanes;
  case How::WaveRotateRight:
    return (lane + kLanes - 1) % kLanes;
  case How::Mirror:
    return row + 15 - at;
  case How::HalfMirror:
    return (lane & ~7u) + 7 - (lane & 7);
  case How::Broadcast15:
    return within(lane >= 16, row - 1);
  case How::Broadcast31:
    return within(lane >= 32, 31);
  case How::NewBroadcast:
    return row + n;
  case How::None:
    return lane;
  }
  return lane;
}

/// Replaces source 0 by its moved values; lanes that get none are not active.
static void moveLanes(Wave &wave, const Movement &movement, unsigned words,
                      Staged &staged) {
  const Source from = staged.sources[0];
  uint64_t exec = wave.exec(), active = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    std::optional<unsigned> other = movedFrom(movement, lane);
    bool there = other && (exec >> *other & 1);
    bool selected = (movement.rowMask >> lane / 16 & 1) &&
                    (movement.bankMask >> lane % 16 / 4 & 1);
    if (selected && (there || movement.zeroOutside)) {
      active |= uint64_t(1) << lane;
    }
    for (unsigned w = 0; w < words; ++w) {
      staged.moved[0][w * kLanes + lane] = there ? from.word(*other, w) : 0;
    }
  }
  staged.sources[0].words = staged.moved[0];
  staged.sources[0].step = 1;
  staged.sources[0].stride = kLanes;
  staged.active &= active;
}

static uint32_t takePart(uint32_t word, Part part, bool isSigned) {
  if (part == Part::Dword) {
    return word;
  }
  bool byte = part <= Part::Byte3;
  unsigned shift =
      byte ? 8 * unsigned(part) : 16 * (unsigned(part) - unsigned(Part::Word0));
  word >>= shift;
  if (byte) {
    return isSigned ? uint32_t(int32_t(int8_t(word))) : word & 0xFF;
  }
  return isSigned ? uint32_t(int32_t(int16_t(word))) : word & 0xFFFF;
}

static void takeParts(const Instruction &instruction, unsigned first,
                      unsigned count, Staged &staged) {
  Part parts[2] = {instruction.part0, instruction.part1};
  for (unsigned s = 0; s < std::min(count, 2u); ++s) {
    Source &source = staged.sources[s];
    bool isSigned = instruction.operands[first + s].signExtend;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      staged.moved[s][lane] = takePart(source.word(lane), parts[s], isSigned);
    }
    source.words = staged.moved[s];
    source.step = 1;
  }
}

void modelc::check::stage(Wave &wave, const Instruction &instruction,
                          unsigned first, unsigned count, unsigned words,
                          Staged &staged) {
  staged.active = wave.exec();
  for (unsigned s = 0; s < count; ++s) {
    staged.sources[s] = sourceOf(wave, instruction.operands[first + s]);
    staged.sources[s].shift = instruction.modifiers.select >> s & 1 ? 16 : 0;
  }
  if (instruction.movement.how != Movement::How::None) {
    moveLanes(wave, instruction.movement, words, staged);
  }
  if (instruction.parts) {
    takeParts(instruction, first, count, staged);
  }
}

uint32_t modelc::check::mergeParts(const Instruction &instruction, uint32_t old,
                                   uint32_t value) {
  if (!instruction.parts) {
    // A 16-bit result goes to the half that op_sel says for the destination,
    // which comes behind the sources.
    unsigned destination = unsigned(instruction.operands.size()) - 1;
    bool high = instruction.modifiers.select >> destination & 1;
    return high ? (old & 0xFFFF) | value << 16 : value;
  }
  if (instruction.partTo == Part::Dword) {
    return value;
  }
  bool byte = instruction.partTo <= Part::Byte3;
  unsigned shift =
      byte ? 8 * unsigned(instruction.partTo)
           : 16 * (unsigned(instruction.partTo) - unsigned(Part::Word0));
  uint32_t mask = (byte ? 0xFFu : 0xFFFFu) << shift;
  uint32_t placed = value << shift & mask;
  if (instruction.unused == Instruction::Unused::Preserve) {
    return (old & ~mask) | placed;
  }
  if (instruction.unused == Instruction::Unused::Sign) {
    unsigned left = 32 - shift - (byte ? 8 : 16);
    return uint32_t(int32_t(placed << left) >> left);
  }
  return placed;
}

uint32_t modelc::check::scalar32(Wave &wave, const Operand &operand) {
  return operand.place == Operand::Place::Scalar ? wave.scalar[operand.index]
                                                 : operand.constant[0];
}

uint64_t modelc::check::scalar64(Wave &wave, const Operand &operand) {
  if (operand.place == Operand::Place::Scalar) {
    return wave.pair(operand.index);
  }
  return operand.constant[0] | uint64_t(operand.constant[1]) << 32;
}

void modelc::check::setScalar32(Wave &wave, const Operand &operand,
                                uint32_t value) {
  wave.scalar[operand.index] = value;
}

void modelc::check::setScalar64(Wave &wave, const Operand &operand,
                                uint64_t value) {
  wave.setPair(operand.index, value);
}

const Meanings &modelc::check::meanings() {
  static const Meanings all = [] {
    Meanings made;
    addScalarMeanings(made);
    addScalarMemoryMeanings(made);
    addControlMeanings(made);
    addFloatMeanings(made);
    addIntegerMeanings(made);
    addCarryMeanings(made);
    addCompareMeanings(made);
    addPackedMeanings(made);
    addConvertMeanings(made);
    addMovementMeanings(made);
    addMatrixMeanings(made);
    addSharedMeanings(made);
    addGlobalMeanings(made);
    addAtomicMeanings(made);
    return made;
  }();
  return all;
}
