//===- OperandSource.h - How operands come to where they are read ---------===//
//
// The one place that answers what copies can fetch, so that the choice of an
// instruction and the placing of its operands agree.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_PLACEMENT_OPERANDSOURCE_H
#define LIB_SCHEDULEPASSES_PLACEMENT_OPERANDSOURCE_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"

namespace modelc {

/// Whether lanes can copy the tile in pieces of the target's width: rows are
/// contiguous and begin at a multiple of it.
bool isCopyable(schedule::LoadOp load, const Target &target);

/// Whether one instruction of the copy unit can fetch what the operand of a
/// product is loaded from.
bool isBox(mlir::Value operand, const Target &target);

/// The same of words of scales, which lie in the order in which copies to
/// tensor memory read them.
bool isBoxOfScales(mlir::Value scales, const Target &target);

/// Whether lanes can copy the operand of a product to where the matrix unit
/// reads it: rows that a swizzle of the unit knows, read by products only.
bool isCopiedByLanes(mlir::Value operand, const Target &target);

/// Whether waves can store the operand of a product, a value that they have
/// computed beside it, to where the matrix unit reads it.
bool isStoredByWaves(schedule::MmaOp mma, mlir::Value operand,
                     const Target &target);

/// Whether the op runs more than once in the life of a workgroup. Conditions
/// are loops of at most one trip.
bool isRepeated(mlir::Operation *op);

/// What the loop around `block` hands on to the next trip as `value`, if that
/// is a value that it carries; else `value` itself.
mlir::Value handedOn(mlir::Value value, mlir::Block *block);

/// What beside `mma` alone uses its result and is used once: a map, or a
/// condition that maps it; null if there is none.
mlir::Operation *changedAfter(schedule::MmaOp mma);

/// The map of what `changedAfter` gives.
schedule::MapOp changeOf(mlir::Operation *after);

/// The value that a loop carries from zero and that `mma` accumulates into, as
/// it is or as one map of it, before or after the product; null if there is
/// none.
mlir::BlockArgument carriedAccumulator(schedule::MmaOp mma);

/// Whether the product can leave its sums in tensor memory: a sum from zero
/// that is read at once, or one that a loop carries, in a loop that runs once,
/// so that barriers count its trips.
bool isDrained(schedule::MmaOp mma);

/// Whether a loop that runs once carries the accumulator of `mma` from zero and
/// from trip to trip, so that barriers count its trips.
bool isCarriedFromZero(schedule::MmaOp mma);

/// Whether the product of a trip is one of its own, which the waves add to what
/// their loop carries, in a loop that runs once.
bool isFresh(schedule::MmaOp mma);

/// Whether boxes fetch what `mma`, and every other product beside it, reads.
/// Fresh products are left to lanes unless roles keep the ring.
bool isFedByBoxes(schedule::MmaOp mma, const Target &target);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_PLACEMENT_OPERANDSOURCE_H
