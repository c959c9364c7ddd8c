//===- groups.h - Scales in f32 of groups of rows and columns -------------===//
#ifndef MODELC_HOST_GROUPS_H
#define MODELC_HOST_GROUPS_H

#include "numbers.h"

#include <vector>

namespace modelc_host {

/// The scales of a matrix, one for each `group` x `group` numbers of it: the
/// checkpoint's own, or those that make the largest magnitude of a group 448; 1
/// for zeros.
class GroupScales {
public:
  /// `stored` without data: they are computed.
  GroupScales(const mc_tensor &matrix, const mc_tensor &stored, int64_t group)
      : matrix(matrix), stored(stored), group(group) {}

  /// Whether the checkpoint's own are of this matrix.
  bool fit() const {
    return !stored.data ||
           (stored.rank == 2 && stored.shape[0] == groupsOf(matrix.shape[0]) &&
            stored.shape[1] == groupsOf(matrix.shape[1]));
  }

  /// That of the number at a row and column.
  float at(int64_t row, int64_t column) {
    const int64_t of = groupsOf(matrix.shape[1]);
    if (stored.data) {
      return elementOf(stored, row / group * of + column / group);
    }
    if (row / group != band) {
      band = row / group;
      computeBand();
    }
    return ofBand[size_t(column / group)];
  }

  /// The number there over its scale: of 8 bits, as the checkpoint's own are.
  float narrowAt(int64_t row, int64_t column) {
    return stored.data ? numberAt(row, column)
                       : numberAt(row, column) / at(row, column);
  }
  /// The number there, times its scale where the checkpoint has any.
  float wideAt(int64_t row, int64_t column) {
    return stored.data ? numberAt(row, column) * at(row, column)
                       : numberAt(row, column);
  }

private:
  float numberAt(int64_t row, int64_t column) const {
    return elementOf(matrix, row * matrix.shape[1] + column);
  }
  int64_t groupsOf(int64_t count) const { return (count + group - 1) / group; }

  /// The scales of the groups of one row of them.
  void computeBand() {
    const int64_t width = matrix.shape[1];
    ofBand.assign(size_t(groupsOf(width)), 0);
    for (int64_t row = band * group;
         row < matrix.shape[0] && row < (band + 1) * group; ++row) {
      for (int64_t column = 0; column < width; ++column) {
        float &largest = ofBand[size_t(column / group)];
        largest = std::fmax(largest,
                            std::fabs(elementOf(matrix, row * width + column)));
      }
    }
    for (float &largest : ofBand) {
      largest = largest > 0 ? largest / kLargestE4M3 : 1;
    }
  }

  mc_tensor matrix, stored;
  int64_t group, band = -1;
  std::vector<float> ofBand;
};

} // namespace modelc_host

#endif // MODELC_HOST_GROUPS_H
