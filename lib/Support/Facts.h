//===- Facts.h - Tables of keys, and the facts that files say of them -----===//
//
// A file of facts is TOML whose keys stand in tables of fields: name, unit,
// meaning, bound and the member that it fills. Every value has a source and a
// grade.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SUPPORT_FACTS_H
#define LIB_SUPPORT_FACTS_H

#include "lib/Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <map>
#include <memory>
#include <type_traits>

namespace modelc {

/// How far a fact can be trusted, best first.
enum class Grade { Datasheet, Measured, Derived, Assumed };

/// The word of a file for a grade ("datasheet", ...).
llvm::StringRef gradeName(Grade grade);

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Whether a file must have a key.
enum class Need { Optional, Required };

/// The numbers that are right for a key, in its unit, both ends included. With
/// all others sums overflow, vanish or say nothing of a machine.
struct Bound {
  double least, most;
};

// Of what there is at least one, or may be none; most as readValue takes them.
inline constexpr Bound kCount = {1, 1 << 20}, kCountOrNone = {0, 1 << 20};
inline constexpr Bound kSeconds = {0, 1e4}, kClocks = {0, 1e9};
// Rates divide: those that may be absent are not used where they are 0.
inline constexpr Bound kPerSecond = {1, 1e18}, kPerSecondOrNone = {0, 1e18};

/// One key of a table of a file, and how it fills an `Owner`.
template <typename Owner>
struct Field {
  std::string name;     // full path in the file: "memory.bandwidth"
  llvm::StringRef unit; // of the member; "" for a plain number or a word
  llvm::StringRef meaning;
  Need need;
  /// Reads a value; on failure says why in `why`. `entry` is the key in a map
  /// (an element type, a price basis), empty for a plain member.
  std::function<llvm::LogicalResult(Owner &, llvm::StringRef entry,
                                    const Node &, std::string &why)>
      read;
  /// The keys of a map; empty for a plain member.
  llvm::ArrayRef<llvm::StringRef> entries;
};

// Readers of one value, in multiples of `unit`.
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              double &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              int64_t &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              bool &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::string &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::vector<std::string> &value,
                              std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::vector<int64_t> &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::vector<std::vector<int64_t>> &value,
                              std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Grade &value, std::string &why);
/// The number of one of `words`.
llvm::FailureOr<size_t> readChoice(const Node &node,
                                   llvm::ArrayRef<llvm::StringRef> words,
                                   std::string &why);

/// Whether a text may become a name in emitted text, or a part of a path below
/// a package.
bool isPlainText(llvm::StringRef text);

/// A number as files spell it.
std::string printNumber(double value);

