//===- memory.h - Tiles to and from global memory -------------------------===//
//
//   view(a + offset(row, 8192, k), 8192)      rows 8192 elements apart, columns side by side
//       .limitRows(m - row)                   rows from here on read 0 and are not written
//       .limitColumns(n - column)
//       .limitColumns(n - column, multipleOf<8>)      vectors of so many are moved whole or not at all
//       .gather(ids)                          row r lies where ids says
//       .paged(table, pageSize, first)        row r lies at table[(first + r) / pageSize], entry (first + r) % pageSize
//       .wholePages<pageSize>(table, first)   the same of rows that fill pages, which start with row 0
//       .inPage(table, pageSize, first)       the same of rows that one page holds; after the limits
//
//   loadTile<8>(x, view)       at most 8 elements in one access; the caller knows that they are aligned
//   loadTile<8, Dimension::Row>(x, view)      vectors along rows: those are side by side in memory
//   storeTile<8>(x, view)      addTile(x, view)      atomic
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_MEMORY_H
#define MODELC_TARGETS_TILE_MEMORY_H

namespace modelc {

enum class Dimension { Row, Column };

/// ((i0 * e1 + i1) * e2 + i2) ...: the element at an index of a row-major array.
TILE int64_t offset(int64_t index) { return index; }
template <class Extent, class Inner, class... Rest>
TILE int64_t offset(int64_t index, Extent extent, Inner inner, Rest... rest) {
  return offset(index * extent + inner, rest...);
}

//===- Where rows lie -----------------------------------------------------===//

/// Row r lies r strides behind the first.
struct Straight {
  static constexpr bool isFar = false, isPaged = false;
  template <class L, int R>
  TILE_MEMBER int row(int r) const {
    return r;
  }
  TILE_MEMBER int row(int r) const { return r; }
};

template <class Ids>
TILE typename Ids::Element lookup(const Ids &ids, int row);

/// Row r lies ids[r] strides behind the first.
template <class Ids>
struct Gathered {
  static constexpr bool isFar = true, isPaged = false;
  const Ids &ids;
  template <class L, int R>
  TILE_MEMBER int row(int r) const {
    return lookup(ids, r);
  }
  TILE_MEMBER int row(int r) const { return lookup(ids, r); }
};

/// Row r is an entry of the page that the table names.
struct Paged {
  static constexpr bool isFar = true, isPaged = true;
  const int *table;
  int pageSize, first;
  template <class L, int R>
  TILE_MEMBER int row(int r) const {
    return row(r);
  }
  TILE_MEMBER int row(int r) const {
    const unsigned at = first + r, size = pageSize;
    return table[at / size] * pageSize + (int)(at % size);
  }
};

/// The same of rows that fill pages of `Size` rows.
template <int Size>
struct WholePages : Paged {
  static constexpr int size = Size;
};

/// What a limit is known to be.
template <int Divisor>
constexpr Constant<Divisor> multipleOf{};

/// A tile's rows and columns in a buffer. Columns that end do so at a multiple of ColumnsEnd; 0: they do not.
template <class T, class Rows = Straight, bool RowsEnd = false, int ColumnsEnd = 0>
struct View {
  T *base;
  int64_t rowStride, columnStride; // in elements
  int rowLimit, columnLimit;
  Rows rows;

  TILE_MEMBER View<T, Rows, true, ColumnsEnd> limitRows(int limit) const {
    return {base, rowStride, columnStride, limit > 0 ? limit : 0, columnLimit, rows};
  }
  template <int Multiple = 1>
  TILE_MEMBER View<T, Rows, RowsEnd, Multiple> limitColumns(int limit, Constant<Multiple> = {}) const {
    return {base, rowStride, columnStride, rowLimit, limit, rows};
  }
  template <class Ids>
  TILE_MEMBER View<T, Gathered<Ids>, RowsEnd, ColumnsEnd> gather(const Ids &ids) const {
    return {base, rowStride, columnStride, rowLimit, columnLimit, {ids}};
  }
  TILE_MEMBER View<T, Paged, RowsEnd, ColumnsEnd> paged(const int *table, int pageSize, int first) const {
    return {base, rowStride, columnStride, rowLimit, columnLimit, {table, pageSize, first}};
  }
  template <int Size>
  TILE_MEMBER View<T, WholePages<Size>, RowsEnd, ColumnsEnd> wholePages(const int *table, int first) const {
    return {base, rowStride, columnStride, rowLimit, columnLimit, {{table, Size, first}}};
  }
  /// A table is asked only about rows that there are.
  TILE_MEMBER View inPage(const int *table, int pageSize, int first) const {
    const unsigned at = first, size = pageSize;
    const int lies = !RowsEnd || rowLimit > 0 ? readConstant(table + at / size) * pageSize + (int)(at % size) : 0;
    return {base + lies * rowStride, rowStride, columnStride, rowLimit, columnLimit, {}};
  }

