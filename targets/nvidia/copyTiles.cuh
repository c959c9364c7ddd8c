//===- copyTiles.cuh - Barriers, and copies that signal them --------------===//
//
// Included by tiles.cuh, whose head lists the names.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_COPYTILES_CUH
#define TARGETS_NVIDIA_COPYTILES_CUH

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
  syncWave(); // what follows is asked of whole waves
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

/// Where a tile of so many rows lies: the page of each row is known to its view.
template <int Rows, class V>
struct PagesOf {
  static constexpr int size = 0;
  TILE_MEMBER PagesOf(const V &) {}
};
/// The first element of each of the pages that a tile fills. A table is asked only about rows that there are.
template <int Rows, class T, int Size, bool RowsEnd, int ColumnsEnd>
struct PagesOf<Rows, View<T, WholePages<Size>, RowsEnd, ColumnsEnd>> {
  static constexpr int size = Size, count = Rows / Size;
  const T *starts[count];
  TILE_MEMBER PagesOf(const View<T, WholePages<Size>, RowsEnd, ColumnsEnd> &from) {
    const int *pages = from.rows.table + from.rows.first / Size;
    repeat<count>([&](auto page) INLINE {
      const bool exists = !RowsEnd || page.value * Size < from.rowLimit;
      starts[page.value] =
          from.base + (exists ? readConstant(pages + page.value) : 0) * (int64_t)(Size * (int)from.rowStride);
    });
  }
};

/// The bytes of one lane.
template <int Unit, class V, class Pages, class P>
TILE void copyUnit(char *to, const V &from, const Pages &pages, const P &here) {
  const int row = here.template rowOfRegister<Unit>(), column = here.template columnOfRegister<Unit>();
  bool valid = from.hasColumns(column, 16 / (int)sizeof(typename V::Element));
  if constexpr (P::rowReach < Pages::size && P::template isBehind<Unit>) {
    constexpr int behind = P::template rowsBehind<Unit>();
    const auto *first = pages.starts[behind / Pages::size] + (here.row * (int)from.rowStride + here.column);
    copyAsync16(to, first + behind % Pages::size * from.rowStride + P::template columnsBehind<Unit>(),
                valid && from.hasRow(row, 0));
  } else {
    int lies = 0;
    if (!V::isFar || !V::rowsEnd || !V::isPaged || from.hasRow(row, 0)) {
      lies = from.rows.row(row);
      valid = valid && from.hasRow(row, lies);
    } else {
      valid = false;
    }
    copyAsync16(to, unitAddress<Unit>(from, here, lies), valid);
  }
}

/// Fills a place from global memory, 16 bytes a lane. Beyond the limits it
/// leaves zeros. Columns are side by side in memory; their limit is a multiple
/// of 16 bytes.
template <int Waves, class S, class V>
TILE void copyTile(Place<S> to, const V &from) {
  const PagesOf<S::rowCount, V> pages(from);
  copyUnits<S, Waves, 16>([&](auto unit, int waveByte, int laneByte, const auto &here)
                              INLINE { copyUnit<unit.value>(to.at + waveByte + laneByte, from, pages, here); });
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

//===- Hints --------------------------------------------------------------===//

/// Asks L2 for `Columns` elements of each of `Rows` rows from `first` on, of those below `rows`; `Threads` threads of
/// the workgroup have a row each at a time.
template <int Rows, int Columns, int Threads, class T>
TILE void prefetchRows(const T *first, int stride, int rows) {
  for (int row = threadId(); row < (rows < Rows ? rows : Rows); row += Threads) {
    prefetchToL2(first + int64_t(row) * stride, Columns * int(sizeof(T)));
  }
}

} // namespace modelc

#endif // TARGETS_NVIDIA_COPYTILES_CUH
