//===- Files.h - Texts with places, and the trees that are read from them -===//

#ifndef LIB_SUPPORT_FILES_H
#define LIB_SUPPORT_FILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc {

//===----------------------------------------------------------------------===//
// Text with places
//===----------------------------------------------------------------------===//

/// A range of one line. Lines and columns count from 1; line 0 = nowhere.
struct Place {
  unsigned line = 0, column = 0, length = 1;
};

/// A text with a name that can print messages pointing into it.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);
  /// Reads a plain file in UTF-8, without its byte order mark; says on `errors`
  /// why it could not.
  static llvm::FailureOr<SourceFile> read(llvm::StringRef path,
                                          llvm::raw_ostream &errors);

  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return contents; }
  /// One line without its end; empty if there is no such line.
  llvm::StringRef line(unsigned number) const;
  /// The place of a byte of the text.
  Place placeOf(size_t offset, unsigned length = 1) const;

  /// Print "file:line:column: error: message", the line, and a caret.
  void error(llvm::raw_ostream &os, Place at, const llvm::Twine &message) const;
  void warning(llvm::raw_ostream &os, Place at,
               const llvm::Twine &message) const;
  void note(llvm::raw_ostream &os, Place at, const llvm::Twine &message) const;

private:
  std::string fileName, contents;
  std::vector<uint32_t> lineStarts; // bytes of the text
};

//===----------------------------------------------------------------------===//
// TOML and JSON
//===----------------------------------------------------------------------===//

struct Member;

/// One value of a TOML or JSON file.
struct Node {
  enum class Kind { Null, Boolean, Integer, Float, String, Array, Table };
  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0; // of Integer as well
  std::string string;
  std::vector<Node> items;     // of Array
  std::vector<Member> members; // of Table, in the order of the file
  Place place;

  bool isTable() const { return kind == Kind::Table; }
  bool isArray() const { return kind == Kind::Array; }
  bool isString() const { return kind == Kind::String; }
  bool isInteger() const { return kind == Kind::Integer; }
  bool isNumber() const { return isInteger() || kind == Kind::Float; }
  bool isBoolean() const { return kind == Kind::Boolean; }
  bool isNull() const { return kind == Kind::Null; }
  /// The value of a key of a table, or null.
  const Node *find(llvm::StringRef key) const;
  /// The member of that key of a table, or null.
  const Member *member(llvm::StringRef key) const;
  /// "a string", "an integer", ... for messages.
  llvm::StringRef kindName() const;
  /// The value in TOML's spelling, on one line.
  std::string print() const;
};

/// A key of a table and its value.
struct Member {
  std::string key;
  Place place; // of the key
  Node value;
};

/// The brackets of a text and the parts of its keys stand within each other;
/// the first that stands too deeply for a parser that calls itself is a
/// mistake.
enum class Syntax { Toml, Ir };
llvm::LogicalResult checkBounds(const SourceFile &file, Syntax syntax,
                                llvm::raw_ostream &os);
inline constexpr unsigned kDeepest = 200;
/// So many of a file that they stay within 1 GiB of memory.
inline constexpr unsigned kMostValues = 1 << 21;

/// Parse a whole file into a table; a mistake is printed with its place.
llvm::FailureOr<Node> parseToml(const SourceFile &file, llvm::raw_ostream &os);
llvm::FailureOr<Node> parseJson(const SourceFile &file, llvm::raw_ostream &os);

} // namespace modelc

#endif // LIB_SUPPORT_FILES_H
