// How often a kernel fills the places of its rings. A place that a test fills
// once shows nothing of what fills it again: from which depth, and whether its
// readers are done. So a test asks, when it has run its kernels:
//
//   emulator::requireTurns()     each ring was filled more often than it has
//                                slots, in the sum of some block
//
// Rings report themselves when a kernel names a place of theirs (Ring,
// targets/tile/shared.h); a fill is a copy that brings something to the first
// byte of a place.
#ifndef TARGETS_EMULATOR_RINGS_H
#define TARGETS_EMULATOR_RINGS_H

#include "grid.h"

#include <algorithm>

namespace emulator {

/// Notes that the running thread names a place of a ring with `Slots` places of
/// the block's memory, for the trip of this number.
template <int Slots>
void noteRing(char *const (&places)[Slots], int trip) {
  Unseen unseen;
  std::vector<RingUse> &rings = self().block->rings;
  auto isOwn = [&](const RingUse &ring) {
    return ring.places.size() == Slots && ring.places[0] == places[0];
  };
  auto found = std::find_if(rings.begin(), rings.end(), isOwn);
  if (found == rings.end()) {
    rings.push_back({{places, places + Slots}});
    found = std::prev(rings.end());
  }
  found->trips = std::max(found->trips, trip + 1);
}

/// Notes a copy to shared memory of the block, of what lies at `from` now.
/// Zeros are what is beyond a tensor.
inline void noteFill(Block &block, const char *to, const char *from,
                     size_t bytes) {
  Unseen unseen;
  for (RingUse &ring : block.rings) {
    if (std::find(ring.places.begin(), ring.places.end(), to) !=
            ring.places.end() &&
        std::any_of(from, from + bytes, [](char byte) { return byte != 0; })) {
      ++ring.fills;
    }
  }
}

/// Keeps the most that a block of a kernel did with each of its rings. Blocks
/// that go on from tile to tile share it out among their sums.
inline void keepRings(const Block &block) {
  const Shape &shape = block.launch->shape;
  for (const RingUse &ring : block.rings) {
    RingUse &most = state.rings[{shape.kernel, ring.places[0] - block.arena,
                                 int(ring.places.size())}];
    most.fills = std::max(most.fills, ring.fills / shape.sums);
    most.trips = std::max(most.trips, ring.trips / shape.sums);
  }
}

/// Fails when a ring of a kernel that ran was filled no more often than it has
/// slots; one that no copy fills, when it served no more trips.
inline void requireTurns() {
  for (const auto &[ring, use] : state.rings) {
    const auto &[kernel, offset, slots] = ring;
    int turns = use.fills ? use.fills : use.trips;
    if (turns <= slots) {
      fail("kernel '%s': the ring of %d slots at byte %td was filled %d times "
           "at most; expected a test with more trips than slots",
           kernel.c_str(), slots, offset, turns);
    }
  }
}

} // namespace emulator

#endif // TARGETS_EMULATOR_RINGS_H
