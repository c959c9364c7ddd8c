//===- matrixTiles.cuh - Products of tiles, copies and barriers -----------===//
//
// Included by tiles.cuh, whose head lists the names.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_MATRIXTILES_CUH
#define TARGETS_NVIDIA_MATRIXTILES_CUH

namespace modelc {

/// Who calls a function that one thread is to execute: all threads of the
/// workgroup, or that thread.
enum class Callers { All, One };
constexpr Callers OneThread = Callers::One;

/// One thread of the workgroup, always the same: who issues what one thread issues.
template <Callers By = Callers::All>
TILE bool isIssuer() {
  if constexpr (By == Callers::One) {
    return true;
  } else {
    return waveId() == 0 && elect();
  }
}

//===- Barriers -----------------------------------------------------------===//

/// Whose words of a barrier a signal reaches: those of its own workgroup, of the
/// first of the cluster, or of all.
enum class Reach { Own, Leader, All };
/// Workgroups that multiply together.
constexpr int Pair = 2;

/// The phase of a barrier that a trip completes.
template <Reach To>
struct BarrierTrip {
  Barrier &barrier;
  int trip;
  uint32_t parity;
};
template <int Slots, Reach To = Reach::Own>
struct Barriers {
  Barrier *words;
  TILE_MEMBER BarrierTrip<To> operator[](int trip) const {
    return {words[(unsigned)trip % (unsigned)Slots], trip, (unsigned)trip / (unsigned)Slots & 1};
  }
};

template <int Slots, Reach To>
TILE void startBarriers(Barriers<Slots, To> barriers, int arrivals) {
  if (threadId() == 0) {
    for (int i = 0; i < Slots; i++) {
      initBarrier(barriers.words[i], arrivals);
    }
  }
}
/// Of all workgroups of the cluster, for each other.
template <int Cluster = 1>
TILE void barriersAreReady() {
  if (threadId() == 0) {
    fenceBarrierInit();
  }
  if constexpr (Cluster > 1) {
    syncCluster();
  } else {
    sync();
  }
}
TILE void arriveOnce(BarrierTrip<Reach::Own> at) {
  if (isIssuer()) {
    arrive(at.barrier);
  }
}
/// Every wave of a role arrives for itself. Trips before the first have no word.
template <Reach To>
TILE void arriveEachWave(BarrierTrip<To> at) {
  static_assert(To != Reach::All, "expected waves that signal one workgroup");
  syncWave();
  if (at.trip >= 0 && elect()) {
    if constexpr (To == Reach::Own) {
      arrive(at.barrier);
    } else {
      arriveAtRank(at.barrier, 0);
    }
  }
}
/// The same at the barriers of all workgroups of the cluster.
template <int Cluster>
TILE void arriveEachWaveAtAll(BarrierTrip<Reach::All> at) {
  syncWave();
  if (at.trip >= 0 && elect()) {
    for (int rank = 0; rank < Cluster; rank++) {
      arriveAtRank(at.barrier, rank);
    }
  }
}
template <Callers By = Callers::All, Reach To>
TILE void arriveExpect(BarrierTrip<To> at, int bytes) {
  static_assert(To != Reach::All, "expected copies that land in one workgroup");
  if (!isIssuer<By>()) {
    return;
  }
  if constexpr (To == Reach::Own) {
    arriveExpect(at.barrier, bytes);
  } else {
    arriveExpectAtRank(at.barrier, 0, bytes);
  }
}
/// Trips before the first are complete.
template <Reach To>
TILE void waitFor(BarrierTrip<To> at) {
  if (at.trip < 0) {
    return;
  }
  waitParity(at.barrier, at.parity);
}
/// What the threads stored to shared memory becomes visible to asynchronous
/// reads that follow the next sync.
TILE void publishShared() { fenceAsyncShared(); }

//===- Copies -------------------------------------------------------------===//

/// Where the columns of a unit lie in memory. Units that lie the same steps behind the first in all threads take an
/// address and constants.
template <int Unit, class V, class P>
TILE auto unitAddress(const V &from, const P &here, int lies) {
  if constexpr (!V::isFar && P::template isBehind<Unit>) {
    return from.at(here.row, here.column) +
           (P::template rowsBehind<Unit>() * from.rowStride + P::template columnsBehind<Unit>() * from.columnStride);
  } else {
    return from.at(lies, here.template columnOfRegister<Unit>());
  }
}

/// Fills a place from global memory, 16 bytes a lane. Beyond the limits it
/// leaves zeros. Columns are side by side in memory; their limit is a multiple
/// of 16 bytes.
template <int Waves, class S, class V>
TILE void copyTile(Place<S> to, const V &from) {
  constexpr int bytes = 16;
  copyUnits<S, Waves, bytes>([&](auto unit, int waveByte, int laneByte, const auto &here) INLINE {
    const int row = here.template rowOfRegister<unit.value>(), column = here.template columnOfRegister<unit.value>();
    bool valid = from.hasColumns(column, bytes / (int)sizeof(typename S::Element));
    int lies = 0;
    if (!V::isFar || !V::rowsEnd || !V::isPaged || from.hasRow(row, 0)) {
      lies = from.rows.row(row);
      valid = valid && from.hasRow(row, lies);
    } else {
      valid = false;
    }
    copyAsync16(to.at + waveByte + laneByte, unitAddress<unit.value>(from, here, lies), valid);
  });
  commitCopies();
}

/// Fills a place with boxes of a tensor: as many columns as lie side by side, at
/// most 256 rows.
template <Callers By, class S, Reach To, class... Outer>
TILE void copyBoxes(Place<S> to, const TensorMap &map, int column, int row, BarrierTrip<To> full, Outer... outer) {
  static_assert(To != Reach::All, "expected a box that signals one workgroup");
  constexpr int boxColumns = S::neighbours(), boxRows = smaller(S::rowCount, 256);
  if (!isIssuer<By>()) {
    return;
  }
  repeat<S::columnCount / boxColumns>([&](auto c) INLINE {
    repeat<S::rowCount / boxRows>([&](auto r) INLINE {
      constexpr int byte = S::at(rows(r.value * boxRows) | columns(c.value * boxColumns));
      if constexpr (To == Reach::Own) {
        loadBox(to.at + byte, map, column + c.value * boxColumns, row + r.value * boxRows, outer..., full.barrier);
      } else {
        loadBoxOfPair(to.at + byte, map, column + c.value * boxColumns, row + r.value * boxRows, outer..., full.barrier,
                      0);
      }
    });
  });
}
template <Callers By = Callers::All, class S, Reach To>
TILE void copyBox(Place<S> to, const TensorMap &map, int column, int row, BarrierTrip<To> full) {
  copyBoxes<By>(to, map, column, row, full);
}
template <Callers By = Callers::All, class S, Reach To>
TILE void copyBox(Place<S> to, const TensorMap &map, int column, int row, int outer, BarrierTrip<To> full) {
  copyBoxes<By>(to, map, column, row, full, outer);
}

/// Fills the place of every workgroup of the cluster: each asks for its part of the rows.
template <Callers By, int Cluster, class S>
TILE void copyBoxToAll(Place<S> to, const TensorMap &map, int column, int row, BarrierTrip<Reach::Own> full) {
  constexpr int part = S::rowCount / Cluster, boxColumns = S::neighbours(), boxRows = smaller(part, 256);
  static_assert(Cluster == 2, "expected two workgroups");
  if (!isIssuer<By>()) {
    return;
  }
  const int rank = clusterRank(), first = rank * S::at(rows(part));
  repeat<S::columnCount / boxColumns>([&](auto c) INLINE {
    repeat<part / boxRows>([&](auto r) INLINE {
      constexpr int byte = S::at(rows(r.value * boxRows) | columns(c.value * boxColumns));
      loadBoxToRanks(to.at + first + byte, map, column + c.value * boxColumns, row + rank * part + r.value * boxRows,
                     full.barrier, (1 << Cluster) - 1);
    });
  });
}

/// Fills a place with one box of a tensor whose blocks lie as they do there.
template <Callers By = Callers::All, class S, Reach To>
TILE void copyPackedBox(Place<S> to, const TensorMap &map, int column, int row, int outer, BarrierTrip<To> full) {
  static_assert(S::columnCount <= 256 && S::rowCount <= 256, "expected a box of at most 256 x 256");
  if (!isIssuer<By>()) {
    return;
  }
  if constexpr (To == Reach::Own) {
    loadBox(to.at, map, column, row, outer, full.barrier);
  } else {
    loadBoxOfPair(to.at, map, column, row, outer, full.barrier, 0);
  }
}

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

/// The same with a in registers: [fragment][repeats along K][repeats along M].
template <class I, bool BTransposed = false, class T, class LC, class LA, class SB>
TILE void mma(Tile<float, LC> &c, const Tile<T, LA> &a, Place<SB> b, bool add = true) {
  constexpr int width = columnsOfGroup<LC>(), steps = LA::columnCount / I::k;
  constexpr int partsN = LC::registers / (width / 2) / (LA::registers / (I::a * steps));
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

/// The registers of a tile: those of numbers narrower than a register hold several.
template <class L>
TILE auto registersOf(Tile<float, L> &tile) -> float (&)[L::registers] {
  return tile.v;
}
template <class T, class L>
TILE auto registersOf(Tile<T, L> &tile) -> uint32_t (&)[L::registers * sizeof(T) / 4] {
  return *(uint32_t (*)[L::registers * sizeof(T) / 4])(tile.v);
}

/// Waits until all but `Pending` products are done; names the accumulators that become readable and the operands that
/// must have stayed in their registers.
template <int Pending, class... Tiles>
TILE void waitMatrix(Tiles &...tiles) {
  wgmmaWait<Pending>(registersOf(tiles)...);
}

} // namespace modelc

#endif // TARGETS_NVIDIA_MATRIXTILES_CUH
