//===- MachineCode.h - Matrix instructions of loops, wanted and found -----===//
//
// Inner to lib/Emit. The IR says how many matrix instructions a trip of a loop
// needs; the text that a compiler wrote says how many there are.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_PACKAGE_MACHINECODE_H
#define LIB_EMIT_PACKAGE_MACHINECODE_H

#include "lib/Emit/Emit.h"
#include <optional>
#include <set>

namespace modelc {

/// Matrix instructions that one issuer (wave, group of waves or thread) starts
/// in a trip of a loop of the IR.
struct LoopNeed {
  std::string index;   ///< the loop's, as the IR names it
  int64_t perTrip = 0; ///< without those of loops inside
  int64_t whole = 0;   ///< with them, where their trips are known, else 0
  int64_t copies = 1;  ///< trips that the source has one behind the other
  std::optional<int64_t> mostTrips; ///< where the IR says
};

/// Matrix instructions of one issuer for one product.
int64_t matrixInstructionsOf(schedule::MmaOp mma, const Target &target);

/// What a kernel needs of them.
struct MatrixNeeds {
  std::vector<LoopNeed> loops;  ///< those that multiply, outermost first
  std::optional<int64_t> total; ///< of all trips, where these are known
};
MatrixNeeds matrixNeeds(schedule::KernelOp kernel, const Target &target);

/// Of those, the loop with the most products in a trip; null if none
/// multiplies.
const LoopNeed *mainLoopOf(llvm::ArrayRef<LoopNeed> loops);

/// Matrix instructions that the kernel asks for, and those that do its
/// products: compilers know of scales that are constants.
struct Mnemonics {
  std::set<std::string> demanded, counted;
};
Mnemonics mnemonicsOf(schedule::KernelOp kernel, const Target &target);

/// Where instructions of these mnemonics stand in a function's text.
MatrixCode matrixCodeOf(llvm::StringRef assembly,
                        const std::set<std::string> &mnemonics);

/// What is wrong with the matrix instructions of a kernel's code, or empty.
/// Compilers copy the trips of short loops, with all their waits, and write out
/// all trips of the shortest.
std::string reasonAgainst(const MatrixNeeds &needs, const MatrixCode &code);

/// How often the trip of a loop stands in one of the code; 0: not at all.
int64_t copiesIn(const CodeLoop &loop, const LoopNeed &need);

} // namespace modelc

#endif // LIB_EMIT_PACKAGE_MACHINECODE_H
