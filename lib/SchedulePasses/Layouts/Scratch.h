//===- Scratch.h - Shared memory for exchanges across waves ---------------===//

#ifndef LIB_SCHEDULEPASSES_LAYOUTS_SCRATCH_H
#define LIB_SCHEDULEPASSES_LAYOUTS_SCRATCH_H

#include "dialects/Schedule/Schedule.h"

namespace modelc {

/// Gives every reduce and relayout whose elements cross waves a place to meet:
/// (parts x extent of the result) elements, or the whole tile.
void addScratch(schedule::KernelOp kernel);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_LAYOUTS_SCRATCH_H
