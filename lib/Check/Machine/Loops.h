//===- Loops.h - Loops of a kernel ----------------------------------------===//

#ifndef LIB_CHECK_MACHINE_LOOPS_H
#define LIB_CHECK_MACHINE_LOOPS_H

#include "lib/Check/Machine/Instruction.h"
#include <vector>

namespace modelc::check {

/// A loop: where it is entered, and its instructions in the order of the code.
struct Loop {
  uint32_t header = 0;
  std::vector<uint32_t> body;
};

/// Loops that have no other loop inside, in the order of their headers.
std::vector<Loop> innermostLoops(const std::vector<Instruction> &code);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_LOOPS_H
