//===- readMatrix.cuh - Shared memory to fragments by ldmatrix ------------===//
//
// Included by tiles.cuh between ../tile/layout.h and the rest of ../tile.h:
// loadShared asks here whether the bytes that it reads are matrices of 8 rows of
// 16 bytes, of which each lane gets 4 bytes (straight) or two elements of one
// column (transposed).
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_READMATRIX_CUH
#define TARGETS_NVIDIA_READMATRIX_CUH

namespace modelc {

enum class MatrixRead { None, Straight, Transposing };

/// Which registers of a word lie where in a matrix. A: modelc::SharedAccess.
template <class A, class E>
struct MatrixWords {
  static constexpr int perWord = 4 / sizeof(E), wordBits = sizeof(E) == 1 ? 2 : 1;
  using R = typename A::OfRegister;
  using L = typename A::OfLane;

  /// All but the bits within a row of 16 bytes lead to other rows.
  TILE_CONSTEXPR static bool leadsToRows(int skippedRegisters, int firstLane, int lastLane) {
    int low = A::OfWave::reach();
    for (int bit = skippedRegisters; bit < R::count; bit++) {
      low |= R::image(bit);
    }
    for (int bit = 0; bit < L::count; bit++) {
      low |= bit >= firstLane && bit <= lastLane ? 0 : L::image(bit);
    }
    return (low & 15) == 0;
  }
  TILE_CONSTEXPR static MatrixRead kind() {
    if (sizeof(E) > 2 || L::count != 5 || R::count < wordBits + 2) {
      return MatrixRead::None;
    }
    bool inWord = true;
    for (int bit = 0; bit < wordBits; bit++) {
      inWord = inWord && R::image(bit) == (int)sizeof(E) << bit;
    }
    if (inWord && L::image(0) == 4 && L::image(1) == 8 && leadsToRows(wordBits, 0, 1)) {
      return MatrixRead::Straight;
    }
    if (sizeof(E) == 2 && L::image(2) == 2 && L::image(3) == 4 && L::image(4) == 8 && leadsToRows(0, 2, 4)) {
      return MatrixRead::Transposing;
    }
    return MatrixRead::None;
  }
  /// Lane l names row l % 8 of matrix l / 8.
  using Straight = Bits<L::image(2), L::image(3), L::image(4), R::image(wordBits), R::image(wordBits + 1)>;
  using Transposing = Bits<R::image(0), L::image(0), L::image(1), R::image(wordBits), R::image(wordBits + 1)>;
};

template <class A, class E>
TILE_CONSTEXPR bool canReadMatrix() {
  if constexpr (sizeof(E) > 2 || A::OfLane::count != 5 || A::OfRegister::count < (sizeof(E) == 1 ? 4 : 3)) {
    return false;
  } else {
    return MatrixWords<A, E>::kind() != MatrixRead::None;
  }
}

/// Registers of one ldmatrix: all four words.
template <class A, class E>
TILE_CONSTEXPR int registersOfRead() {
  return canReadMatrix<A, E>() ? MatrixWords<A, E>::perWord * 4 : A::inner + 1;
}

/// Reads the registers that `Which` has, four matrices at a time.
template <class A, class Which, class T>
TILE void readMatrix(T &tile, const char *place) {
  using E = typename T::Element;
  using W = MatrixWords<A, E>;
  constexpr bool straight = W::kind() == MatrixRead::Straight;
  using OfLane = SelectType<straight, typename W::Straight, typename W::Transposing>;
  constexpr int inner = W::perWord * 4 - 1, reach = OfLane::reach() | A::OfWave::reach();
  int start = mapBits<OfLane>(laneId());
  if constexpr (A::OfWave::reach() != 0) {
    start ^= mapBits<typename A::OfWave>(waveId());
  }
  repeat<T::InLayout::registers>([&](auto r) INLINE {
    if constexpr ((r.value & inner) == 0 && Which::has(r.value)) {
      constexpr int image = A::OfRegister::map(r.value);
      const char *row = place + ((start ^ (image & reach)) + (image & ~reach));
      uint32_t words[4];
      if constexpr (straight) {
        loadMatrix4(words, row);
      } else {
        loadMatrix4Transposed(words, row);
      }
      __builtin_memcpy(tile.v + r.value, words, sizeof(words));
    }
  });
}

} // namespace modelc

#endif // TARGETS_NVIDIA_READMATRIX_CUH
