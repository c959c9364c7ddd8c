//===- HostSizes.h - Sizes of a run as the host computes them -------------===//
//
// Inner to lib/Emit. Index arithmetic over the sizes of a run (grids, extents,
// trips) as C expressions of the host library and of the manifest. Functions
// are those of targets/host/launch.h.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_HOST_HOSTSIZES_H
#define LIB_EMIT_HOST_HOSTSIZES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>

namespace modelc {

/// How tightly the operators of C bind that sizes need; higher binds tighter.
constexpr int kSizePrimary = 17, kSizeProduct = 13, kSizeSum = 12,
              kSizeCompare = 9, kSizeAnd = 4;

/// Names of the sizes that expressions may use.
class SizeNames {
public:
  void add(mlir::Value value, llvm::StringRef name) {
    names[value] = name.str();
  }
  /// The expression, in parentheses where it binds less tightly than `least`.
  /// A value that only the device knows is an error at its op.
  llvm::FailureOr<std::string> text(mlir::Value value, int least = 0) const;

private:
  llvm::FailureOr<std::pair<std::string, int>> spell(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, std::string> names;
};

/// What a loop of no or one trip depends on (`select` of 1 and 0, from 0), or
/// null: such a loop is a condition.
mlir::Value conditionOf(mlir::Value lower, mlir::Value upper);

/// The product of expressions, constants multiplied out; "1" of none.
std::string productText(llvm::ArrayRef<std::string> factors);

/// The value if every size of the run were `size`; none where the device alone
/// knows it. For comparing amounts, never for addresses.
std::optional<int64_t> valueIfSizesWere(mlir::Value value, int64_t size);

} // namespace modelc

#endif // LIB_EMIT_HOST_HOSTSIZES_H
