//===- GridOrder.cpp - Which workgroup computes which tile ----------------===//
//
// Workgroups are dealt to the chiplets in turn: number w runs on chiplet
// w % chiplets as its w / chiplets -th. Each chiplet owns a run of neighbouring
// tiles. Within the last two indices tiles are numbered down the columns of
// `groupRows` rows, then the next rows.
//
// Example: 4 x 2 tiles, two chiplets, groups of two rows. Tiles 0 to 7 are
// (0,0) (1,0) (0,1) (1,1) (2,0) (3,0) (2,1) (3,1); chiplet 0 owns the first
// four, so workgroups 0, 2, 4, 6 compute them and 1, 3, 5, 7 the others.
//
//===----------------------------------------------------------------------===//

#include "dialects/Schedule/Schedule.h"
#include <algorithm>

using namespace modelc::schedule;

GridOrder::GridOrder(llvm::ArrayRef<int64_t> order)
    : chiplets(order.empty() ? 1 : order[0]),
      groupRows(order.size() < 2 ? 1 : order[1]) {}

void GridOrder::indicesOf(int64_t workgroup, llvm::ArrayRef<int64_t> extents,
                          llvm::SmallVectorImpl<int64_t> &indices) const {
  int64_t total = 1;
  for (int64_t extent : extents) {
    total *= extent;
  }
  int64_t chiplet = workgroup % chiplets;
  int64_t tile = chiplet * (total / chiplets) +
                 std::min(chiplet, total % chiplets) + workgroup / chiplets;
  size_t rank = extents.size();
  indices.assign(rank, 0);
  if (rank >= 2) {
    int64_t rows = extents[rank - 2], columns = extents[rank - 1];
    int64_t inside = tile % (rows * columns);
    tile /= rows * columns;
    int64_t first = inside / (groupRows * columns) * groupRows;
    int64_t height = std::min(groupRows, rows - first);
    inside -= first * columns;
    indices[rank - 2] = first + inside % height;
    indices[rank - 1] = inside / height;
    rank -= 2;
  }
  for (; rank > 0; --rank) {
    indices[rank - 1] = tile % extents[rank - 1];
    tile /= extents[rank - 1];
  }
}
