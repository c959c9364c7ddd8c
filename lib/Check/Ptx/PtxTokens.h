//===- PtxTokens.h - Words and signs of PTX -------------------------------===//

#ifndef LIB_CHECK_PTX_PTXTOKENS_H
#define LIB_CHECK_PTX_PTXTOKENS_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace modelc::ptx {

/// A word (with its dots, "%" and "::"), a number or one sign.
struct Token {
  llvm::StringRef text;
  uint32_t line = 0;
};

/// Cuts a text into tokens, without comments; the last is empty.
std::vector<Token> tokensOf(llvm::StringRef text);

/// Reads a number: decimal, 0x, 0f with the bits of a float, 0d of a double.
bool readNumber(llvm::StringRef text, uint64_t &value);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXTOKENS_H
