//===- readMatrix.hip.h - Shared memory to fragments, transposed ----------===//
//
// Included by tiles.hip.h between ../tile/layout.h and the rest of ../tile.h:
// loadShared asks here whether a lane reads neighbours of a column where memory
// has neighbours of a row. gfx950 transposes 4 rows x 16 columns of 16 bits, or
// 8 rows of 8 bits, for each 16 lanes.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_AMD_READMATRIX_HIP_H
#define TARGETS_AMD_READMATRIX_HIP_H

namespace modelc {

/// Which bytes the lanes name and get of numbers of `Bytes`. A:
/// modelc::SharedAccess.
template <class A, int Bytes>
struct TransposedWords {
  using R = typename A::OfRegister;
  using L = typename A::OfLane;
  static constexpr int rowBits = Bytes == 2 ? 2 : 3;

  /// Lanes 0 to 15 get 16 columns; all else leads to other units of 8 bytes.
  TILE_CONSTEXPR static bool fits() {
    if (L::count != 6 || R::count < rowBits) {
      return false;
    }
    int others = A::OfWave::reach() | L::image(4) | L::image(5);
    for (int bit = 0; bit < R::count; bit++) {
      others |= R::image(bit);
    }
    return L::image(0) == Bytes && L::image(1) == 2 * Bytes &&
           L::image(2) == 4 * Bytes && L::image(3) == 8 * Bytes &&
           (others & 7) == 0;
  }
};
/// Lane i names row i / 4, columns 4 * (i % 4) of its group's matrix; of 8 bits
/// row i / 2, columns 8 * (i % 2).
template <class A, int Bytes, class R = typename A::OfRegister,
          class L = typename A::OfLane>
struct NamedBytes {
  using Type = Bits<L::image(2), L::image(3), R::image(0), R::image(1),
                    L::image(4), L::image(5)>;
};
template <class A, class R, class L>
struct NamedBytes<A, 1, R, L> {
  using Type = Bits<L::image(3), R::image(0), R::image(1), R::image(2),
                    L::image(4), L::image(5)>;
};

template <class A, class E>
TILE_CONSTEXPR bool canReadMatrix() {
  if constexpr (MODELC_CHIP < 950 || sizeof(E) > 2) {
    return false;
  } else {
    return TransposedWords<A, sizeof(E)>::fits();
  }
}

/// Registers of one read.
template <class A, class E>
TILE_CONSTEXPR int registersOfRead() {
  return canReadMatrix<A, E>() ? 8 / (int)sizeof(E) : A::inner + 1;
}

/// Reads the registers that `Which` has, four or eight rows at a time.
template <class A, class Which, class T>
TILE void readMatrix([[maybe_unused]] T &tile,
                     [[maybe_unused]] const char *place) {
#if MODELC_CHIP >= 950
  constexpr int bytes = sizeof(tile.v[0]);
  using Named = typename NamedBytes<A, bytes>::Type;
  constexpr int reach = Named::reach() | A::OfWave::reach();
  int start = mapBits<Named>(laneId());
  if constexpr (A::OfWave::reach() != 0) {
    start ^= mapBits<typename A::OfWave>(waveId());
  }
  repeat<T::InLayout::registers>([&](auto r) INLINE {
    if constexpr (r.value % (8 / bytes) == 0 && Which::has(r.value)) {
      constexpr int image = A::OfRegister::map(r.value);
      const char *at = place + ((start ^ (image & reach)) + (image & ~reach));
      const i32x2 words =
          bytes == 2 ? readTransposed16(at) : readTransposed8(at);
      __builtin_memcpy(tile.v + r.value, &words, sizeof(words));
    }
  });
#endif
}

} // namespace modelc

#endif // TARGETS_AMD_READMATRIX_HIP_H
