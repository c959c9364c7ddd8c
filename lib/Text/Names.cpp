#include "lib/Text/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include <cassert>

namespace modelc {

//===----------------------------------------------------------------------===//
// Literals and comments
//===----------------------------------------------------------------------===//

/// Three octal digits: more of them never belong to the same character, as they
/// would behind a "\x".
static std::string octal(unsigned char c) {
  return {'\\', char('0' + (c >> 6)), char('0' + (c >> 3 & 7)),
          char('0' + (c & 7))};
}

/// The text between quotes.
static std::string escaped(llvm::StringRef text) {
  std::string result;
  char before = 0;
  for (char c : text) {
    const bool isTrigraph = c == '?' && before == '?';
    if (c == '"' || c == '\\' || isTrigraph) {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else {
      result += llvm::isPrint(c) ? std::string(1, c) : octal(c);
    }
    before = c;
  }
  return result;
}

std::string cString(llvm::StringRef text) {
  return "\"" + escaped(text) + "\"";
}

/// The text for the inside of a comment, on one line.
static std::string inComment(llvm::StringRef text) {
  std::string result;
  char before = 0;
  for (char c : escaped(text)) {
    // "*/" ends a comment, and "/*" in one is a warning.
    const bool isEdge =
        (c == '/' && before == '*') || (c == '*' && before == '/');
    result += isEdge ? std::string{'\\', c} : std::string(1, c);
    before = c;
  }
  if (!result.empty() && result.back() == '\\') {
    result.pop_back();
    result += octal('\\');
  }
  return result;
}

std::string lineComment(const llvm::Twine &text) {
  return "// " + inComment(text.str());
}

std::string blockComment(llvm::ArrayRef<std::string> lines) {
  std::string text =
      "/* " + llvm::join(llvm::map_range(lines, inComment), "\n * ");
  return text + (lines.size() > 1 ? "\n */\n" : " */\n");
}

std::string cInclude(llvm::StringRef path) {
  assert(llvm::all_of(path, llvm::isPrint) && !path.contains('"') &&
         "paths of preludes and symbols are checked where they enter");
  return ("#include \"" + path + "\"\n").str();
}

std::string tomlString(llvm::StringRef text) {
  std::string valid = llvm::json::fixUTF8(text), result = "\"";
  for (char c : valid) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (code < 0x20 || code == 0x7f) {
      result += "\\u00" + llvm::utohexstr(code, /*LowerCase=*/false, 2);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string oneLine(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool isControl = code < 0x20 || code == 0x7f;
    result += c == '\n'   ? "\\n"
              : isControl ? "\\x" + llvm::utohexstr(code, false, 2)
                          : std::string(1, c);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Names of C++
//===----------------------------------------------------------------------===//

/// Words of C and C++, and macros in small letters that headers or compilers
/// bring along.
static constexpr llvm::StringLiteral kWords =
    "alignas alignof and and_eq asm assert auto bitand bitor bool break case "
    "catch char char8_t char16_t char32_t class co_await co_return co_yield "
    "compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum errno explicit "
    "export extern false float for friend goto i386 if inline int linux long "
    "major makedev minor mutable namespace new noexcept not not_eq nullptr "
    "offsetof operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return setjmp short signed sizeof "
    "static static_assert static_cast stderr stdin stdout struct switch "
    "template this thread_local throw true try typedef typeid typename typeof "
    "union unix unsigned using va_arg va_copy va_end va_start virtual void "
    "volatile wchar_t while xor xor_eq";

static bool isWord(llvm::StringRef text) {
  static const llvm::StringSet<> words = [] {
    llvm::StringSet<> set;
    for (llvm::StringRef word : llvm::split(kWords, ' ')) {
      set.insert(word);
    }
    return set;
  }();
  return words.contains(text);
}

bool isName(llvm::StringRef text) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text, isPart) && !isWord(text);
}

std::string nameFrom(llvm::StringRef text) {
  std::string name;
  for (char c : text) {
    // Two '_' side by side are the compiler's, as is one in front.
    const char next = llvm::isAlnum(c) ? c : '_';
    if (next != '_' || (!name.empty() && name.back() != '_')) {
      name += next;
    }
  }
  if (name.empty() || llvm::isDigit(name[0])) {
    name = "n" + name;
  }
  // A macro of the language's headers.
  const bool isLoud = name.size() > 1 && llvm::none_of(name, llvm::isLower);
  name = isLoud ? llvm::StringRef(name).lower() : name;
  return isWord(name) ? name + "_" : name;
}

} // namespace modelc
