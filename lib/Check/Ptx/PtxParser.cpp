//===- PtxParser.cpp - Variables, kernels and their parameters ------------===//

#include "lib/Check/Ptx/PtxParser.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc::ptx;
using llvm::StringRef;

Type modelc::ptx::typeNamed(StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("pred", Type::Predicate)
      .Cases({"b8", "u8"}, Type::U8)
      .Cases({"b16", "u16"}, Type::U16)
      .Cases({"b32", "u32"}, Type::U32)
      .Cases({"b64", "u64"}, Type::U64)
      .Case("s8", Type::S8)
      .Case("s16", Type::S16)
      .Case("s32", Type::S32)
      .Case("s64", Type::S64)
      .Case("f16", Type::F16)
      .Case("bf16", Type::Bf16)
      .Case("f16x2", Type::F16Pair)
      .Case("bf16x2", Type::Bf16Pair)
      .Case("f32", Type::F32)
      .Case("f64", Type::F64)
      .Default(Type::None);
}

unsigned modelc::ptx::bytesOf(Type type) {
  switch (type) {
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::Bf16:
    return 2;
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  default:
    return 4;
  }
}

bool Parser::fail(const llvm::Twine &message) {
  sayError(errors) << "\"" << path << "\", line " << peek().line << ": "
                   << message << "\n";
  return false;
}

bool Parser::consume(StringRef sign) {
  if (peek().text == sign) {
    ++next;
    return true;
  }
  return false;
}

bool Parser::expect(StringRef sign) {
  return consume(sign) ||
         fail("expected '" + sign + "', got '" + peek().text + "'");
}

/// `.align 16 .b8 name[64]`: shared variables get an address, others are only
/// read past.
bool Parser::parseVariable(Space space) {
  uint64_t align = 0, elements = 1;
  unsigned bytes = 4;
  while (StringRef(peek().text).starts_with(".")) {
    StringRef word = take().text;
    if (word == ".align") {
      readNumber(take().text, align);
    } else {
      bytes = bytesOf(typeNamed(word.drop_front()));
    }
  }
  StringRef name = take().text;
  bool sized = true;
  if (consume("[")) {
    sized = readNumber(peek().text, elements);
    next += sized;
    if (!expect("]")) {
      return false;
    }
  }
  while (!peek().text.empty() && peek().text != ";") {
    take(); // initial values
  }
  align = std::max<uint64_t>(align, bytes);
  if (space == Space::Shared && !sized) {
    dynamic.push_back(name.str());
    dynamicAlign = std::max(dynamicAlign, uint32_t(align));
  } else if (space == Space::Shared || space == Space::Local) {
    bool shared = space == Space::Shared;
    uint32_t &end = shared ? program.staticBytes : program.localBytes;
    uint32_t at = uint32_t(llvm::alignTo(end, align));
    variables[name] = at + (shared ? kSharedStart : 0);
    end = at + uint32_t(elements) * bytes;
  }
  return expect(";");
}

/// The dynamic part lies behind all that is declared.
bool Parser::findDynamic() {
  program.dynamicStart =
      uint32_t(llvm::alignTo(kSharedStart + program.staticBytes, dynamicAlign));
  for (const std::string &name : dynamic) {
    variables[name] = program.dynamicStart;
  }
  return true;
}

/// `.param .u64 .ptr .global .align 1 name` or `.param .align 64 .b8 name[128]`
bool Parser::parseParameters(bool wanted) {
  if (!consume("(")) {
    return true;
  }
  while (!consume(")")) {
    uint64_t align = 0, elements = 1;
    unsigned bytes = 0;
    bool pointer = false;
    while (StringRef(peek().text).starts_with(".")) {
      StringRef word = take().text;
      pointer |= word == ".ptr";
      if (word == ".align") {
        uint64_t value = 0;
        readNumber(take().text, value);
        align = pointer ? align : value; // of what it points at
      } else if (typeNamed(word.drop_front()) != Type::None) {
        bytes = bytesOf(typeNamed(word.drop_front()));
      }
    }
    if (bytes == 0) {
      return fail("expected a parameter, got '" + peek().text + "'");
    }
    StringRef name = take().text;
    if (consume("[")) {
      readNumber(take().text, elements);
      expect("]");
    }
    if (wanted) {
      uint32_t size = bytes * uint32_t(elements);
      uint32_t at = uint32_t(llvm::alignTo(program.parameterBytes,
                                           std::max<uint64_t>(align, bytes)));
      program.parameters.push_back({name.str(), at, size});
      program.parameterBytes = at + size;
      variables[name] = at;
    }
    consume(",");
  }
  return true;
}

bool Parser::parseDirectives() {
  while (StringRef(peek().text).starts_with(".")) {
    StringRef word = take().text;
    uint32_t axis = 0;
    uint64_t value = 0;
    while (readNumber(peek().text, value)) {
      take();
      if (axis < 3 && (word == ".maxntid" || word == ".reqntid")) {
        program.maxBlock[axis] = uint32_t(value);
      }
      ++axis;
      consume(",");
    }
    for (; axis && axis < 3; ++axis) {
      program.maxBlock[axis] = std::max(program.maxBlock[axis], 1u);
    }
  }
  return true;
}

void Parser::skipBody() {
  int depth = 0;
  do {
    StringRef word = take().text;
    depth += word == "{" ? 1 : word == "}" ? -1 : 0;
  } while (depth > 0 && !peek().text.empty());
}

bool Parser::parseKernel() {
  StringRef name = take().text;
  names.push_back(name.str());
  bool wanted = name == kernel;
  if (!parseParameters(wanted)) {
    return false;
  }
  if (!wanted) {
    while (!peek().text.empty() && peek().text != "{" && peek().text != ";") {
      take();
    }
    if (peek().text == "{") {
      skipBody();
    }
    return true;
  }
  found = true;
  program.name = name.str();
  if (!parseDirectives() || !findDynamic() || !parseBody()) {
    return false;
  }
  return true;
}

bool Parser::parseModule() {
  while (!peek().text.empty()) {
    StringRef word = take().text;
    if (word == ".target") {
      program.processor = take().text.str();
    } else if (word == ".shared" || word == ".global" || word == ".const") {
      if (!parseVariable(word == ".shared" ? Space::Shared : Space::Global)) {
        return false;
      }
    } else if (word == ".entry" && !parseKernel()) {
      return false;
    }
  }
  return true;
}

llvm::FailureOr<Program> Parser::run() {
  if (!parseModule()) {
    return llvm::failure();
  }
  if (!found) {
    sayError(errors) << "\"" << path << "\": expected a kernel \"" << kernel
                     << "\", got "
                     << (names.empty() ? "none" : llvm::join(names, ", "))
                     << "\n";
    return llvm::failure();
  }
  decode(program);
  return std::move(program);
}

llvm::FailureOr<Program> modelc::ptx::parseProgram(StringRef text,
                                                   StringRef path,
                                                   StringRef kernel,
                                                   llvm::raw_ostream &errors) {
  return Parser(text, path, kernel, errors).run();
}
