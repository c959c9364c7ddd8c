//===- PtxParser.h - From the text of PTX to a program --------------------===//

#ifndef LIB_CHECK_PTX_PTXPARSER_H
#define LIB_CHECK_PTX_PTXPARSER_H

#include "lib/Check/Ptx/PtxProgram.h"
#include "lib/Check/Ptx/PtxTokens.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <optional>

namespace modelc::ptx {

/// Registers and labels between two braces.
struct Scope {
  llvm::StringMap<Operand> registers;
  llvm::StringMap<uint32_t> ranges; // "%r" of "%r<5>": bytes, 0: predicates
  llvm::StringMap<uint32_t> labels; // number of the instruction
  std::vector<std::pair<uint32_t, std::string>> open; // branches to labels
};

/// Reads one module and keeps one kernel of it.
class Parser {
public:
  Parser(llvm::StringRef text, llvm::StringRef path, llvm::StringRef kernel,
         llvm::raw_ostream &errors)
      : text(text), path(path), kernel(kernel), errors(errors),
        tokens(tokensOf(text)) {}

  llvm::FailureOr<Program> run();

private:
  const Token &peek() const { return tokens[next]; }
  Token take() {
    return next + 1 < tokens.size() ? tokens[next++] : tokens[next];
  }
  bool consume(llvm::StringRef sign);
  bool expect(llvm::StringRef sign);
  bool fail(const llvm::Twine &message);

  // Of the module, PtxParser.cpp.
  bool parseModule();
  bool parseVariable(Space space);
  bool parseKernel();
  bool parseParameters(bool wanted);
  bool parseDirectives();
  void skipBody();
  bool findDynamic();

  // Of a body, PtxBody.cpp.
  bool parseBody();
  bool parseScopeEnd();
  bool parseRegisters();
  bool parseInstruction();
  bool parseGuard(Instruction &to);
  bool parseOperand(Operand &to);
  bool parseTuple(Operand &to);
  bool parseAddress(Operand &to);
  bool parsePair(Operand &to);
  bool parseName(Operand &to);
  std::optional<Operand> findRegister(llvm::StringRef name);
  std::optional<Operand> findSpecial(llvm::StringRef name);
  Operand constant(uint64_t value);
  Operand newRow(unsigned bytes);

  llvm::StringRef text, path, kernel;
  llvm::raw_ostream &errors;
  std::vector<Token> tokens;
  size_t next = 0;
  Program program;
  bool found = false;
  std::vector<std::string> names; // of all kernels
  std::vector<Scope> scopes;
  llvm::StringMap<uint64_t> variables; // addresses
  std::vector<std::string> dynamic;    // shared variables without a size
  uint32_t dynamicAlign = 16;
  std::map<uint64_t, Operand> constants;
  llvm::StringMap<Operand> specials;
};

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXPARSER_H
