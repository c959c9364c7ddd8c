//===- Syntax.cpp - A line of assembly to operands and modifiers ----------===//

#include "lib/Check/Machine/Instruction.h"
#include "llvm/ADT/StringSwitch.h"
#include <bit>

using namespace llvm;
using namespace modelc::check;

ConstantType modelc::check::constantTypeOf(StringRef mnemonic) {
  StringRef rest = mnemonic;
  // The type of the sources is the last one named.
  while (!rest.empty()) {
    auto [front, last] = rest.rsplit('_');
    std::optional<ConstantType> type =
        StringSwitch<std::optional<ConstantType>>(last)
            .Case("f16", ConstantType::F16)
            .Case("bf16", ConstantType::Bf16)
            .Case("f64", ConstantType::F64)
            .Cases({"b64", "i64", "u64"}, ConstantType::B64)
            .Cases({"f32", "b32", "i32", "u32"}, ConstantType::F32)
            .Default(std::nullopt);
    if (type) {
      return mnemonic.starts_with("v_mfma") ? ConstantType::F32 : *type;
    }
    rest = front == rest ? "" : front;
  }
  return ConstantType::F32;
}

/// A number in both words of a constant.
static void setFloat(Operand &operand, double value, ConstantType type) {
  uint64_t wide = std::bit_cast<uint64_t>(value);
  uint32_t single = std::bit_cast<uint32_t>(float(value));
  switch (type) {
  case ConstantType::F64:
  case ConstantType::B64:
    operand.constant[0] = uint32_t(wide);
    operand.constant[1] = uint32_t(wide >> 32);
    return;
  case ConstantType::Bf16:
    operand.constant[0] = single >> 16;
    return;
  case ConstantType::F16:
    operand.constant[0] = std::bit_cast<uint16_t>(_Float16(value));
    return;
  case ConstantType::F32:
    operand.constant[0] = single;
  }
}

static bool parseConstant(StringRef text, ConstantType type, Operand &to) {
  to.place = Operand::Place::Constant;
  int64_t number;
  double real;
  if (text.consume_front("lit(") || text.consume_front("lit64(")) {
    text.consume_back(")");
  }
  if (text.starts_with("0x") && !text.getAsInteger(0, number)) {
    bool highHalf = type == ConstantType::F64;
    to.constant[highHalf ? 1 : 0] = uint32_t(number);
    if (!highHalf) {
      to.constant[1] = uint32_t(number >> 32);
    }
    return true;
  }
  if (!text.getAsInteger(10, number)) {
    to.constant[0] = uint32_t(number);
    to.constant[1] = uint32_t(number >> 32);
    return true;
  }
  if (!text.getAsDouble(real)) {
    setFloat(to, real, type);
    return true;
  }
  return false;
}

/// `7` or `[4:7]`.
static bool parseRange(StringRef text, unsigned &first, unsigned &count) {
  count = 1;
  if (!text.consume_front("[")) {
    return !text.getAsInteger(10, first);
  }
  unsigned last;
  if (text.consumeInteger(10, first)) {
    return false;
  }
  if (text.consume_front("]")) {
    return true;
  }
  if (!text.consume_front(":") || text.consumeInteger(10, last)) {
    return false;
  }
  count = last - first + 1;
  return true;
}

static bool parseRegister(StringRef text, Operand &to) {
  struct Named {
    StringRef name;
    unsigned index, words;
  };
  static const Named kNamed[] = {
      {"vcc", kVcc, 2},
      {"vcc_lo", kVcc, 1},
      {"vcc_hi", kVcc + 1, 1},
      {"exec", kExec, 2},
      {"exec_lo", kExec, 1},
      {"exec_hi", kExec + 1, 1},
      {"m0", kM0, 1},
      {"flat_scratch", kFlatScratch, 2},
      {"flat_scratch_lo", kFlatScratch, 1},
      {"flat_scratch_hi", kFlatScratch + 1, 1},
      {"src_shared_base", kSharedBase, 2},
      {"src_private_base", kPrivateBase, 2},
  };
  for (const Named &named : kNamed) {
    if (text == named.name) {
      to.place = Operand::Place::Scalar;
      to.index = uint16_t(named.index);
      to.words = uint8_t(named.words);
      return true;
    }
  }
  unsigned first, count;
  char file = text.empty() ? 0 : text.front();
  if ((file != 'v' && file != 'a' && file != 's') ||
      !parseRange(text.drop_front(), first, count)) {
    return false;
  }
  to.place = file == 's' ? Operand::Place::Scalar : Operand::Place::Vector;
  to.index = uint16_t(first + (file == 'a' ? kAccumulation : 0));
  to.words = uint8_t(count);
  return true;
}

static bool parseOperand(StringRef text, ConstantType type, Operand &to) {
  if (text == "off") {
    return true;
  }
  if (text.consume_front("sext(")) {
    text.consume_back(")");
    to.signExtend = true;
  }
  if (text.consume_front("neg(")) {
    text.consume_back(")");
    to.negate = true;
  }
  if (text.starts_with("-v") || text.starts_with("-s") ||
      text.starts_with("-a") || text.starts_with("-|")) {
    text = text.drop_front();
    to.negate = true;
  }
  if (text.consume_front("|")) {
    text.consume_back("|");
    to.absolute = true;
  }
  if (text.consume_front("abs(")) {
    text.consume_back(")");
    to.absolute = true;
  }
  return parseRegister(text, to) || parseConstant(text, type, to);
}

/// `[0,1,1]` as bits, the first lowest.
static uint8_t parseBits(StringRef list) {
  uint8_t bits = 0;
  unsigned at = 0;
  for (char c : list) {
    if (c == '0' || c == '1') {
      bits |= uint8_t((c == '1') << at++);
    }
  }
  return bits;
}

