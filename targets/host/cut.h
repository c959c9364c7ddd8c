//===- cut.h - The part of a tensor that a rank has -----------------------===//
#ifndef MODELC_HOST_CUT_H
#define MODELC_HOST_CUT_H

#include "numbers.h"
#include "source.h"

namespace modelc_host {

/// Where rows and columns of a part begin, and how many there are.
struct Cut {
  int64_t firstRow = 0, rows = 0, firstColumn = 0, columns = 0;
};

inline int64_t rowsOf(const mc_tensor &tensor) {
  return tensor.rank ? tensor.shape[0] : 1;
}

/// Numbers of a row.
inline int64_t widthOf(const mc_tensor &tensor) {
  int64_t width = tensor.rank > 1 ? numbersOf(tensor.type) : 1;
  for (int i = 1; i < tensor.rank; ++i) {
    width *= tensor.shape[i];
  }
  return width;
}

/// The largest magnitude of neighbours.
inline float largestOf(const mc_tensor &tensor, int64_t begin, int64_t count) {
  float largest = 0;
  for (int64_t i = begin; i < begin + count; ++i) {
    largest = std::fmax(largest, std::fabs(elementOf(tensor, i)));
  }
  return largest;
}

/// What a rank has of a tensor.
inline Cut cutOf(const mc_tensor &tensor, const SourcePart &part, int rank) {
  Cut cut;
  cut.rows = rowsOf(tensor) + part.padding;
  cut.columns = widthOf(tensor);
  int64_t &count = part.dim == 0 ? cut.rows : cut.columns;
  count /= part.parts;
  const int64_t first =
      part.parts == 1 ? 0 : count * (rank / part.copies % part.parts);
  (part.dim == 0 ? cut.firstRow : cut.firstColumn) = first;
  return cut;
}

} // namespace modelc_host

#endif // MODELC_HOST_CUT_H
