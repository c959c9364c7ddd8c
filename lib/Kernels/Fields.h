//===- Fields.h - The fields of shapes and tiles, told once ---------------===//
//
// Every struct of Families.h and HeadFamilies.h has one table of its fields, in
// the order of their declaration:
//
//   template <>
//   inline constexpr auto kFields<GatherShape> = fieldsOf<GatherShape>(
//       Field{"columns", &GatherShape::columns},
//       Field{"table", &GatherShape::tableRows}, ...);
//
// From it follow what tells one kernel from another (`identityOf`) and what
// `--kernels-build` reads. A table that lacks a field, or has one twice, does
// not compile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_FIELDS_H
#define LIB_KERNELS_FIELDS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace modelc::kernels {

template <typename Owner, typename Value>
struct Field {
  const char *key; ///< of `--kernels-build` and of identities
  Value Owner::*member;
};

/// The words of an enumeration, in the order of its values.
template <typename T>
inline constexpr std::array<llvm::StringLiteral, 0> kWords = {};

template <typename T>
constexpr llvm::StringRef wordOf(T value) {
  return kWords<T>[static_cast<size_t>(value)];
}

/// The table of a struct; of others there is none.
template <typename T>
inline constexpr std::tuple<> kFields = {};

template <typename T>
inline constexpr bool kHasFields =
    std::tuple_size_v<std::remove_const_t<decltype(kFields<T>)>> != 0;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

namespace detail {
/// Becomes a value of any type; counts the members of an aggregate.
struct Anything {
  template <typename T>
    requires(!kIsOptional<T>)
  operator T() const;
};

template <typename T, typename... Initialisers>
constexpr size_t memberCount() {
  if constexpr (requires { T{Initialisers{}..., Anything{}}; }) {
    return memberCount<T, Initialisers..., Anything>();
  } else {
    return sizeof...(Initialisers);
  }
}

template <typename Owner, typename A, typename B>
constexpr bool isOne(Field<Owner, A> a, Field<Owner, B> b) {
  bool isNamedAlike = std::string_view(a.key) == b.key;
  if constexpr (std::is_same_v<A, B>) {
    return isNamedAlike || a.member == b.member;
  }
  return isNamedAlike;
}

template <typename First, typename... Rest>
constexpr bool areDistinct(First first, Rest... rest) {
  if constexpr (sizeof...(Rest) > 0) {
    return !(isOne(first, rest) || ...) && areDistinct(rest...);
  }
  return true;
}

/// No table is made by a call of it, at compile time.
void aMemberOrKeyStandsTwice();
} // namespace detail

/// The fields given, all that `T` has.
template <typename T, typename... Fields>
constexpr std::tuple<Fields...> fieldsOf(Fields... fields) {
  static_assert(detail::memberCount<T>() == sizeof...(Fields),
                "every member of the struct needs a row in its table");
  if (!detail::areDistinct(fields...)) {
    detail::aMemberOrKeyStandsTwice();
  }
  return {fields...};
}

/// Calls `visit` with each field of `T`.
template <typename T, typename Visit>
void forEachField(Visit visit) {
  std::apply([&](const auto &...fields) { (visit(fields), ...); }, kFields<T>);
}

// Values in a form that differs where they do.
void printField(llvm::raw_ostream &os, bool value);
void printField(llvm::raw_ostream &os, int64_t value);
void printField(llvm::raw_ostream &os, double value);
void printField(llvm::raw_ostream &os, mlir::Type value);
void printField(llvm::raw_ostream &os, const std::vector<int64_t> &value);

template <typename T>
  requires(std::is_enum_v<T>)
void printField(llvm::raw_ostream &os, T value) {
  os << wordOf(value);
}

template <typename T>
  requires(kHasFields<T>)
void printField(llvm::raw_ostream &os, const T &value) {
  os << "{";
  forEachField<T>([&](const auto &field) {
    os << " " << field.key << ":";
    printField(os, value.*field.member);
  });
  os << " }";
}

template <typename T>
void printField(llvm::raw_ostream &os, const std::optional<T> &value) {
  if (!value) {
    os << "none";
    return;
  }
  printField(os, *value);
}

/// All of what is given, as text that no other value has.
template <typename... Parts>
std::string identityOf(const Parts &...parts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (printField(os, parts), ...);
  return text;
}

} // namespace modelc::kernels

#endif // LIB_KERNELS_FIELDS_H
