//===- Bounds.cpp - What a text holds, before a parser goes there ---------===//
//
// The parsers of TOML and of the IR call themselves for what stands in
// brackets, and so does what walks the result. A text is scanned first: one
// that is deeper than any real one is a mistake at the first bracket too many.
// A part of a dotted key is a level as a bracket is (a.b = 1 is a = { b = 1 }),
// and in the IR a name of an attribute or a type (#a = [#b]) and a sign (- -
// d0).
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Support.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace modelc {

/// Of one number; a double has 767 at most.
static constexpr size_t kMostDigits = 1000;
/// Of one vector, as a thread holds it in registers.
static constexpr uint64_t kMostElements = 1 << 16;

namespace {
class BoundsScanner {
public:
  BoundsScanner(const SourceFile &file, Syntax syntax, llvm::raw_ostream &os)
      : file(file), text(file.text()), isIr(syntax == Syntax::Ir), os(os) {}
  llvm::LogicalResult scan();

private:
  /// One that is open, and the levels that it and the key before it are.
  struct Bracket {
    char closer;
    unsigned levels;
  };

  llvm::LogicalResult fail(size_t place, const llvm::Twine &message);
  void skipComment();
  void skipString();
  void step();
  void close(char closer);
  void readAlias();
  llvm::LogicalResult readWord();
  llvm::StringRef wordAt(size_t from) const;

  const SourceFile &file;
  llvm::StringRef text;
  bool isIr;
  llvm::raw_ostream &os;
  size_t at = 0;
  llvm::SmallVector<Bracket> open;
  unsigned depth = 0;                ///< levels of all that is open
  unsigned values = 0;               ///< of a table or an array
  unsigned prefixes = 0;             ///< dots of a key, signs of an expression
  unsigned deepest = 0;              ///< since the last definition of an alias
  llvm::StringRef defined;           ///< the alias of that: "#a"
  llvm::StringMap<unsigned> aliases; ///< how deep each is
};
} // namespace

void BoundsScanner::skipComment() {
  at = std::min(text.find('\n', at), text.size());
}

/// TOML has strings without escapes, and those of three quotes.
void BoundsScanner::skipString() {
  char quote = text[at];
  size_t length = 1;
  if (!isIr && text.substr(at, 3) == std::string(3, quote)) {
    length = 3;
  }
  llvm::StringRef end = text.substr(at, length);
  for (at += length; at < text.size(); ++at) {
    if (text.substr(at).starts_with(end)) {
      at += length;
      return;
    }
    if (length == 1 && text[at] == '\n') {
      return; // the parser says so
    }
    at += quote == '"' && text[at] == '\\';
  }
}

llvm::StringRef BoundsScanner::wordAt(size_t from) const {
  return text.substr(from).take_while([](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_$.-").contains(c);
  });
}

/// A name stands for all that it was defined as: what follows its '=', up to
/// the next definition.
void BoundsScanner::readAlias() {
  llvm::StringRef name = text.substr(at, 1 + wordAt(at + 1).size());
  at += name.size();
  if (open.empty() && text.substr(at).ltrim(" \n").starts_with("=")) {
    aliases[defined] = deepest + 1;
    defined = name;
    deepest = 0;
  } else if (auto known = aliases.find(name); known != aliases.end()) {
    deepest = std::max(deepest, depth + known->second);
  }
}

/// Closes what is open up to the bracket that it belongs to, if there is one:
/// of the IR, not every '<' is a bracket.
void BoundsScanner::close(char closer) {
  for (size_t i = open.size(); i > 0; --i) {
    if (open[i - 1].closer == closer) {
      while (open.size() >= i) {
        depth -= open.pop_back_val().levels;
      }
      return;
    }
  }
}

void BoundsScanner::step() {
  static constexpr llvm::StringLiteral kOpeners = "([{<", kClosers = ")]}>";
  char c = text[at];
  bool isArrow = c == '>' && at > 0 && text[at - 1] == '-';
  size_t opener = kOpeners.find(c);
  if (opener != llvm::StringRef::npos && (isIr || c != '<')) {
    open.push_back({kClosers[opener], prefixes + 1});
    depth += prefixes + 1;
    prefixes = 0;
  } else if (kClosers.contains(c) && !isArrow) {
    close(c);
    prefixes = 0;
  } else if (c == (isIr ? '-' : '.')) {
    ++prefixes;
  } else if (isIr ? !llvm::isSpace(c)
                  : c == ',' || (c == '\n' && open.empty())) {
    prefixes = 0;
  }
  deepest = std::max(deepest, depth + prefixes);
  ++at;
}

llvm::LogicalResult BoundsScanner::fail(size_t place,
                                        const llvm::Twine &message) {
  file.error(os, file.placeOf(place), message);
  return llvm::failure();
}

/// The elements of a vector, as written behind its name: "<4x[8]xf32>"; more
/// than are allowed are not counted on.
static uint64_t elementsOf(llvm::StringRef shape) {
  uint64_t elements = 1, size = 0;
  if (!shape.consume_front("<")) {
    return 0;
  }
  while (elements <= kMostElements) {
    shape = shape.ltrim(" \t\n\r[]x");
    if (shape.consumeInteger(10, size)) {
      break;
    }
    elements =
        size > kMostElements ? size : elements * std::max<uint64_t>(size, 1);
  }
  return elements;
}

/// A name or a number.
llvm::LogicalResult BoundsScanner::readWord() {
  size_t begin = at;
  at = std::min(
      text.find_if_not([](char c) { return llvm::isAlnum(c) || c == '_'; }, at),
      text.size());
  prefixes = isIr ? 0 : prefixes;
  // The parser of the IR asks an index for its bits, which ends the program.
  llvm::StringRef behind = text.substr(at).ltrim();
  if (isIr && text.slice(begin, at) == "array" && behind.consume_front("<") &&
      (behind.ltrim().starts_with("index") ||
       behind.ltrim().starts_with("!"))) {
    return fail(begin, "expected an array of integers or floats by their name; "
                       "try 'array<i64: ...>'");
  }
  // So many values of a vector are operands, each of which it makes room for.
  if (isIr && text.slice(begin, at) == "vector" &&
      elementsOf(behind) > kMostElements) {
    return fail(begin, "expected a vector of at most " +
                           llvm::Twine(kMostElements) + " elements");
  }
  bool isLong = llvm::isDigit(text[begin]) && at - begin > kMostDigits;
  return isLong ? fail(begin, "expected a number of at most " +
                                  llvm::Twine(kMostDigits) + " digits, got " +
                                  llvm::Twine(at - begin))
                : llvm::success();
}

llvm::LogicalResult BoundsScanner::scan() {
  while (at < text.size()) {
    size_t begin = at;
    char c = text[at];
    bool isComment = isIr ? text.substr(at).starts_with("//") : c == '#';
    if (isComment) {
      skipComment();
    } else if (c == '"' || (c == '\'' && !isIr)) {
      skipString();
    } else if (isIr && (c == '#' || c == '!')) {
      readAlias();
    } else if (llvm::isAlnum(c)) {
      if (failed(readWord())) {
        return llvm::failure();
      }
    } else {
      step();
    }
    if (deepest > kDeepest) {
      return fail(begin, "nested too deeply: expected at most " +
                             llvm::Twine(kDeepest) + " levels");
    }
    values += !isIr && (c == ',' || c == '=');
    if (values > kMostValues) {
      return fail(begin, "too many values: expected at most " +
                             llvm::Twine(kMostValues));
    }
  }
  return llvm::success();
}

llvm::LogicalResult checkBounds(const SourceFile &file, Syntax syntax,
                                llvm::raw_ostream &os) {
  return BoundsScanner(file, syntax, os).scan();
}

} // namespace modelc
