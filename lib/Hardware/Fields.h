//===- Fields.h - A key of a target file and the member it fills ----------===//

#ifndef LIB_HARDWARE_FIELDS_H
#define LIB_HARDWARE_FIELDS_H

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include <functional>
#include <type_traits>

namespace modelc {

/// Whether a file must have a key, and which numbers are right. None is
/// negative.
enum class Need {
  Optional,
  Required,
  Positive, // required, and more than zero
  Fraction, // required, more than zero and at most one
};

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

/// Reads a value and checks its range.
template <typename T>
llvm::LogicalResult readChecked(const Node &node, llvm::StringRef unit,
                                Need need, T &value, std::string &why) {
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
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int64_t>) {
    bool isPositive = need == Need::Positive || need == Need::Fraction;
    if (isPositive ? !(value > 0) : !(value >= 0)) {
      why = (isPositive ? "expected more than zero, got "
                        : "expected zero or more, got ") +
            node.print();
      return llvm::failure();
    }
    if (need == Need::Fraction && value > 1) {
      why = "expected a fraction of at most 1, got " + node.print();
      return llvm::failure();
    }
  }
  return llvm::success();
}

/// A field of a row.
template <typename Row, typename T>
Field<Row> field(llvm::StringRef name, T Row::*member, llvm::StringRef unit,
                 llvm::StringRef meaning, Need need = Need::Required) {
  return {name.str(),
          unit,
          meaning,
          need,
          [=](Row &row, llvm::StringRef, const Node &node, std::string &why) {
            return readChecked(node, unit, need, row.*member, why);
          },
          {}};
}

/// A field of a section of a target; a map takes an entry for each of its keys.
template <typename Section, typename T>
Field<Target> field(llvm::StringRef name, Section Target::*section,
                    T Section::*member, llvm::StringRef unit,
                    llvm::StringRef meaning, Need need = Need::Required) {
  if constexpr (std::is_same_v<T, ByType>) {
    return {name.str(),
            unit,
            meaning,
            need,
            [=](Target &target, llvm::StringRef entry, const Node &node,
                std::string &why) {
              return readChecked(node, unit, need,
                                 (target.*section.*member)[entry.str()], why);
            },
            name.starts_with("price.") ? priceBases() : elementTypes()};
  } else {
    return {name.str(),
            unit,
            meaning,
            need,
            [=](Target &target, llvm::StringRef, const Node &node,
                std::string &why) {
              return readChecked(node, unit, need, target.*section.*member,
                                 why);
            },
            {}};
  }
}

} // namespace modelc

#endif // LIB_HARDWARE_FIELDS_H
