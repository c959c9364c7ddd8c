//===- shared.h - Tiles to and from shared memory -------------------------===//
//
//   Ring<S, 3> ring        places for a pipeline, indexed by the number of the trip
//   loadShared(x, ring[trip])       loadShared<Transposed>(x, place)      storeShared(x, place)
//   copyUnits<S, Waves, Bytes>(f)   how a workgroup copies a tile in units of Bytes a lane
//   unroll<3>(first, end, f)        a loop whose trips know their slot when compiled
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_SHARED_H
#define MODELC_TARGETS_TILE_SHARED_H

namespace modelc {

//===- Rings --------------------------------------------------------------===//

/// The number of a trip of an unrolled loop, and its distance from the start
/// modulo the slots, which is known when compiled. Rings are indexed by it.
struct Trip {
  int value, slot;
  TILE_MEMBER operator int() const { return value; }
  TILE_MEMBER Trip operator+(int count) const { return {value + count, slot + count}; }
  TILE_MEMBER Trip operator-(int count) const { return {value - count, slot - count}; }
};
TILE int slotOf(int trip, int slots) { return (unsigned)trip % (unsigned)slots; }
TILE int slotOf(Trip trip, int slots) { return (unsigned)(trip.slot + slots) % (unsigned)slots; }

/// `Slots` places in one piece of memory.
template <class S, int Slots>
struct Ring {
  char *first;
  template <class T>
  TILE_MEMBER Place<S> operator[](T trip) const {
#ifdef MODELC_EMULATOR
    char *places[Slots];
    repeat<Slots>([&](auto i) INLINE { places[i.value] = first + i.value * S::bytes; });
    ::emulator::noteRing(places, trip);
#endif
    return {first + slotOf(trip, Slots) * S::bytes};
  }
};

/// `Slots` places that are objects of their own, so that the compiler can tell them apart.
template <class S, int Slots>
struct ApartRing {
  char *places[Slots];
  template <class T>
  TILE_MEMBER Place<S> operator[](T trip) const {
#ifdef MODELC_EMULATOR
    ::emulator::noteRing(places, trip);
#endif
    const int slot = slotOf(trip, Slots);
    char *place = places[0];
    repeat<Slots>([&](auto i) INLINE { place = slot == i.value ? places[i.value] : place; });
    return {place};
  }
};

/// f(trip) for trips from `first` to `end`, `Slots` of them in one turn of the
/// loop, so that the slot of each is a constant. No test inside of a turn: a
/// compiler that counts copies in flight must not see trips that may be skipped.
template <int Slots, class F>
TILE void unroll(int first, int end, F f) {
  int trip = first;
  // Slots are what must be told apart; with all trips side by side their addresses fill the registers.
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
  for (; trip + Slots <= end; trip += Slots) {
    repeat<Slots>([&](auto slot) INLINE { f(Trip{trip + slot.value, slot.value}); });
  }
  repeat<Slots - 1>([&](auto slot) INLINE {
    if (trip + slot.value < end) {
      f(Trip{trip + slot.value, slot.value});
    }
  });
}

//===- Registers ----------------------------------------------------------===//

constexpr bool Transposed = true;

/// The bytes that the bits of an input of a register layout reach.
template <class S, bool T, class B>
struct BytesOf;
template <class S, bool T, int... I>
struct BytesOf<S, T, Bits<I...>> {
  using Type = Bits<(T ? S::atTransposed(I) : S::at(I))...>;
};

/// Which byte of a place each register of each lane of each wave holds.
template <class S, class L, bool T>
struct SharedAccess {
  using OfRegister = typename BytesOf<S, T, typename L::OfRegister>::Type;
  using OfLane = typename BytesOf<S, T, typename L::OfLane>::Type;
  using OfWave = typename BytesOf<S, T, typename L::OfWave>::Type;
  static constexpr int reach = OfLane::reach() | OfWave::reach();
  using InRegister = Run<OfRegister, (int)sizeof(typename S::Element), 16>;
  static constexpr int bytes = (int)sizeof(typename S::Element)
                               << smaller(InRegister::lengthBits(reach), log2Of(16 / sizeof(typename S::Element)));
  static constexpr int count = bytes / sizeof(typename S::Element);
  static constexpr int inner = InRegister::spread(count - 1);