/// What is wrong with numbers, or empty.
std::string checkBound(double value, Bound bound, llvm::StringRef unit);
template <typename T>
std::string checkBound(const std::vector<T> &values, Bound bound,
                       llvm::StringRef unit) {
  for (const T &value : values) {
    std::string wrong = checkBound(value, bound, unit);
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

/// Whether a member holds numbers, of which the table must say the bound.
template <typename T>
inline constexpr bool kIsNumeric =
    std::is_same_v<T, double> || std::is_same_v<T, int64_t> ||
    std::is_same_v<T, std::map<std::string, double>> ||
    std::is_same_v<T, std::vector<int64_t>> ||
    std::is_same_v<T, std::vector<std::vector<int64_t>>>;

/// Reads numbers and checks their range.
template <typename T>
llvm::LogicalResult readBounded(const Node &node, llvm::StringRef unit,
                                Bound bound, T &value, std::string &why) {
  if (llvm::failed(readValue(node, unit, value, why))) {
    return llvm::failure();
  }
  why = checkBound(value, bound, unit);
  if (!why.empty()) {
    why += ", got " + node.print();
  }
  return llvm::success(why.empty());
}

/// Reads what is no number; a text is a plain one.
template <typename T>
llvm::LogicalResult readPlain(const Node &node, llvm::StringRef unit, T &value,
                              std::string &why) {
  if (llvm::failed(readValue(node, unit, value, why))) {
    return llvm::failure();
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (!isPlainText(value)) {
      why = "expected letters, digits, spaces and any of _.,:+-/ but \"..\", "
            "got " +
            node.print();
      return llvm::failure();
    }
  }
  return llvm::success();
}

/// A field of a row.
template <typename Row, typename T>
Field<Row> field(llvm::StringRef name, T Row::*member, llvm::StringRef unit,
                 llvm::StringRef meaning, Need need = Need::Required) {
  static_assert(!kIsNumeric<T>, "a field of numbers says their bound");
  auto read = [=](Row &row, llvm::StringRef, const Node &node,
                  std::string &why) {
    return readPlain(node, unit, row.*member, why);
  };
  return {name.str(), unit, meaning, need, read, {}};
}

/// The same of numbers.
template <typename Row, typename T>
Field<Row> field(llvm::StringRef name, T Row::*member, llvm::StringRef unit,
                 llvm::StringRef meaning, Bound bound,
                 Need need = Need::Required) {
  auto read = [=](Row &row, llvm::StringRef, const Node &node,
                  std::string &why) {
    return readBounded(node, unit, bound, row.*member, why);
  };
  return {name.str(), unit, meaning, need, read, {}};
}

/// A field of a part of a row.
template <typename Row, typename Part, typename T>
Field<Row> field(llvm::StringRef name, Part Row::*part, T Part::*member,
                 llvm::StringRef unit, llvm::StringRef meaning,
                 Need need = Need::Required) {
  static_assert(!kIsNumeric<T>, "a field of numbers says their bound");
  auto read = [=](Row &row, llvm::StringRef, const Node &node,
                  std::string &why) {
    return readPlain(node, unit, row.*part.*member, why);
  };
  return {name.str(), unit, meaning, need, read, {}};
}

/// The same of numbers.
template <typename Row, typename Part, typename T>
Field<Row> field(llvm::StringRef name, Part Row::*part, T Part::*member,
                 llvm::StringRef unit, llvm::StringRef meaning, Bound bound,
                 Need need = Need::Required) {
  auto read = [=](Row &row, llvm::StringRef, const Node &node,
                  std::string &why) {
    return readBounded(node, unit, bound, row.*part.*member, why);
  };
  return {name.str(), unit, meaning, need, read, {}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Where the values of a table come from; a value may state its own.
struct Origin {
  std::string source;
  Grade grade = Grade::Assumed;
};

/// Where the value of a key was said, and after how many others.
struct Statement {
  std::shared_ptr<const SourceFile> file;
  Place place;
  size_t order = 0;
};

/// Whether the key is `source` or `grade`.
bool isOriginKey(llvm::StringRef key);

/// Fills owners from parsed files by tables of fields, and says what is wrong
/// at its place.
class FactReader {
public:
  explicit FactReader(llvm::raw_ostream &errors) : errors(errors) {}
  virtual ~FactReader() = default;
  bool failed() const { return hasFailed; }

protected:
  void error(const SourceFile &file, Place at, const llvm::Twine &message);
  /// `source` and `grade` of a table; `inherited` where it has none.
  Origin readOrigin(const SourceFile &file, const Node &table, Place at,
                    llvm::StringRef what, const Origin *inherited);
  /// Whether a value is rows [[path]].
  bool checkRows(const SourceFile &file, llvm::StringRef path,
                 const Node &rows);
  template <typename Owner>
  void readField(const SourceFile &file, const std::string &key,
                 const Field<Owner> &field, llvm::StringRef entry,
                 const Node &value, Origin origin, Owner &owner);
  /// The keys of a table, and where `need` says so all that are required; false
  /// if anything was wrong so far.
  template <typename Row>
  bool readKeys(const SourceFile &file, const std::string &path,
                const std::vector<Field<Row>> &fields, const Node &table,
                const Origin &origin, Row &row, Need need);
  /// One of the rows [[section]], complete with an origin.
  template <typename Row>
  bool readRow(const SourceFile &file, llvm::StringRef section,
               const std::string &path, const std::vector<Field<Row>> &fields,
               const Node &table, Row &row);

  /// What a field of this unit and meaning was given as `plain`.
  virtual void keep(const std::string &key, llvm::StringRef unit,
                    llvm::StringRef meaning, const Origin &origin,
                    const SourceFile &file, const Node &plain) {}

  llvm::raw_ostream &errors;
  bool hasFailed = false;
  std::map<std::string, Statement> statements; ///< by key, the last of each
  std::shared_ptr<const SourceFile> current;   ///< that is read now

private:
  /// Says which keys of a table are none of `names`; those that were meant.
  std::vector<llvm::StringRef>
  sayUnknown(const SourceFile &file, llvm::StringRef path, const Node &table,
             llvm::ArrayRef<llvm::StringRef> names);
  /// The value itself where `value` states an origin of its own, which is put
  /// into `origin`: { value = ..., source = ..., grade = ... }.
  const Node &plainValue(const SourceFile &file, const std::string &key,
                         const Node &value, Origin &origin);

  size_t statementCount = 0;
};

template <typename Owner>
void FactReader::readField(const SourceFile &file, const std::string &key,
                           const Field<Owner> &field, llvm::StringRef entry,
                           const Node &value, Origin origin, Owner &owner) {
  const Node &plain = plainValue(file, key, value, origin);
  std::string why;
  if (llvm::failed(field.read(owner, entry, plain, why))) {
    error(file, plain.place, key + " (" + field.meaning + "): " + why);
    return;
  }
  statements[key] = {current, plain.place, statementCount++};
  keep(key, field.unit, field.meaning, origin, file, plain);
}

template <typename Row>
bool FactReader::readKeys(const SourceFile &file, const std::string &path,
                          const std::vector<Field<Row>> &fields,
                          const Node &table, const Origin &origin, Row &row,
                          Need need) {
  std::vector<llvm::StringRef> names = {"source", "grade"};
  for (const Field<Row> &field : fields) {
    names.push_back(field.name);
  }
  std::vector<llvm::StringRef> meant = sayUnknown(file, path, table, names);
  for (const Field<Row> &field : fields) {
    if (const Node *value = table.find(field.name)) {
      readField(file, path + "." + field.name, field, "", *value, origin, row);
    } else if (need == Need::Required && field.need == Need::Required &&
               !llvm::is_contained(meant, field.name)) {
      error(file, table.place,
            path + " has no \"" + field.name + "\" (" + field.meaning + ")");
    }
  }
  return !hasFailed;
}

template <typename Row>
bool FactReader::readRow(const SourceFile &file, llvm::StringRef section,
                         const std::string &path,
                         const std::vector<Field<Row>> &fields,
                         const Node &table, Row &row) {
  Origin origin =
      readOrigin(file, table, table.place,
                 ("this row of [[" + section + "]]").str(), nullptr);
  return readKeys(file, path, fields, table, origin, row, Need::Required);
}

} // namespace modelc

#endif // LIB_SUPPORT_FACTS_H
