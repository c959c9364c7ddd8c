//===- Settings.h - What a developer's command line asks of a family ------===//
//
// Inner to lib/Kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_SETTINGS_H
#define LIB_KERNELS_SETTINGS_H

#include "lib/Kernels/Fields.h"
#include "lib/Kernels/Rows/Formats.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

namespace modelc::kernels {

/// key:value pairs of the command line; says which were never asked for.
class Settings {
public:
  /// Null: types stay as they are written.
  const Target *target = nullptr;

  llvm::LogicalResult read(mlir::Operation *op,
                           llvm::ArrayRef<std::string> list) {
    for (llvm::StringRef text : list) {
      auto [key, value] = text.split(':');
      if (value.empty()) {
        return op->emitError("expected key:value, got '") << text << "'";
      }
      values[key.str()] = value.str();
    }
    return llvm::success();
  }
  double number(llvm::StringRef key, double otherwise) {
    std::string text = take(key);
    double value = otherwise;
    return text.empty() || llvm::StringRef(text).getAsDouble(value) ? otherwise
                                                                    : value;
  }
  int64_t integer(llvm::StringRef key, int64_t otherwise) {
    return static_cast<int64_t>(number(key, static_cast<double>(otherwise)));
  }
  bool flag(llvm::StringRef key) { return integer(key, 0) != 0; }
  mlir::Type type(llvm::StringRef key, mlir::Type otherwise) {
    std::string text = take(key);
    mlir::Type type = text.empty()
                          ? otherwise
                          : mlir::parseType(text, otherwise.getContext());
    return target ? storedType(type, *target) : type;
  }
  /// Of a type that may be absent.
  mlir::Type optionalType(llvm::StringRef key, mlir::MLIRContext *context) {
    std::string text = take(key);
    return text.empty() ? mlir::Type() : mlir::parseType(text, context);
  }
  /// A word of an enumeration.
  template <typename T>
  T word(llvm::StringRef key, T otherwise) {
    std::string text = take(key);
    const auto *found = llvm::find(kWords<T>, text);
    if (!text.empty() && found == kWords<T>.end()) {
      refuse("expected '" + key + "' to be " + llvm::join(kWords<T>, " or ") +
             ", got '" + text + "'");
    }
    return text.empty() ? otherwise : static_cast<T>(found - kWords<T>.begin());
  }
  /// Every plain field of a struct by its key; what is not said stays. Types
  /// that are there already become those that the target computes with.
  template <typename T>
  void fill(T &of, mlir::MLIRContext *context) {
    forEachField<T>([&](const auto &field) {
      auto &value = of.*field.member;
      using Member = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<Member, bool>) {
        value = integer(field.key, value) != 0;
      } else if constexpr (std::is_same_v<Member, int64_t>) {
        value = integer(field.key, value);
      } else if constexpr (std::is_same_v<Member, double>) {
        value = number(field.key, value);
      } else if constexpr (std::is_enum_v<Member>) {
        value = word(field.key, value);
      } else if constexpr (std::is_same_v<Member, mlir::Type>) {
        value =
            value ? type(field.key, value) : optionalType(field.key, context);
      }
    });
  }
  /// What the values ask for cannot be: `why` is told at the end.
  void refuse(const llvm::Twine &why) { refusal = why.str(); }
  llvm::LogicalResult finish(mlir::Operation *op) const {
    if (!refusal.empty()) {
      return op->emitError(refusal);
    }
    for (const auto &[key, value] : values) {
      if (!taken.contains(key)) {
        return op->emitError("expected a key of the family's structs, got '")
               << key << "'";
      }
    }
    return llvm::success();
  }

private:
  std::string take(llvm::StringRef key) {
    taken.insert(key.str());
    auto found = values.find(key.str());
    return found == values.end() ? "" : found->second;
  }
  std::map<std::string, std::string> values;
  std::set<std::string> taken;
  std::string refusal;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_SETTINGS_H
