//===- Expressions.h - Values of index expressions at given sizes ---------===//

#ifndef LIB_COST_READ_EXPRESSIONS_H
#define LIB_COST_READ_EXPRESSIONS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <memory>
#include <optional>

namespace modelc {

/// Values of kernel arguments and induction variables.
using IndexValues = llvm::DenseMap<mlir::Value, int64_t>;

/// One index value as a straight list of operations, so that it can be
/// evaluated at many points.
class IndexProgram {
public:
  explicit IndexProgram(mlir::Value value);
  /// None if it depends on a value that only the device knows, or on one that
  /// `values` lacks.
  std::optional<int64_t> run(const IndexValues &values) const;

  /// Has a value wherever the indices of loops have one.
  bool isKnown(const IndexValues &sizes) const;
  /// Whether it depends on a leaf.
  bool reads(mlir::Value leaf) const;
  /// The first value that `values` lacks; null if there is none.
  mlir::Value missing(const IndexValues &values) const;
  /// No division, minimum or choice: equal values need equal leaves.
  bool isLinear() const { return linear; }
  /// Sums, and products with constants: a line along each leaf.
  bool isLine() const { return line; }

  /// What an operation makes of its operands.
  using Compute = int64_t (*)(const std::array<int64_t, 3> &operands);

private:
  struct Operation {
    Compute compute = nullptr; // null: a leaf or a constant
    mlir::Value leaf;          // null: not a leaf
    int64_t constant = 0;
    std::array<unsigned, 3> operands = {0, 0, 0}; // places in the list
  };
  llvm::SmallVector<Operation, 4> list; // operands before users
  bool linear = true, line = true;
};

/// The programs of values, each made once.
class IndexPrograms {
public:
  const IndexProgram &of(mlir::Value value) {
    std::unique_ptr<const IndexProgram> &known = programs[value];
    if (!known) {
      known = std::make_unique<const IndexProgram>(value);
    }
    return *known;
  }

private:
  llvm::DenseMap<mlir::Value, std::unique_ptr<const IndexProgram>> programs;
};

/// Value of one index expression; none as in IndexProgram::run.
std::optional<int64_t> evaluateIndex(mlir::Value value,
                                     const IndexValues &values);

/// The induction variables that `values` depend on, through loads as well but
/// for what `isEnd`.
llvm::SmallVector<mlir::Value>
indicesBehind(mlir::ValueRange values,
              llvm::function_ref<bool(mlir::Value)> isEnd = nullptr);

} // namespace modelc

#endif // LIB_COST_READ_EXPRESSIONS_H