  static constexpr bool isLimited = RowsEnd || ColumnsEnd != 0;
  static constexpr bool rowsEnd = RowsEnd, columnsEnd = ColumnsEnd != 0, isFar = Rows::isFar;
  /// Whether a limit can cut a vector along columns: `Count` of them, at a multiple of so many.
  template <int Count>
  static constexpr bool cutsColumns = columnsEnd && ColumnsEnd % Count != 0;
  static constexpr bool isPaged = Rows::isPaged;
  /// Lanes ask each other where rows lie: all must be there.
  static constexpr bool isGathered = isFar && !isPaged;
  using Element = T;

  /// The limit of a gathered row is that of the number it is gathered by.
  TILE_MEMBER bool hasRow(int row, int lies) const {
    return !RowsEnd || (unsigned)(isPaged ? row : lies) < (unsigned)rowLimit;
  }
  /// Where row r of a register lies; a table is asked only about rows that there are.
  template <class L, int R>
  TILE_MEMBER int place(int row) const {
    if constexpr (RowsEnd && isPaged) {
      return (unsigned)row < (unsigned)rowLimit ? rows.row(row) : 0;
    } else {
      return rows.template row<L, R>(row);
    }
  }
  TILE_MEMBER bool hasColumns(int column, int count) const { return !columnsEnd || column + count <= columnLimit; }
  /// The element at row `lies` of memory.
  TILE_MEMBER T *at(int lies, int column) const {
    if constexpr (isFar) {
      return base + (lies * rowStride + column * columnStride);
    } else {
      return (T *)((char *)base + (uint32_t)((lies * (int)rowStride + column * (int)columnStride) * (int)sizeof(T)));
    }
  }
};

/// Rows `rowStride` elements apart. `Readable` types make const views.
template <class T>
TILE View<T> view(T *base, int64_t rowStride, int64_t columnStride = 1) {
  return {base, rowStride, columnStride, 0, 0, {}};
}

//===- Whole tiles --------------------------------------------------------===//

/// How a tile moves: vectors of `count` elements.
template <class L, int Limit, Dimension Along>
struct Vectors {
  static constexpr int unit = Along == Dimension::Column ? columns(1) : modelc::rows(1);
  using InRegister = Run<typename L::OfRegister, unit, Limit>;
  static constexpr int count = 1 << InRegister::lengthBits(L::reachOfThread);
  static constexpr int inner = InRegister::spread(count - 1);
  TILE_CONSTEXPR static int spread(int element) { return InRegister::spread(element); }
  /// Elements behind the first, by row and by column.
  TILE_CONSTEXPR static int rowSteps(int element) { return Along == Dimension::Row ? element : 0; }
  TILE_CONSTEXPR static int columnSteps(int element) { return Along == Dimension::Column ? element : 0; }
  /// Whether the limits of a view can leave a part of a vector.
  template <class W>
  static constexpr bool areCut =
      count > 1 && (Along == Dimension::Column ? W::template cutsColumns<count> : W::rowsEnd);
};

/// Whose addresses accesses of one layout use. Of a load and a store of the
/// same places the compiler would keep all addresses in registers in between.
enum class Addresses { Shared, Own };

/// f(first register, row, column) for each vector of a layout.
template <class L, class V, Addresses Of = Addresses::Shared, class F>
TILE void forEachVector(F f) {
  Position<L> here;
  if constexpr (Of == Addresses::Own) {
    here.row = renewed(here.row);
    here.column = renewed(here.column);
  }
  repeat<L::registers>([&](auto r) INLINE {
    if constexpr ((r.value & V::inner) == 0) {
      f(r, here.template rowOfRegister<r.value>(), here.template columnOfRegister<r.value>());
    }
  });
}

enum class Reuse { Soon, Never };

template <class T, int Count, Reuse When>
TILE Pack<T, Count> read(const T *from) {
  if constexpr (When == Reuse::Never && sizeof(T) * Count >= 4) {
    return readStreaming<Pack<T, Count>>(from);
  } else {
    return readGlobal<Pack<T, Count>>(from);
  }
}

/// Reads a tile. Beyond the limits it reads zeros.
template <int Limit, Dimension Along = Dimension::Column, Reuse When = Reuse::Soon, class T, class L, class W>
TILE void loadTile(Tile<T, L> &tile, const W &from) {
  using V = Vectors<L, smaller(Limit, larger(1, 16 / (int)sizeof(T))), Along>;
  forEachVector<L, V>([&](auto r, int row, int column) INLINE {
    const int lies = from.template place<L, r.value>(row);
    const T *p = from.at(lies, column);
    const auto put = [&](auto e, T value) INLINE { tile.v[r.value | V::spread(e.value)] = value; };
    if constexpr (!V::template areCut<W>) {
      const bool valid = from.hasRow(row, lies) && from.hasColumns(column, 1);
      const auto pack = W::isLimited ? readOrZero<Pack<T, V::count>>(p, valid) : read<T, V::count, When>(p);
      repeat<V::count>([&](auto e) INLINE { put(e, pack.v[e.value]); });
    } else {
      const int last = V::count - 1;
      const bool hasRow = from.hasRow(row + V::rowSteps(last), lies + V::rowSteps(last));
      if (from.hasColumns(column, V::columnSteps(last) + 1)) {
        if constexpr (Along == Dimension::Column || !W::rowsEnd) {
          const auto pack = readOrZero<Pack<T, V::count>>(p, hasRow);
          repeat<V::count>([&](auto e) INLINE { put(e, pack.v[e.value]); });
          return;
        } else if (hasRow) {
          const auto pack = read<T, V::count, When>(p);
          repeat<V::count>([&](auto e) INLINE { put(e, pack.v[e.value]); });
          return;
        }
      }
      repeat<V::count>([&](auto e) INLINE {
        const bool valid = from.hasRow(row + V::rowSteps(e.value), lies + V::rowSteps(e.value)) &&
                           from.hasColumns(column + V::columnSteps(e.value), 1);
        put(e, readOrZero<Pack<T, 1>>(p + e.value, valid).v[0]);
      });
    }
  });
}

/// Writes a tile; nothing beyond the limits, and each element once.
template <int Limit, Dimension Along = Dimension::Column, class T, class L, class W>
TILE void storeTile(const Tile<T, L> &tile, const W &to) {
  using V = Vectors<L, smaller(Limit, larger(1, 16 / (int)sizeof(T))), Along>;
  const bool isFirst = isFirstHolder<L>();
  if (!W::isGathered && !isFirst) {
    return;
  }
  forEachVector<L, V, Addresses::Own>([&](auto r, int row, int column) INLINE {
    const int lies = to.template place<L, r.value>(row);
    T *p = to.at(lies, column);
    const auto has = [&](auto e) INLINE {
      return (!W::isGathered || isFirst) && to.hasRow(row + V::rowSteps(e.value), lies + V::rowSteps(e.value)) &&
             to.hasColumns(column + V::columnSteps(e.value), 1);
    };
    if (has(Constant<V::count - 1>{})) {
      Pack<T, V::count> pack;
      repeat<V::count>([&](auto e) INLINE { pack.v[e.value] = tile.v[r.value | V::spread(e.value)]; });
      writeGlobal(p, pack);
    } else if constexpr (V::template areCut<W> || (kSinksProducts && V::count > 1)) {
      repeat<V::count - 1>([&](auto e) INLINE {
        if (has(e)) {
          writeGlobal(p + e.value, Pack<T, 1>{{tile.v[r.value | V::spread(e.value)]}});
        }
      });
    }
  });
}

/// Adds a tile to memory, element by element, atomically.
template <class T, class L, class W>
TILE void addTile(const Tile<T, L> &tile, const W &to) {
  const bool isFirst = isFirstHolder<L>();
  if (!W::isGathered && !isFirst) {
    return;
  }
  forEach<L>([&](auto i, int row, int column) INLINE {
    const int lies = to.template place<L, i.value>(row);
    if ((!W::isGathered || isFirst) && to.hasRow(row, lies) && to.hasColumns(column, 1)) {
      addGlobal(to.at(lies, column), tile.v[i.value]);
    }
  });
}

/// One element of a buffer that is the same for the whole workgroup.
template <class T>
TILE T loadScalar(const T *from) {
  return uniformValue(readGlobal<Pack<T, 1>>(from).v[0]);
}
template <class T>
TILE void addScalar(T *to, T value) {
  if (threadId() == 0) {
    addGlobal(to, value);
  }
}
/// One thread of the workgroup writes.
template <class T>
TILE void storeScalar(T *to, T value) {
  if (threadId() == 0) {
    writeGlobal(to, Pack<T, 1>{{value}});
  }
}

//===- Flags --------------------------------------------------------------===//

/// The flag of this thread: number threadId() of those, else none.
template <class Flag, class... Flags>
TILE Flag *flagOfThread(Flag *first, Flags *...others) {
  Flag *own = threadId() == 0 ? first : nullptr;
  int number = 0;
  ((own = threadId() == ++number ? others : own), ...);
  return own;
}

/// What the workgroup stored is visible to who sees one of the flags.
template <class... Flags>
TILE void raiseFlags(int value, Flags *...flags) {
  static_assert(sizeof...(flags) <= kWaveSize, "expected a flag for a lane of one wave");
  fenceDevice();
  sync();
  if (int *own = flagOfThread(flags...)) {
    storeRelease((uint32_t *)own, (uint32_t)value);
  }
}
/// Until all have reached the value; what their senders stored is visible.
template <class... Flags>
TILE void waitForFlags(int value, const Flags *...flags) {
  static_assert(sizeof...(flags) <= kWaveSize, "expected a flag for a lane of one wave");
  if (const int *own = flagOfThread(flags...)) {
    waitForFlag((const uint32_t *)own, (uint32_t)value);
  }
  sync();
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_MEMORY_H
