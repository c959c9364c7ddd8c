#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/STLExtras.h"

namespace modelc {

llvm::StringRef gradeName(Grade grade) {
  static constexpr llvm::StringRef kNames[] = {"datasheet", "measured",
                                               "derived", "assumed"};
  return kNames[unsigned(grade)];
}

const SharedAccess *SharedMemory::access(llvm::StringRef kind,
                                         int64_t bytes) const {
  for (const SharedAccess &access : accesses) {
    if (access.kind == kind && access.bytes == bytes) {
      return &access;
    }
  }
  return nullptr;
}

const Fact *Target::fact(llvm::StringRef key) const {
  auto found = facts.find(key.str());
  return found == facts.end() ? nullptr : &found->second;
}

const MmaRow *Target::instruction(llvm::StringRef name) const {
  for (const MmaRow &row : mma) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

double Target::flopPerSecond(const MmaRow &row, double clockHz) const {
  double hertz = clockHz > 0 ? clockHz : clock.boostHz;
  return row.flopPerClock * execution.units * hertz;
}

double Target::clocksPerInstruction(const MmaRow &row, int64_t width) const {
  // What one wave issues runs on one pipe, what is issued for many on all.
  double pipes = row.scope == MmaScope::Wave ? execution.matrixPipesPerUnit : 1;
  return row.flop(width) / (row.flopPerClock / pipes);
}

double Target::sustainedHz(llvm::StringRef type) const {
  auto found = clock.sustainedHz.find(type.str());
  return found == clock.sustainedHz.end() ? clock.boostHz : found->second;
}

} // namespace modelc
