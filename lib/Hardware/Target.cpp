#include "lib/Hardware/Hardware.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace modelc {

const SharedAccess *SharedMemory::access(llvm::StringRef kind,
                                         int64_t bytes) const {
  for (const SharedAccess &access : accesses) {
    if (access.kind == kind && access.bytes == bytes) {
      return &access;
    }
  }
  return nullptr;
}

/// 8 of "f8E4M3FN", 16 of "bf16".
static unsigned bitsOf(llvm::StringRef type) {
  unsigned bits = 0;
  type = type.drop_until([](char c) { return llvm::isDigit(c); });
  type.consumeInteger(10, bits);
  return bits;
}

const std::string &MmaRow::ratedType() const {
  const std::string &own = bitsOf(bType) > bitsOf(aType) ? bType : aType;
  return computeType.empty() ? own : computeType;
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

double Target::startSeconds() const {
  double read = memory.latencyClocks / clock.boostHz;
  return launch.gap + (launch.readsArguments ? read : 0);
}

double Target::portBytesPerClock(double clockHz) const {
  return cache.unitBytesPerClock > 0
             ? cache.unitBytesPerClock
             : cache.l2Bandwidth / static_cast<double>(execution.units) /
                   clockHz;
}

int64_t Target::tripsAhead(double clocks, double bytes,
                           int64_t registers) const {
  constexpr double kSpare = 0.5; // trips
  constexpr int64_t kLeast = 2, kMostRegisters = 64;
  int64_t most = std::max(kLeast, kMostRegisters / registers);
  double trip = std::max(clocks, bytes / portBytesPerClock(clock.boostHz));
  double ahead = std::ceil(memory.latencyClocks / trip + kSpare);
  return std::clamp(static_cast<int64_t>(ahead), kLeast, most);
}

double Target::joulesOver(double clockHz) const {
  double at = power.atClockHz > 0 ? power.atClockHz : clock.boostHz;
  return std::pow(clockHz / at, power.clockExponent);
}

double Target::sustainedHz(llvm::StringRef type) const {
  auto found = clock.sustainedHz.find(type.str());
  return found == clock.sustainedHz.end() ? clock.boostHz : found->second;
}

int64_t Target::tileRowsOfChiplet(int64_t groupRows) const {
  if (groupRows) {
    return llvm::divideCeil(groupRows, execution.chiplets);
  }
  int64_t units = execution.units / execution.chiplets;
  int64_t rows = 1;
  while (rows * rows * 4 <= units) {
    rows *= 2;
  }
  return rows;
}

int64_t Execution::registersOf(int64_t waves) const {
  return std::min(maxRegistersPerThread,
                  registerBytesPerUnit / 4 / (waves * waveSize));
}

int64_t Execution::registersOfRole(int64_t waves) const {
  int64_t granule = std::max<int64_t>(registerGranule, 1);
  int64_t all = waves + kWavesOfGroup;
  int64_t atLaunch = llvm::alignDown(registersOf(all), granule);
  if (!reassignsRegisters) {
    return atLaunch;
  }
  int64_t left = atLaunch * all - kCopyRegisters * kWavesOfGroup;
  return llvm::alignDown(std::min(maxRegistersPerThread, left / waves),
                         granule);
}

int64_t Target::ringSlots(int64_t slotBytes, int64_t freeBytes,
                          bool hasBarriers) const {
  constexpr int64_t kMost = 8;
  // Little's law, for the share of one unit.
  double inFlight = memory.bandwidth * memory.latencyClocks / clock.boostHz /
                    static_cast<double>(execution.units);
  auto covering =
      static_cast<int64_t>(std::ceil(inFlight / double(slotBytes))) + 1;
  int64_t wanted = std::max<int64_t>(covering, hasBarriers ? 4 : 3);
  return std::max<int64_t>(1, std::min({wanted, freeBytes / slotBytes, kMost}));
}

} // namespace modelc