static int32_t toInteger(StringRef text) {
  int64_t value = 0;
  text.getAsInteger(0, value);
  return int32_t(value);
}

static Part parsePart(StringRef text) {
  return StringSwitch<Part>(text)
      .Case("BYTE_0", Part::Byte0)
      .Case("BYTE_1", Part::Byte1)
      .Case("BYTE_2", Part::Byte2)
      .Case("BYTE_3", Part::Byte3)
      .Case("WORD_0", Part::Word0)
      .Case("WORD_1", Part::Word1)
      .Default(Part::Dword);
}

/// Movement between lanes. False if the word is none of it.
static bool parseMovement(StringRef key, StringRef value, Movement &to) {
  using How = Movement::How;
  How how = StringSwitch<How>(key)
                .Case("quad_perm", How::Quad)
                .Case("row_shl", How::ShiftLeft)
                .Case("row_shr", How::ShiftRight)
                .Case("row_ror", How::RotateRight)
                .Case("wave_shl", How::WaveShiftLeft)
                .Case("wave_shr", How::WaveShiftRight)
                .Case("wave_rol", How::WaveRotateLeft)
                .Case("wave_ror", How::WaveRotateRight)
                .Case("row_mirror", How::Mirror)
                .Case("row_half_mirror", How::HalfMirror)
                .Case("row_newbcast", How::NewBroadcast)
                .Case("row_bcast",
                      value == "15" ? How::Broadcast15 : How::Broadcast31)
                .Default(How::None);
  if (how == How::Quad) {
    unsigned at = 0;
    for (char c : value) {
      if (c >= '0' && c <= '3') {
        to.amount |= uint8_t((c - '0') << at);
        at += 2;
      }
    }
  } else if (how != How::None) {
    to.amount = uint8_t(toInteger(value));
  } else if (key == "row_mask") {
    to.rowMask = uint8_t(toInteger(value));
  } else if (key == "bank_mask") {
    to.bankMask = uint8_t(toInteger(value));
  } else if (key == "bound_ctrl") {
    to.zeroOutside = true;
  } else {
    return false;
  }
  if (how != How::None) {
    to.how = how;
  }
  return true;
}

static bool parseParts(StringRef key, StringRef value, Instruction &to) {
  using Unused = Instruction::Unused;
  if (key == "src0_sel") {
    to.part0 = parsePart(value);
  } else if (key == "src1_sel") {
    to.part1 = parsePart(value);
  } else if (key == "dst_sel") {
    to.partTo = parsePart(value);
  } else if (key == "dst_unused") {
    to.unused = StringSwitch<Unused>(value)
                    .Case("UNUSED_SEXT", Unused::Sign)
                    .Case("UNUSED_PRESERVE", Unused::Preserve)
                    .Default(Unused::Pad);
  } else {
    return false;
  }
  to.parts = true;
  return true;
}

static bool parseFlag(StringRef key, Modifiers &to) {
  if (key == "clamp") {
    to.clamp = true;
  } else if (key == "offen") {
    to.offen = true;
  } else if (key == "idxen") {
    to.idxen = true;
  } else if (key == "lds") {
    to.lds = true;
  } else if (key == "sc0" || key == "glc") {
    to.returns = true;
  } else {
    // How caches are used changes no value.
    return key == "sc1" || key == "nt" || key == "gds" || key == "slc";
  }
  return true;
}

static bool parseNumber(StringRef key, StringRef value, Modifiers &to) {
  if (key == "offset") {
    to.offset = toInteger(value); // of a swizzle: see Instruction::immediate
  } else if (key == "offset0") {
    to.offset0 = toInteger(value);
  } else if (key == "offset1") {
    to.offset1 = toInteger(value);
  } else if (key == "op_sel") {
    to.select = parseBits(value);
  } else if (key == "op_sel_hi") {
    to.selectHigh = parseBits(value);
  } else if (key == "neg_lo") {
    to.negateLow = parseBits(value);
  } else if (key == "neg_hi") {
    to.negateHigh = parseBits(value);
  } else if (key == "mul") {
    to.multiplier = float(toInteger(value));
  } else if (key == "div") {
    to.multiplier = 1.0f / float(toInteger(value));
  } else if (key == "cbsz") {
    to.formatA = uint8_t(toInteger(value));
  } else if (key == "blgp") {
    to.formatB = uint8_t(toInteger(value));
  } else if (key == "abid") {
    to.broadcast = uint8_t(toInteger(value));
  } else if (key == "bitop3") {
    to.truth = uint8_t(toInteger(value));
  } else {
    return false;
  }
  return true;
}

bool modelc::check::parseInstruction(StringRef line, Instruction &to) {
  auto [mnemonic, rest] = line.split(' ');
  to.name = mnemonic.str();
  if (mnemonic == "s_waitcnt" || mnemonic == "s_branch" ||
      mnemonic.starts_with("s_cbranch") || mnemonic == "s_nop" ||
      mnemonic == "buffer_inv" || mnemonic == "buffer_wbl2") {
    return true; // the immediate says all that matters
  }
  StringRef bare = mnemonic;
  for (StringRef suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
    bare.consume_back(suffix);
  }
  ConstantType type = constantTypeOf(bare);
  bool understood = true, operands = true;
  SmallVector<StringRef> words;
  rest.split(words, ' ', -1, false);
  for (StringRef word : words) {
    if (operands) {
      operands = word.consume_back(",");
      understood &= parseOperand(word, type, to.operands.emplace_back());
      continue;
    }
    auto [key, value] = word.split(':');
    understood &= parseFlag(word, to.modifiers) ||
                  parseNumber(key, value, to.modifiers) ||
                  parseMovement(key, value, to.movement) ||
                  parseParts(key, value, to);
  }
  return understood;
}
