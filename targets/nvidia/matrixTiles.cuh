//===- matrixTiles.cuh - Products of tiles --------------------------------===//
//
// Included by tiles.cuh, whose head lists the names.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_MATRIXTILES_CUH
#define TARGETS_NVIDIA_MATRIXTILES_CUH

namespace modelc {

//===- Products of one wave -----------------------------------------------===//

#define MODELC_MMA_SYNC(name, depth, operand, call)                                                                    \
  struct name {                                                                                                        \
    static constexpr int k = depth, a = 16 / sizeof(operand), b = 8 / sizeof(operand), c = 4;                          \
    static constexpr int firstStep = columns(1);                                                                       \
    TILE_MEMBER static void multiply(float *c, const operand *a, const operand *b) {                                   \
      uint32_t x[4], y[2];                                                                                             \
      __builtin_memcpy(x, a, sizeof(x));                                                                               \
      __builtin_memcpy(y, b, sizeof(y));                                                                               \
      call(*(float (*)[4])c, x, y);                                                                                    \
    }                                                                                                                  \
  }
MODELC_MMA_SYNC(MmaSync16x8x16Bf16, 16, bf16, mmaBf16);
MODELC_MMA_SYNC(MmaSync16x8x32F8, 32, f8, mmaFp8);
#undef MODELC_MMA_SYNC

//===- Operands in shared memory ------------------------------------------===//

/// What a descriptor says of a place, beside its address.
template <class S>
struct Operand {
  static constexpr int spanBytes = S::neighbours() * sizeof(typename S::Element);
  static constexpr int strideBytes = S::at(rows(8));
  static constexpr int leadingBytes = S::columnCount > S::neighbours() ? S::at(columns(S::neighbours())) : 16;
  static constexpr Swizzle swizzle = (Swizzle)spanBytes;
  static_assert(spanBytes == 128 || spanBytes == 64 || spanBytes == 32, "expected rows of 32, 64 or 128 bytes");
  static_assert((S::at(rows(128 / spanBytes)) & 16) != 0, "expected rows that are swizzled within their span");
};
template <class S>
TILE int byteAt(int row, int column) {
  return mapBits<typename S::OfRow>(row) ^ mapBits<typename S::OfColumn>(column);
}

/// The columns of one instruction: accumulator registers go pair, row + 8, then columns.
template <class L>
TILE_CONSTEXPR int columnsOfGroup() {
  int count = 8;
  for (int bit = 2; bit < L::OfRegister::count && count < 256 && L::OfRegister::image(bit) == columns(count); bit++) {
    count *= 2;
  }
  return count;
}

/// f(first register, row, column) for each part of an accumulator that one
/// instruction of four waves makes.
template <class L, class F>
TILE void forEachGroupPart(F f) {
  constexpr int width = columnsOfGroup<L>(), perPart = width / 2;
  static_assert(L::OfRegister::image(1) == rows(8), "expected the accumulator's layout of four waves");
  const int group = waveId() & ~3;
  const int row = mapBits<typename RowPart<typename L::OfWave>::Type>(group);
  const int column = mapBits<typename ColumnPart<typename L::OfWave>::Type>(group);
  repeat<L::registers / perPart>([&](auto part) INLINE {
    constexpr int image = L::OfRegister::map(part.value * perPart);
    f(Constant<part.value * perPart>{}, row + rowOf(image), column + columnOf(image));
  });
}

#define MODELC_MAJOR Transposed ? Major::MN : Major::K
struct WgmmaBf16 {
  static constexpr int k = 16;
  template <int N, bool Transposed>
  TILE_MEMBER static void multiply(float (&d)[N / 2], uint64_t x, uint64_t y, bool add) {
    wgmmaBf16<N, Major::K, MODELC_MAJOR>(d, x, y, add);
  }
};
struct WgmmaBf16FromRegister {
  static constexpr int k = 16, a = 8;
  template <int N, bool Transposed>
  TILE_MEMBER static void multiply(float (&d)[N / 2], const uint32_t (&x)[4], uint64_t y, bool add) {
    wgmmaBf16<N, MODELC_MAJOR>(d, x, y, add);
  }
};
struct WgmmaF8 {
  static constexpr int k = 32;
  template <int N, bool Transposed>
  TILE_MEMBER static void multiply(float (&d)[N / 2], uint64_t x, uint64_t y, bool add) {
    static_assert(!Transposed, "expected K along the rows of eight-bit operands");
    wgmmaFp8<N>(d, x, y, add);
  }
};
struct WgmmaF8FromRegister {
  static constexpr int k = 32, a = 16;
  template <int N, bool Transposed>
  TILE_MEMBER static void multiply(float (&d)[N / 2], const uint32_t (&x)[4], uint64_t y, bool add) {
    static_assert(!Transposed, "expected K along the rows of eight-bit operands");
    wgmmaFp8<N>(d, x, y, add);
  }
};
#undef MODELC_MAJOR

/// The descriptor of an operand of four waves from `byte` on: its low word is all that differs between places.
template <class S>
TILE uint64_t groupDescriptor(Place<S> place, int byte) {
  using O = Operand<S>;
  const uint64_t common = sharedDescriptorHopper(0, O::strideBytes, O::leadingBytes, O::swizzle);
  const uint32_t start = (sharedAddress(place.at) & 0x3FFFF) >> 4;
  return common & 0xFFFFFFFF00000000 | (uint32_t)common + start + ((uint32_t)byte >> 4);
}
/// The byte of b's k-th step for the columns of the product from `column` on.
template <class S, bool BTransposed>
TILE int byteOfB(int column, int k) {
  return BTransposed ? byteAt<S>(k, column) : byteAt<S>(column, k);
}

/// c += a b^T by groups of four waves, both in shared memory: asynchronous.
template <class I, bool BTransposed = false, class LC, class SA, class SB>
TILE void mma(Tile<float, LC> &c, Place<SA> a, Place<SB> b, bool add = true) {
  constexpr int width = columnsOfGroup<LC>();
  wgmmaFence();
  forEachGroupPart<LC>([&](auto first, int row, int column) INLINE {
    repeat<SA::columnCount / I::k>([&](auto step) INLINE {
      const int k = step.value * I::k;
      I::template multiply<width, BTransposed>(
          *(float (*)[width / 2])(c.v + first.value), groupDescriptor(a, byteAt<SA>(row, 0) + byteAt<SA>(0, k)),
          groupDescriptor(b, byteOfB<SB, BTransposed>(column, 0) + byteOfB<SB, BTransposed>(0, k)),
          add || step.value > 0);
    });
  });
  wgmmaCommit();
}

/// The registers of a tile: those of numbers narrower than a register hold several.
template <class L>
TILE auto registersOf(Tile<float, L> &tile) -> float (&)[L::registers] {
  return tile.v;
}
template <class T, class L>
TILE auto registersOf(Tile<T, L> &tile) -> uint32_t (&)[L::registers * sizeof(T) / 4] {
  return *(uint32_t (*)[L::registers * sizeof(T) / 4])(tile.v);
}

/// The same with a in registers: [fragment][repeats along K][repeats along M].
template <class I, bool BTransposed = false, class T, class LC, class LA, class SB>
TILE void mma(Tile<float, LC> &c, const Tile<T, LA> &a, Place<SB> b, bool add = true) {
  constexpr int width = columnsOfGroup<LC>(), steps = LA::columnCount / I::k;
  constexpr int partsN = LC::registers / (width / 2) / (LA::registers / (I::a * steps));
  // Between the products nothing is packed: each would wait for the one before it.
  auto &words = registersOf(const_cast<Tile<T, LA> &>(a));
  repeat<sizeof(words) / sizeof(words[0])>([&](auto i) INLINE { makeHere(words[i.value]); });
  wgmmaFence();
  forEachGroupPart<LC>([&](auto first, int, int column) INLINE {
    constexpr int i = first.value / (width / 2) / partsN;
    repeat<steps>([&](auto step) INLINE {
      // The registers of a themselves: they are read until the wait.
      I::template multiply<width, BTransposed>(
          *(float (*)[width / 2])(c.v + first.value), *(const uint32_t (*)[4])(a.v + (i * steps + step.value) * I::a),
          groupDescriptor(b, byteOfB<SB, BTransposed>(column, 0) + byteOfB<SB, BTransposed>(0, step.value * I::k)),
          add || step.value > 0);
    });
  });
  wgmmaCommit();
}

/// What makes these numbers stays in front of the wait that follows.
template <class L>
TILE void computeFirst(const Tile<float, L> &tile) {
  float all = tile.v[0];
  repeat<L::registers - 1>([&](auto i) INLINE { all += tile.v[i.value + 1]; });
  holdBack(all);
}

/// Waits until all but `Pending` products are done; names the accumulators that become readable and the operands that
/// must have stayed in their registers.
template <int Pending, class... Tiles>
TILE void waitMatrix(Tiles &...tiles) {
  wgmmaWait<Pending>(registersOf(tiles)...);
}

} // namespace modelc

#endif // TARGETS_NVIDIA_MATRIXTILES_CUH
