//===- Json.cpp - JSON with places ----------------------------------------===//
//
// llvm::json forgets where a value stood, so that a message about a key of a
// config.json could not point at it. This reader keeps the place of every node
// and takes the NaN and Infinity that Python writes.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

namespace modelc {

namespace {
class JsonReader {
public:
  JsonReader(const SourceFile &file, llvm::raw_ostream &os)
      : file(file), text(file.text()), os(os) {}

  llvm::FailureOr<Node> readAll();

private:
  llvm::FailureOr<Node> readValue(unsigned depth);
  llvm::LogicalResult readTable(Node &node, unsigned depth);
  llvm::LogicalResult readArray(Node &node, unsigned depth);
  llvm::LogicalResult readString(std::string &string);
  llvm::LogicalResult readEscape(std::string &string);
  llvm::FailureOr<unsigned> readHex();
  llvm::LogicalResult readWord(Node &node);
  void skipSpace();
  bool consume(char c);
  llvm::LogicalResult fail(const llvm::Twine &message);

  const SourceFile &file;
  llvm::StringRef text;
  llvm::raw_ostream &os;
  size_t at = 0;
  unsigned values = 0;
};
} // namespace

llvm::LogicalResult JsonReader::fail(const llvm::Twine &message) {
  file.error(os, file.placeOf(std::min(at, text.size())), message);
  return llvm::failure();
}

void JsonReader::skipSpace() {
  at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

bool JsonReader::consume(char c) {
  skipSpace();
  if (at < text.size() && text[at] == c) {
    ++at;
    return true;
  }
  return false;
}

llvm::FailureOr<unsigned> JsonReader::readHex() {
  unsigned value = 0;
  if (text.substr(at, 4).size() < 4 ||
      text.substr(at, 4).getAsInteger(16, value)) {
    return fail("expected four hexadecimal digits");
  }
  at += 4;
  return value;
}

llvm::LogicalResult JsonReader::readEscape(std::string &string) {
  static constexpr llvm::StringLiteral kLetters = "\"\\/bfnrt";
  static constexpr llvm::StringLiteral kMeanings = "\"\\/\b\f\n\r\t";
  char letter = at < text.size() ? text[at] : '\0';
  size_t index = kLetters.find(letter);
  if (index != llvm::StringRef::npos) {
    ++at;
    string += kMeanings[index];
    return llvm::success();
  }
  if (letter != 'u') {
    return fail("unknown escape in a string");
  }
  ++at;
  llvm::FailureOr<unsigned> code = readHex();
  if (failed(code)) {
    return llvm::failure();
  }
  // A high surrogate is followed by the low one.
  if (*code >= 0xD800 && *code < 0xDC00 && text.substr(at).starts_with("\\u")) {
    at += 2;
    llvm::FailureOr<unsigned> low = readHex();
    if (failed(low)) {
      return llvm::failure();
    }
    if (*low < 0xDC00 || *low >= 0xE000) {
      return fail("expected the second half of a character");
    }
    *code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
  }
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
  char *end = bytes;
  if (!llvm::ConvertCodePointToUTF8(*code, end)) {
    return fail("not a character");
  }
  string.append(bytes, end);
  return llvm::success();
}

llvm::LogicalResult JsonReader::readString(std::string &string) {
  if (!consume('"')) {
    return fail("expected a string in double quotes");
  }
  size_t begin = at;
  while (at < text.size() && text[at] != '"' && text[at] != '\n') {
    if (text[at] != '\\') {
      string += text[at++];
      continue;
    }
    ++at;
    if (failed(readEscape(string))) {
      return llvm::failure();
    }
  }
  if (at >= text.size() || text[at] != '"') {
    at = begin;
    return fail("this string has no end");
  }
  ++at;
  return llvm::success();
}

llvm::LogicalResult JsonReader::readTable(Node &node, unsigned depth) {
  node.kind = Node::Kind::Table;
  if (consume('}')) {
    return llvm::success();
  }
  llvm::StringSet<> keys;
  do {
    Member member;
    skipSpace();
    size_t begin = at;
    if (failed(readString(member.key))) {
      return llvm::failure();
    }
    member.place = file.placeOf(begin, at - begin);
    if (!keys.insert(member.key).second) {
      at = begin;
      return fail("key \"" + member.key + "\" stands twice");
    }
    if (!consume(':')) {
      return fail("expected ':' after a key");
    }
    llvm::FailureOr<Node> value = readValue(depth);
    if (failed(value)) {
      return llvm::failure();
    }
    member.value = std::move(*value);
    node.members.push_back(std::move(member));
  } while (consume(','));
  return consume('}') ? llvm::success() : fail("expected ',' or '}'");
}

llvm::LogicalResult JsonReader::readArray(Node &node, unsigned depth) {
  node.kind = Node::Kind::Array;
  if (consume(']')) {
    return llvm::success();
  }
  do {
    llvm::FailureOr<Node> item = readValue(depth);
    if (failed(item)) {
      return llvm::failure();
    }
    node.items.push_back(std::move(*item));
  } while (consume(','));
  return consume(']') ? llvm::success() : fail("expected ',' or ']'");
}

llvm::LogicalResult JsonReader::readWord(Node &node) {
  llvm::StringRef word = text.substr(at).take_while([](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("+-.").contains(c);
  });
  double infinity = std::numeric_limits<double>::infinity();
  node.kind = Node::Kind::Float;
  if (!word.getAsInteger(10, node.integer)) {
    node.kind = Node::Kind::Integer;
    node.number = double(node.integer);
  } else if (word == "true" || word == "false") {
    node.kind = Node::Kind::Boolean;
    node.boolean = word == "true";
  } else if (word == "null") {
    node.kind = Node::Kind::Null;
  } else if (word == "NaN") {
    node.number = std::numeric_limits<double>::quiet_NaN();
  } else if (word == "Infinity" || word == "-Infinity") {
    node.number = word.front() == '-' ? -infinity : infinity;
  } else if (word.empty() || llvm::isAlpha(word.front()) ||
             !llvm::to_float(word, node.number)) {
    return fail("expected a value");
  }
  at += word.size();
  return llvm::success();
}

llvm::FailureOr<Node> JsonReader::readValue(unsigned depth) {
  skipSpace();
  if (depth > kDeepest) {
    return fail("nested too deeply: expected at most " + llvm::Twine(kDeepest) +
                " levels");
  }
  if (++values > kMostValues) {
    return fail("too many values: expected at most " +
                llvm::Twine(kMostValues));
  }
  size_t begin = at;
  Node node;
  llvm::LogicalResult result = llvm::success();
  if (consume('{')) {
    result = readTable(node, depth + 1);
  } else if (consume('[')) {
    result = readArray(node, depth + 1);
  } else if (at < text.size() && text[at] == '"') {
    node.kind = Node::Kind::String;
    result = readString(node.string);
  } else {
    result = readWord(node);
  }
  if (failed(result)) {
    return llvm::failure();
  }
  node.place = file.placeOf(begin);
  if (file.placeOf(at).line == node.place.line) {
    node.place.length = at - begin;
  }
  return node;
}

llvm::FailureOr<Node> JsonReader::readAll() {
  llvm::FailureOr<Node> root = readValue(0);
  if (failed(root)) {
    return llvm::failure();
  }
  skipSpace();
  if (at != text.size()) {
    return fail("expected the end of the file");
  }
  if (!root->isTable()) {
    at = 0;
    return fail("expected an object, got " + root->kindName());
  }
  return root;
}

llvm::FailureOr<Node> parseJson(const SourceFile &file, llvm::raw_ostream &os) {
  return JsonReader(file, os).readAll();
}

} // namespace modelc
