//===- Fields.h - A key of a target file and the member it fills ----------===//

#ifndef LIB_HARDWARE_FIELDS_H
#define LIB_HARDWARE_FIELDS_H

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"

namespace modelc {

inline constexpr Bound kBytes = {1, 0x1p50}, kBytesOrNone = {0, 0x1p50};
inline constexpr Bound kPerClock = {1e-3, 1e9}, kPerClockOrNone = {0, 1e9};
inline constexpr Bound kHertz = {1, 1e12};
inline constexpr Bound kWatts = {1e-3, 1e7}, kWattsOrNone = {0, 1e7};
inline constexpr Bound kJoules = {0, 1}; // of one operation or byte
inline constexpr Bound kDollars = {0, 1e6};
// Fractions of what divides, and others.
inline constexpr Bound kFraction = {1e-6, 1}, kShare = {0, 1};
inline constexpr Bound kExponent = {0, 10}, kOverhead = {1, 100};

/// The keys of a target file but for the rows of instructions and accesses.
const std::vector<Field<Target>> &targetFields();
/// The keys of a row of [[mma]].
const std::vector<Field<MmaRow>> &mmaFields();
/// The keys of a row of [[shared.access]].
const std::vector<Field<SharedAccess>> &accessFields();

/// The keys of a map of a target: element types or price bases.
llvm::ArrayRef<llvm::StringRef> elementTypes();
llvm::ArrayRef<llvm::StringRef> priceBases();

// Readers of one value.
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              FragmentLayout &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Completion &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              MmaScope &value, std::string &why);
llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              OperandSpace &value, std::string &why);

/// A field of numbers of a section; a map takes an entry for each of its keys.
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
