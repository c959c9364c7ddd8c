//===- Expressions.h - Values of index expressions at given sizes ---------===//

#ifndef LIB_COST_EXPRESSIONS_H
#define LIB_COST_EXPRESSIONS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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
  /// The first value that `values` lacks; null if there is none.
  mlir::Value missing(const IndexValues &values) const;
  /// No division, minimum or choice: equal values need equal leaves.
  bool isLinear() const;

private:
  struct Operation {
    mlir::Operation *op = nullptr; // null: a leaf
    mlir::Value leaf;
    int64_t constant = 0;
    llvm::SmallVector<unsigned, 3> operands;
  };
  static bool isArithmetic(mlir::Operation *op);
  llvm::SmallVector<Operation, 8> list;
};

/// Value of one index expression; none as in IndexProgram::run.
std::optional<int64_t> evaluateIndex(mlir::Value value,
                                     const IndexValues &values);

/// The induction variables that `values` depend on, through loads as well.
llvm::SmallVector<mlir::Value> indicesBehind(mlir::ValueRange values);

} // namespace modelc

#endif // LIB_COST_EXPRESSIONS_H
