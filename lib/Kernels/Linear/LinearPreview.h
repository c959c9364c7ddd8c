//===- LinearPreview.h - Seconds of a linear's tile by arithmetic ---------===//
//
// What the cost model says of a finished schedule, foretold from the tile: the
// same units and rates, the ring that the pipeline would make, the workgroups
// that a unit would hold, rounds of the grid. It is no cost: it only decides
// which few schedules are made and judged.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_LINEAR_LINEARPREVIEW_H
#define LIB_KERNELS_LINEAR_LINEARPREVIEW_H

#include "lib/Hardware/Hardware.h"
#include "lib/Kernels/Linear/LinearFamily.h"

namespace modelc::kernels {

class LinearPreview {
public:
  /// Of `rows` rows of d.
  LinearPreview(const Target &target, const LinearShape &shape, int64_t rows);

  /// Seconds with the products done by `row`; where weights are asked for early
  /// the mean of those with and without what came.
  double seconds(const LinearTile &tile, const MmaRow &row) const;
  /// No tile takes less that asks for as much early: what must come from and go
  /// to device memory.
  double memorySeconds(const LinearTile &tile) const;

private:
  struct Workgroup;
  struct Load {
    double perUnit = 1, active = 1; ///< workgroups of a unit, of all units
  };
  double partBytes(const LinearTile &tile) const;
  double memoryClocks(double read, double written) const;
  void addTrip(Workgroup &one, const LinearTile &tile, const MmaRow &row) const;
  void addScaling(Workgroup &one, const LinearTile &tile,
                  const MmaRow &row) const;
  void addMemory(Workgroup &one, const LinearTile &tile) const;
  Workgroup describe(const LinearTile &tile, const MmaRow &row) const;
  double workgroupsPerUnit(const LinearTile &tile, const MmaRow &row,
                           const Workgroup &one) const;
  double cacheClocks(const Workgroup &one, const Load &load) const;
  double tripClocks(const Workgroup &one, const Load &load) const;
  double roundClocks(const Workgroup &one, const Load &load) const;
  double gridClocks(const Workgroup &one, double perUnit) const;
  double powerSeconds(Workgroup one, double seconds, double perUnit) const;
  double addingSeconds(const LinearTile &tile) const;
  double earlyBytes(const LinearTile &tile) const;
  double seconds(const Workgroup &one, const LinearTile &tile,
                 const MmaRow &row) const;
  double quantisingSeconds() const;

  const Target &target;
  const LinearShape &shape;
  double rows, products;
  double inputBytes, weightBytes; ///< of a number
  double clockHz;
  double matrixSlowdown; ///< of products at that clock
  double joulesPerFlop;
  double experts = 1;       ///< whose matrices are read
  double operands, results; ///< bytes that move at least once
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_LINEAR_LINEARPREVIEW_H
