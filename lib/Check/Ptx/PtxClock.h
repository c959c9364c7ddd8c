//===- PtxClock.h - What has happened before what -------------------------===//
//
// Races are found by order, not by chance. Every actor that touches memory has
// a clock of its own: each wave, each barrier in shared memory (for the copies
// that arrive there), and each queue of a wave (its 16-byte copies, its matrix
// operations, its box stores). What an actor does carries a stamp: who, and the
// time on its clock when it will be done. A wave knows, for each actor, up to
// which time it has waited; barriers pass on what those who arrive know. An
// access is in order if the wave knows the stamps of the accesses before it
// that it conflicts with, and poison otherwise: not yet there, or still being
// read.
//
// Example. Wave 0 starts a copy that will complete phase 3 of the barrier B:
// the bytes get the stamp (B, 3). Wave 1 reads them: an error unless it has
// waited for phase 3 of B, or has met a wave that has.
//
// Ordinary writes are seen by asynchronous units only behind a proxy fence;
// `fenced` is what such units see.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_PTX_PTXCLOCK_H
#define LIB_CHECK_PTX_PTXCLOCK_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace modelc::ptx {

/// Who in the upper 8 bits, when in the others; 0 is before all.
using Stamp = uint32_t;
inline Stamp stampOf(uint32_t who, uint32_t when) {
  return who << 24 | (when & 0xFFFFFF);
}
inline uint32_t whoOf(Stamp stamp) { return stamp >> 24; }
inline uint32_t whenOf(Stamp stamp) { return stamp & 0xFFFFFF; }

/// Up to which time each actor is known.
class Clock {
public:
  bool knows(Stamp stamp) const {
    uint32_t who = whoOf(stamp);
    return (who < times.size() ? times[who] : 0) >= whenOf(stamp);
  }
  uint32_t timeOf(uint32_t who) const {
    return who < times.size() ? times[who] : 0;
  }
  /// Learns of an actor; never forgets.
  void learn(uint32_t who, uint32_t when);
  void join(const Clock &other);
  /// Time of an actor becomes what it was.
  void rewind(uint32_t who, uint32_t when);

private:
  std::vector<uint32_t> times;
};

/// What an actor knows, and what of it asynchronous units see through it.
struct Knowledge {
  Clock all, fenced;
  void join(const Knowledge &other) {
    all.join(other.all);
    fenced.join(other.fenced);
  }
};

/// Sets of stamps, by number; 0 is empty.
class StampSets {
public:
  StampSets() : sets(1) {}
  /// The set with one more; a later stamp of an actor replaces its earlier one.
  uint32_t add(uint32_t set, Stamp stamp);
  const llvm::SmallVector<Stamp, 4> &at(uint32_t set) const {
    return sets[set];
  }

private:
  std::vector<llvm::SmallVector<Stamp, 4>> sets;
  llvm::DenseMap<std::pair<uint32_t, Stamp>, uint32_t> known;
};

/// Who touched a cell of memory last.
struct CellState {
  Stamp writer = 0;
  uint32_t readers = 0; // since then, number of a set
};

/// An access to cells of a memory.
struct Touch {
  bool writes = false;
  Stamp stamp = 0;                 // of the access itself
  const Clock *known = nullptr;    // of who accesses
  const Clock *ordinary = nullptr; // the same for stamps of waves
};

/// Two accesses without an order.
struct Conflict {
  size_t cell = 0;
  Stamp other = 0;
  bool otherWrites = false;
};

/// A memory whose cells remember who touched them.
class Cells {
public:
  /// Stamps of the first `ordinary` actors are ordinary accesses.
  void reset(size_t count, uint32_t ordinary) {
    states.assign(count, {});
    ordinaryActors = ordinary;
  }
  size_t size() const { return states.size(); }
  /// Notes an access; says what it conflicts with.
  std::optional<Conflict> touch(size_t first, size_t count, const Touch &touch);

private:
  bool isOrdered(Stamp other, const Touch &touch) const {
    const Clock *known =
        whoOf(other) < ordinaryActors ? touch.ordinary : touch.known;
    return known->knows(other);
  }
  std::vector<CellState> states;
  StampSets sets;
  uint32_t ordinaryActors = 0;
};

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXCLOCK_H
