//===- grid.h - Which tile a workgroup owns -------------------------------===//
//
// What `order` of a grid means, for a kernel; the compiler's own is
// dialects/Schedule/GridOrder.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_GRID_H
#define MODELC_TARGETS_TILE_GRID_H

namespace modelc {

/// Which tile a workgroup owns.
struct GridPosition {
  int row, column;
};

/// Neighbouring tiles to one chiplet: the workgroups that the dispatcher deals
/// to `Chiplets` chiplets in turn get consecutive numbers in each. A bijection.
template <int Chiplets>
TILE int chipletOrder(int id, int count) {
  if constexpr (Chiplets <= 1) {
    return id;
  } else {
    const int chiplet = id % Chiplets, left = count % Chiplets;
    return chiplet * (count / Chiplets) + minimum(chiplet, left) + id / Chiplets;
  }
}
/// Columns of `Group` rows after each other, then the next rows. A bijection.
template <int Group>
TILE GridPosition groupedOrder(int id, int rows, int columns) {
  if constexpr (Group <= 1) {
    return {id / columns, id % columns};
  } else {
    const int first = id / (Group * columns) * Group, height = minimum(rows - first, Group);
    const int within = id - first * columns;
    return {first + within % height, within / height};
  }
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_GRID_H
