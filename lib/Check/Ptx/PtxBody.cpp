//===- PtxBody.cpp - Registers, labels and instructions of a kernel -------===//
//
// Braces open a scope with registers and labels of its own: inline assembly has
// the same names again and again.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/PtxParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace modelc::ptx;
using llvm::StringRef;
using Place = Operand::Place;

Operand Parser::newRow(unsigned bytes) {
  Operand result;
  result.place = Place::Row;
  result.bytes = bytes == 8 ? 8 : 4;
  result.row = result.wideRow = program.registerWords;
  program.registerWords += kLanes * result.bytes / 4;
  return result;
}

Operand Parser::constant(uint64_t value) {
  auto [found, isNew] = constants.try_emplace(value);
  Operand &result = found->second;
  if (isNew) {
    result = newRow(4);
    result.wideRow = newRow(8).row;
    result.isConstant = true;
    result.offset = int64_t(value);
    program.presets.push_back({Special::Constant, 0, false, result.row, value});
    program.presets.push_back(
        {Special::Constant, 0, true, result.wideRow, value});
  }
  return result;
}

std::optional<Operand> Parser::findSpecial(StringRef name) {
  StringRef base = name.rsplit('.').first;
  Special special = llvm::StringSwitch<Special>(base)
                        .Case("%tid", Special::Thread)
                        .Case("%ntid", Special::BlockSize)
                        .Case("%ctaid", Special::Block)
                        .Case("%nctaid", Special::GridSize)
                        .Case("%laneid", Special::Lane)
                        .Case("%warpid", Special::Wave)
                        .Case("%lanemask_lt", Special::LanesBelow)
                        .Case("%cluster_ctarank", Special::Rank)
                        .Case("%cluster_nctarank", Special::Cluster)
                        .Case("%dynamic_smem_size", Special::DynamicBytes)
                        .Default(Special::Constant);
  if (special == Special::Constant) {
    return std::nullopt;
  }
  auto [found, isNew] = specials.try_emplace(name);
  if (isNew) {
    char axis = name.back();
    found->second = newRow(4);
    found->second.isConstant = true;
    program.presets.push_back({special,
                               uint8_t(axis == 'y'   ? 1
                                       : axis == 'z' ? 2
                                                     : 0),
                               false, found->second.row, 0});
  }
  return found->second;
}

/// Registers get a row when they are first named.
std::optional<Operand> Parser::findRegister(StringRef name) {
  for (Scope &scope : llvm::reverse(scopes)) {
    if (auto found = scope.registers.find(name);
        found != scope.registers.end()) {
      return found->second;
    }
    StringRef stem = name.rtrim("0123456789");
    auto range = scope.ranges.find(stem);
    if (range == scope.ranges.end() || stem.size() == name.size()) {
      continue;
    }
    Operand result;
    if (range->second) {
      result = newRow(range->second);
    } else {
      result.place = Place::Predicate;
      result.row = program.predicates++;
    }
    scope.registers[name] = result;
    return result;
  }
  return std::nullopt;
}

/// `.reg .b32 %r<5>;` or `.reg .pred done, p;`
bool Parser::parseRegisters() {
  Type type = typeNamed(StringRef(take().text).drop_front());
  bool isPredicate = type == Type::Predicate;
  uint32_t bytes = isPredicate ? 0 : bytesOf(type);
  do {
    StringRef name = take().text;
    if (consume("<")) {
      take();
      if (!expect(">")) {
        return false;
      }
      scopes.back().ranges[name] = bytes;
      continue;
    }
    Operand one;
    if (isPredicate) {
      one.place = Place::Predicate;
      one.row = program.predicates++;
    } else {
      one = newRow(bytes);
    }
    scopes.back().registers[name] = one;
  } while (consume(","));
  return expect(";");
}

/// A register, a special one, a variable's address, a number or a label.
bool Parser::parseName(Operand &to) {
  bool minus = consume("-");
  Token word = take();
  uint64_t value = 0;
  if (readNumber(word.text, value)) {
    to = constant(minus ? uint64_t(0) - value : value);
    return true;
  }
  if (word.text == "_") {
    to.place = Place::None;
    return true;
  }
  if (auto found = findRegister(word.text)) {
    to = *found;
    return true;
  }
  if (auto found = findSpecial(word.text)) {
    to = *found;
    return true;
  }
  if (auto found = variables.find(word.text); found != variables.end()) {
    to = constant(found->second);
    return true;
  }
  if (StringRef(word.text).starts_with("%")) {
    return fail("expected a register, got '" + word.text + "'");
  }
  to.place = Place::Label;
  to.row = uint32_t(program.code.size());
  scopes.back().open.push_back({to.row, word.text.str()});
  return true;
}