  TILE_MEMBER static int start() {
    int byte = mapBits<OfLane>(laneId());
    if constexpr (OfWave::reach() != 0) {
      byte ^= mapBits<OfWave>(waveOf<L>());
    }
    return byte;
  }
  /// The bytes of register R: what lanes also reach is xored, the rest added.
  template <int R>
  TILE_MEMBER static int at(int start) {
    constexpr int image = OfRegister::map(R);
    return (start ^ (image & reach)) + (image & ~reach);
  }
};

/// All registers of a tile.
struct AllRegisters {
  TILE_CONSTEXPR static bool has(int) { return true; }
};

/// Reads a tile, or some of its registers, in words as wide as the layouts allow.
template <bool T = false, class Which = AllRegisters, class E, class L, class S>
TILE void loadShared(Tile<E, L> &tile, Place<S> from) {
  static_assert(sizeof(E) == sizeof(typename S::Element), "expected elements of equal width");
  using A = SharedAccess<S, L, T>;
  if constexpr (canReadMatrix<A, E>()) {
    readMatrix<A, Which>(tile, from.at);
  } else {
    const int start = A::start();
    repeat<L::registers>([&](auto r) INLINE {
      if constexpr ((r.value & A::inner) == 0 && Which::has(r.value)) {
        const auto pack = *(const Pack<E, A::count> *)(from.at + A::template at<r.value>(start));
        repeat<A::count>([&](auto e) INLINE { tile.v[r.value | A::InRegister::spread(e.value)] = pack.v[e.value]; });
      }
    });
  }
}

/// A tile that a product reads from its place as it goes, in layout L.
template <class S, class L, bool T>
struct Fragments {
  using Element = typename S::Element;
  using InLayout = L;
  Place<S> from;
};
template <class L, bool T = false, class S>
TILE Fragments<S, L, T> fragments(Place<S> from) {
  return {from};
}

/// Writes a tile; elements that several threads hold are written once.
template <bool T = false, class E, class L, class S>
TILE void storeShared(const Tile<E, L> &tile, Place<S> to) {
  static_assert(sizeof(E) == sizeof(typename S::Element), "expected elements of equal width");
  using A = SharedAccess<S, L, T>;
  const int start = A::start();
  if (!isFirstHolder<L>()) {
    return;
  }
  repeat<L::registers>([&](auto r) INLINE {
    if constexpr ((r.value & A::inner) == 0) {
      Pack<E, A::count> pack;
      repeat<A::count>([&](auto e) INLINE { pack.v[e.value] = tile.v[r.value | A::InRegister::spread(e.value)]; });
      *(Pack<E, A::count> *)(to.at + A::template at<r.value>(start)) = pack;
    }
  });
}

//===- Copies -------------------------------------------------------------===//

/// The positions of bytes 1 << First, ... of a place, as images.
template <class S, int First, class Sequence>
struct PositionsOf;
template <class S, int First, int... I>
struct PositionsOf<S, First, Sequence<I...>> {
  using Type = Bits<S::positionOf(1 << (First + I))...>;
};

/// A workgroup fills a place in the order of its bytes: lane i of a wave writes
/// `Bytes` bytes behind lane i - 1, so that all layout lies on the side that is
/// read. f(unit, byte of the wave, byte of the lane, position) once for each
/// unit, whose place is that of a register of the position.
/// A place smaller than what the waves write at once is written several times.
template <class S, int Waves, int Bytes, class F>
TILE void copyUnits(F f) {
  constexpr int waveBytes = Bytes * kWaveSize, waves = smaller(Waves, S::bytes / waveBytes);
  static_assert(S::bytes % waveBytes == 0 && S::bytes >= waveBytes, "expected a tile of whole units of all lanes");
  static_assert(S::positionOf(Bytes / 2) == columns(Bytes / 2 / (int)sizeof(typename S::Element)),
                "expected neighbouring columns in one unit");
  constexpr int unitBits = log2Of(Bytes), laneBits = log2Of(kWaveSize);
  using OfLane = typename PositionsOf<S, unitBits, typename SequenceTo<laneBits>::Type>::Type;
  using OfWave = typename PositionsOf<S, unitBits + laneBits, typename SequenceTo<log2Of(waves)>::Type>::Type;
  using OfUnit = typename PositionsOf<S, unitBits + laneBits + log2Of(waves),
                                      typename SequenceTo<log2Of(S::bytes / waveBytes / waves)>::Type>::Type;
  using L = Layout<S::rowCount, S::columnCount, OfUnit, OfLane, OfWave>;
  const Position<L> here;
  const int wave = waves == 1 ? 0 : waveId() % waves, lane = laneId();
  repeat<L::registers>([&](auto unit) INLINE { f(unit, (unit.value * waves + wave) * waveBytes, lane * Bytes, here); });
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_SHARED_H
