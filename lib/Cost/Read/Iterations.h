//===- Iterations.h - How often the ops of nested loops run ---------------===//

#ifndef LIB_COST_READ_ITERATIONS_H
#define LIB_COST_READ_ITERATIONS_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Cost/Read/Expressions.h"

namespace modelc {

/// One index of a loop with its bounds.
struct Level {
  schedule::LoopOp loop;
  mlir::Value index;
  const IndexProgram *lower, *upper;
  const IndexProgram *step = nullptr; // null: 1
  bool known = true; // the bounds follow from sizes and outer indices
  /// Whether known bounds read an outer index.
  bool reads(mlir::Value outer) const;
};

/// Trips of one execution of a loop along an index, and where they begin.
struct Trips {
  double count = 0;
  int64_t first = 0, step = 1;
};

/// The part of a tile that lies inside a limit: of `extent` elements from
/// `begin`, those before `end`.
struct Limit {
  const IndexProgram *begin, *end;
  double extent;
};

/// Means over loops whose bounds and bodies depend on outer indices. Indices on
/// which nothing depends are multiplied; the others are sampled: all values of
/// a short loop, of a long one points between and the last ones.
class Iterations {
public:
  /// `programs` outlive it and its levels.
  Iterations(IndexValues sizes, const Bindings &bindings,
             IndexPrograms &programs)
      : sizes(std::move(sizes)), bindings(bindings), programs(programs) {}

  /// The levels of the loops, outermost first.
  std::vector<Level> levels(llvm::ArrayRef<schedule::LoopOp> loops) const;

  /// Trips at the values of outer indices; emits an error where a bound is not
  /// known.
  llvm::FailureOr<Trips> trips(const Level &level,
                               const IndexValues &outer) const;

  /// Sum over all iterations of the product of the parts, from 0 to 1, that lie
  /// inside the limits.
  llvm::FailureOr<double> sum(llvm::ArrayRef<Level> levels,
                              llvm::ArrayRef<Limit> limits) const;
  /// Number of iterations.
  llvm::FailureOr<double> count(llvm::ArrayRef<Level> levels) const;
  /// The largest number of iterations of `inner` for any value of `outer`.
  llvm::FailureOr<double> largest(llvm::ArrayRef<Level> outer,
                                  llvm::ArrayRef<Level> inner) const;

  const IndexValues &knownSizes() const { return sizes; }

private:
  llvm::LogicalResult visit(llvm::ArrayRef<Level> outer,
                            llvm::ArrayRef<Level> inner, IndexValues &values,
                            double &most) const;

  IndexValues sizes;
  const Bindings &bindings;
  IndexPrograms &programs;
};

} // namespace modelc

#endif // LIB_COST_READ_ITERATIONS_H