bool Parser::parseTuple(Operand &to) {
  to.place = Place::Tuple;
  while (!consume("}")) {
    if (!parseOperand(to.parts.emplace_back())) {
      return false;
    }
    consume(",");
  }
  return true;
}

/// `[base+offset]` or `[base, {coordinates}]`
bool Parser::parseAddress(Operand &to) {
  to.place = Place::Address;
  while (!consume("]")) {
    if (!parseOperand(to.parts.emplace_back())) {
      return false;
    }
    if (consume("+")) {
      bool minus = consume("-");
      uint64_t offset = 0;
      if (!readNumber(take().text, offset)) {
        return fail("expected an offset");
      }
      to.offset = minus ? -int64_t(offset) : int64_t(offset);
    }
    consume(",");
  }
  return true;
}

/// `p|q`: two results.
bool Parser::parsePair(Operand &to) {
  Operand first = to, second;
  if (!parseOperand(second)) {
    return false;
  }
  to = {};
  to.place = Place::Tuple;
  to.parts = {first, second};
  return true;
}

bool Parser::parseOperand(Operand &to) {
  if (consume("{")) {
    return parseTuple(to);
  }
  if (consume("[")) {
    return parseAddress(to);
  }
  bool negated = consume("!");
  if (!parseName(to)) {
    return false;
  }
  to.negated = negated;
  return !consume("|") || parsePair(to);
}

bool Parser::parseGuard(Instruction &to) {
  if (!consume("@")) {
    return true;
  }
  to.guardNegated = consume("!");
  auto found = findRegister(take().text);
  if (!found || found->place != Place::Predicate) {
    return fail("expected a predicate behind '@'");
  }
  to.guard = int32_t(found->row);
  return true;
}

/// All rows that an operand names and somebody writes.
static void collectRows(const Operand &operand, std::vector<uint32_t> &to) {
  if (operand.place == Place::Row && !operand.isConstant) {
    to.push_back(operand.row);
  }
  for (const Operand &part : operand.parts) {
    collectRows(part, to);
  }
}

bool Parser::parseInstruction() {
  Instruction instruction;
  const char *begin = peek().text.data();
  instruction.line = peek().line;
  if (!parseGuard(instruction)) {
    return false;
  }
  instruction.name = take().text.str();
  while (peek().text != ";" && !peek().text.empty()) {
    if (!parseOperand(instruction.operands.emplace_back())) {
      return false;
    }
    consume(",");
  }
  const char *end = peek().text.data();
  if (!expect(";")) {
    return false;
  }
  instruction.text = StringRef(begin, size_t(end - begin)).str();
  for (char &c : instruction.text) {
    c = llvm::isSpace(c) ? ' ' : c;
  }
  for (const Operand &operand : instruction.operands) {
    collectRows(operand, instruction.rows);
  }
  program.code.push_back(std::move(instruction));
  return true;
}

/// Binds branches to labels of the scope; those of outer ones are left to them.
bool Parser::parseScopeEnd() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (auto &[instruction, label] : scope.open) {
    auto found = scope.labels.find(label);
    if (found != scope.labels.end()) {
      program.code[instruction].target = found->second;
    } else if (scopes.empty()) {
      return fail("expected a label '" + label + "' in the kernel");
    } else {
      scopes.back().open.push_back({instruction, label});
    }
  }
  return true;
}

bool Parser::parseBody() {
  if (!expect("{")) {
    return false;
  }
  scopes.emplace_back();
  while (!scopes.empty()) {
    if (peek().text.empty()) {
      return fail("expected '}' at the end of the kernel");
    }
    if (consume("{")) {
      scopes.emplace_back();
    } else if (consume("}")) {
      if (!parseScopeEnd()) {
        return false;
      }
    } else if (consume(".reg")) {
      if (!parseRegisters()) {
        return false;
      }
    } else if (consume(".local") || consume(".shared")) {
      bool shared = tokens[next - 1].text == ".shared";
      if (!parseVariable(shared ? Space::Shared : Space::Local)) {
        return false;
      }
      findDynamic();
    } else if (StringRef(peek().text).starts_with(".")) {
      while (!consume(";") && !peek().text.empty()) { // .pragma, .loc
        take();
      }
    } else if (next + 1 < tokens.size() && tokens[next + 1].text == ":") {
      scopes.back().labels[take().text] = uint32_t(program.code.size());
      take();
    } else if (!parseInstruction()) {
      return false;
    }
  }
  return true;
}
