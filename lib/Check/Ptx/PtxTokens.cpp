#include "lib/Check/Ptx/PtxTokens.h"
#include "llvm/ADT/StringExtras.h"

using namespace modelc::ptx;
using llvm::StringRef;

static bool isWordStart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/// Words go on over "::" of modifiers, but not over the ":" of a label.
static size_t endOfWord(StringRef text, size_t at) {
  while (at < text.size()) {
    if (isWordStart(text[at])) {
      ++at;
    } else if (text.substr(at).starts_with("::")) {
      at += 2;
    } else {
      break;
    }
  }
  return at;
}

static size_t endOfComment(StringRef text, size_t at) {
  StringRef end = text[at + 1] == '/' ? "\n" : "*/";
  size_t found = text.find(end, at + 2);
  return found == StringRef::npos ? text.size() : found + end.size();
}

std::vector<Token> modelc::ptx::tokensOf(StringRef text) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    StringRef rest = text.substr(at);
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      end = endOfComment(text, at);
    } else if (text[at] == '"') {
      end = std::min(text.find('"', at + 1), text.size() - 1) + 1;
      tokens.push_back({text.slice(at, end), line});
    } else if (isWordStart(text[at])) {
      end = endOfWord(text, at);
      tokens.push_back({text.slice(at, end), line});
    } else if (!llvm::isSpace(text[at])) {
      tokens.push_back({text.slice(at, end), line});
    }
    line += uint32_t(text.slice(at, end).count('\n'));
    at = end;
  }
  tokens.push_back({"", line});
  return tokens;
}

bool modelc::ptx::readNumber(StringRef text, uint64_t &value) {
  if (text.starts_with("0f") || text.starts_with("0F") ||
      text.starts_with("0d") || text.starts_with("0D")) {
    return !text.drop_front(2).getAsInteger(16, value);
  }
  text.consume_back("U");
  return !text.getAsInteger(0, value);
}
