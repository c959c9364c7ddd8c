//===- Fields.h - A key of a target file and the member it fills ----------===//

#ifndef LIB_HARDWARE_FIELDS_H
#define LIB_HARDWARE_FIELDS_H

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include <functional>
#include <type_traits>

namespace modelc {

/// Whether a file must have a key.
enum class Need { Optional, Required };

/// The numbers that are right for a key, in its unit, both ends included. With
/// all others sums overflow, vanish or say nothing of a machine.
struct Bound {
  double least, most;
};

// Of what there is at least one, or may be none; most as Values.cpp reads them.
inline constexpr Bound kCount = {1, 1 << 20}, kCountOrNone = {0, 1 << 20};
inline constexpr Bound kBytes = {1, 0x1p50}, kBytesOrNone = {0, 0x1p50};
// Rates divide: those that may be absent are not used where they are 0.
inline constexpr Bound kPerClock = {1e-3, 1e9}, kPerClockOrNone = {0, 1e9};
inline constexpr Bound kPerSecond = {1, 1e18}, kPerSecondOrNone = {0, 1e18};
inline constexpr Bound kHertz = {1, 1e12};
inline constexpr Bound kSeconds = {0, 1e4}, kClocks = {0, 1e9};
inline constexpr Bound kWatts = {1e-3, 1e7}, kWattsOrNone = {0, 1e7};
inline constexpr Bound kJoules = {0, 1}; // of one operation or byte
inline constexpr Bound kDollars = {0, 1e6};
// Fractions of what divides, and others.
inline constexpr Bound kFraction = {1e-6, 1}, kShare = {0, 1};
inline constexpr Bound kExponent = {0, 10}, kOverhead = {1, 100};

/// One key of a table of a target file, and how it fills an `Owner`.
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

/// The keys of a target file but for the rows of instructions and accesses.
const std::vector<Field<Target>> &targetFields();
/// The keys of a row of [[mma]].
const std::vector<Field<MmaRow>> &mmaFields();
/// The keys of a row of [[shared.access]].
const std::vector<Field<SharedAccess>> &accessFields();

/// The keys of a row of [[engine]].
const std::vector<Field<EngineKernels>> &engineFields();
const std::vector<Field<EngineAttention>> &attentionEngineFields();

/// The keys of a map of a target: element types or price bases.
llvm::ArrayRef<llvm::StringRef> elementTypes();
llvm::ArrayRef<llvm::StringRef> priceBases();

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
                              FragmentLayout &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Completion &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              MmaScope &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              OperandSpace &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Grade &value, std::string &why);

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
    std::is_same_v<T, ByType> || std::is_same_v<T, std::vector<int64_t>> ||
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

/// A field of a section of a target.
template <typename Section, typename T>
Field<Target> field(llvm::StringRef name, Section Target::*section,
                    T Section::*member, llvm::StringRef unit,
                    llvm::StringRef meaning, Need need = Need::Required) {
  static_assert(!kIsNumeric<T>, "a field of numbers says their bound");
  auto read = [=](Target &target, llvm::StringRef, const Node &node,
                  std::string &why) {
    return readPlain(node, unit, target.*section.*member, why);
  };
  return {name.str(), unit, meaning, need, read, {}};
}

/// The same of numbers; a map takes an entry for each of its keys.
template <typename Section, typename T>
Field<Target> field(llvm::StringRef name, Section Target::*section,
                    T Section::*member, llvm::StringRef unit,
                    llvm::StringRef meaning, Bound bound,
                    Need need = Need::Required) {
  auto read = [=](Target &target, llvm::StringRef entry, const Node &node,
                  std::string &why) {
    if constexpr (std::is_same_v<T, ByType>) {
      return readBounded(node, unit, bound,
                         (target.*section.*member)[entry.str()], why);
    } else {
      return readBounded(node, unit, bound, target.*section.*member, why);
    }
  };
  llvm::ArrayRef<llvm::StringRef> entries;
  if constexpr (std::is_same_v<T, ByType>) {
    entries = name.starts_with("price.") ? priceBases() : elementTypes();
  }
  return {name.str(), unit, meaning, need, read, entries};
}

} // namespace modelc

#endif // LIB_HARDWARE_FIELDS_H
