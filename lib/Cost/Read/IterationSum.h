//===- IterationSum.h - A sum over nested loops ---------------------------===//
//
// Indices that nothing reads are multiplied; the others are sampled: all values
// of a short loop, of a long one points between and the last ones. What is
// summed is a product of limits. Each bound of a limit is asked where the last
// index that it reads is set, and, if it reads no other, once for each point.
//
// Example: rows i and columns j of tiles, limits by m and n. i is sampled with
// m - 16 i at each point, j with n - 64 j. For every i whose tile is full, the
// sum over j is the same and is taken once.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_READ_ITERATIONSUM_H
#define LIB_COST_READ_ITERATIONSUM_H

#include "lib/Cost/Read/Iterations.h"

namespace modelc {

/// A value of an index and how many values it stands for.
struct Sample {
  double trip;
  double weight;
};

/// Samples of a loop.
using Samples = llvm::SmallVector<Sample, 12>;
Samples samples(double trips, unsigned most);

/// The sum over `levels`, at the values of indices outside of them.
class IterationSum {
public:
  IterationSum(const Iterations &iterations, llvm::ArrayRef<Level> levels,
               llvm::ArrayRef<Limit> limits, const IndexValues &outside);
  /// Levels that are sampled and not multiplied.
  unsigned sampled() const;
  /// With at most so many points of each level. Emits an error where a bound of
  /// a loop is not known.
  llvm::FailureOr<double> sum(unsigned mostPoints);

private:
  /// A bound of a limit.
  struct Bound {
    const IndexProgram *program = nullptr;
    int64_t value = 0; // where the sum stands
    bool readsOne = false;
    /// If it reads one index, along a line: at 0, and more for each further.
    std::optional<std::pair<int64_t, int64_t>> line;
    /// If it reads one index otherwise: at each point of its level.
    llvm::SmallVector<int64_t> atPoint;
  };
  /// The part of an extent that lies inside a limit.
  struct Part {
    Bound begin, end;
    double extent = 1;
    double value() const;
  };
  struct Nested {
    const Level *level = nullptr;
    int64_t *index = nullptr;             // in `values`
    llvm::SmallVector<Bound *, 4> bounds; // this index is the last they read
    llvm::SmallVector<Part *, 2> parts;   // this index is the last they read
    bool isRead = false; // further in, by bounds of loops or limits
    bool isFixed = true; // the same trips wherever outer levels stand
    std::optional<Trips> range;
    Samples points;
    bool isSampled() const { return isRead || !bounds.empty(); }
  };

  void place(Part &part);
  int place(Bound &bound);
  void findLine(Bound &bound, Nested &nest);
  void markRead(int depth);
  llvm::LogicalResult enter(Nested &nest);
  void moveTo(Nested &nest, unsigned point);
  llvm::FailureOr<double> sumFrom(unsigned depth, double product);

  const Iterations &iterations;
  IndexValues values;
  std::vector<Part> parts;
  std::vector<Nested> levels; // outermost first
  double fixedProduct = 1;    // of parts that read no index
  unsigned mostPoints = 0;
};

} // namespace modelc

#endif // LIB_COST_READ_ITERATIONSUM_H
