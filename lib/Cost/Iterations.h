//===- Iterations.h - How often the ops of nested loops run ---------------===//

#ifndef LIB_COST_ITERATIONS_H
#define LIB_COST_ITERATIONS_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Cost/Expressions.h"

namespace modelc {

/// One index of a loop with its bounds.
struct Level {
  schedule::LoopOp loop;
  mlir::Value index;
  IndexProgram lower, upper;
  std::optional<IndexProgram> step;
  bool known = true; // the bounds follow from sizes and outer indices
  llvm::SmallVector<mlir::Value> dependsOn; // indices behind known bounds
};

/// Trips of one execution of a loop along an index, and where they begin.
struct Trips {
  double count = 0;
  int64_t first = 0, step = 1;
};

/// Means over loops whose bounds and bodies depend on outer indices. Indices on
/// which nothing depends are multiplied; the others are sampled: all values of
/// a short loop, of a long one points between and the last ones.
class Iterations {
public:
  Iterations(IndexValues sizes, const Bindings &bindings)
      : sizes(std::move(sizes)), bindings(bindings) {}

  /// The levels of the loops, outermost first.
  std::vector<Level> levels(llvm::ArrayRef<schedule::LoopOp> loops) const;

  /// Trips at the values of outer indices; emits an error where a bound is not
  /// known.
  llvm::FailureOr<Trips> trips(const Level &level,
                               const IndexValues &outer) const;

  /// Sum of `leaf` over all iterations of the levels. `leafDependsOn` are the
  /// indices that `leaf` reads.
  using Leaf = llvm::function_ref<double(const IndexValues &)>;
  llvm::FailureOr<double> sum(llvm::ArrayRef<Level> levels,
                              llvm::ArrayRef<mlir::Value> leafDependsOn,
                              Leaf leaf) const;
  /// Number of iterations.
  llvm::FailureOr<double> count(llvm::ArrayRef<Level> levels) const;
  /// The largest number of iterations of `inner` for any value of `outer`.
  llvm::FailureOr<double> largest(llvm::ArrayRef<Level> outer,
                                  llvm::ArrayRef<Level> inner) const;

  const IndexValues &knownSizes() const { return sizes; }

private:
  llvm::FailureOr<double> sumFrom(llvm::ArrayRef<Level> levels,
                                  llvm::ArrayRef<bool> sampled, unsigned most,
                                  Leaf leaf, IndexValues &values) const;
  llvm::LogicalResult visit(llvm::ArrayRef<Level> outer,
                            llvm::ArrayRef<Level> inner, IndexValues &values,
                            double &most) const;

  IndexValues sizes;
  const Bindings &bindings;
};

} // namespace modelc

#endif // LIB_COST_ITERATIONS_H
