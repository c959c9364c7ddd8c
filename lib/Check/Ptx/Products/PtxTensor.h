//===- PtxTensor.h - Tensor memory and the products into it ---------------===//

#ifndef LIB_CHECK_PTX_PRODUCTS_PTXTENSOR_H
#define LIB_CHECK_PTX_PRODUCTS_PTXTENSOR_H

#include "lib/Check/Ptx/PtxLanes.h"

namespace modelc::ptx {

/// Parts of 32 lanes of the tensor memory of a workgroup.
struct Parts {
  unsigned rank = 0, first = 0, count = 4;
};

/// Notes an access to columns of some of the four parts of 32 lanes.
bool touchTensor(Warp &warp, const Parts &parts, uint32_t column,
                 uint32_t columns, bool writes, Stamp stamp);

/// Whether the warp is of the first of so many workgroups that took their
/// columns together; fails if not.
bool areTogether(Warp &warp, unsigned workgroups);

/// [d], A or [A], B, descriptor, adds; `how` workgroups together.
void issueProduct(Warp &warp, const Instruction &i);
/// [d], A, B, descriptor, [scales of A], [scales of B], adds; `how` workgroups
/// together.
void issueScaledProduct(Warp &warp, const Instruction &i);
/// [d], descriptor: scales of blocks, 128 rows, in each of `how` workgroups.
void copyScales(Warp &warp, const Instruction &i);
/// [barrier][, ranks]: one arrival when all that the wave has queued is done,
/// in its own workgroup or in those whose bits are set.
void commitProducts(Warp &warp, const Instruction &i);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PRODUCTS_PTXTENSOR_H
