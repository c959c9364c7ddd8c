//===- layout.h - Where the elements of a tile live -----------------------===//
//
// A register tile maps (register, lane, wave) to (row, column), a place in
// shared memory maps (row, column) to a byte. Both maps are linear over the
// bits of their inputs: every input bit has an image, the value is the xor of
// the images of the bits that are set. Everything about a layout is known when
// the kernel is compiled; at run time only lane and wave are mapped, by a few
// masks and shifts.
//
//   using Operand = Layout<16, 32, Register<columns(1), columns(2), columns(4)>,
//                          Lane<rows(1), rows(2), rows(4), rows(8), columns(8), columns(16)>, Wave<>>;
//   using Swizzled = Shared<bf16, Row<128, 256 + 16>, Column<2, 4, 8, 16>>;
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_LAYOUT_H
#define MODELC_TARGETS_TILE_LAYOUT_H

#include "bits.h"

namespace modelc {

//===- Register layouts ---------------------------------------------------===//

/// Which element each register of each lane of each wave holds.
template <int Rows, int Columns, class RegisterBits, class LaneBits, class WaveBits>
struct Layout {
  using OfRegister = RegisterBits;
  using OfLane = LaneBits;
  using OfWave = WaveBits;
  static constexpr int rowCount = Rows, columnCount = Columns;
  static constexpr int registers = 1 << RegisterBits::count;
  static constexpr int reachOfThread = LaneBits::reach() | WaveBits::reach();
};

/// a ^ b, as a sum where no bit can be set in both: it then folds into addresses.
template <int Reach, int Step>
TILE int step(int position) {
  return (Reach & Step) == 0 ? position + Step : position ^ Step;
}

/// The images of a set of bits along one dimension.
template <class B>
struct RowPart;
template <int... I>
struct RowPart<Bits<I...>> {
  using Type = Bits<rowOf(I)...>;
};
template <class B>
struct ColumnPart;
template <int... I>
struct ColumnPart<Bits<I...>> {
  using Type = Bits<columnOf(I)...>;
};

/// The wave that asks. Where no two lanes hold the same element, no lane is left out of what moves the tile: all ask
/// together, and addresses can be built from a number that is known to be uniform.
template <class L>
TILE int waveOf() {
  return L::OfLane::unused() == 0 && L::OfWave::unused() == 0 ? uniformWaveId() : waveId();
}

/// Row and column of register 0 of this thread.
template <class L>
struct Position {
  int row, column;
  TILE_MEMBER Position() {
    const int lane = laneId(), wave = L::OfWave::count ? waveOf<L>() : 0;
    row = mapBits<typename RowPart<typename L::OfLane>::Type>(lane) ^
          mapBits<typename RowPart<typename L::OfWave>::Type>(wave);
    column = mapBits<typename ColumnPart<typename L::OfLane>::Type>(lane) ^
             mapBits<typename ColumnPart<typename L::OfWave>::Type>(wave);
  }
  template <int R>
  TILE_MEMBER int rowOfRegister() const {
    return step<rowOf(L::reachOfThread), rowOf(L::OfRegister::map(R))>(row);
  }
  template <int R>
  TILE_MEMBER int columnOfRegister() const {
    return step<columnOf(L::reachOfThread), columnOf(L::OfRegister::map(R))>(column);
  }
  /// All bits of rows in which threads differ.
  static constexpr int rowReach = rowOf(L::reachOfThread);
  /// Rows and columns of register R behind register 0, where they are the same in all threads.
  template <int R>
  static constexpr bool isBehind = (L::reachOfThread & L::OfRegister::map(R)) == 0;
  template <int R>
  TILE_CONSTEXPR static int rowsBehind() {
    return rowOf(L::OfRegister::map(R));
  }
  template <int R>
  TILE_CONSTEXPR static int columnsBehind() {
    return columnOf(L::OfRegister::map(R));
  }
};

/// True in one of the threads that hold the same elements.
template <class L>
TILE bool isFirstHolder() {
  bool first = true;
  if constexpr (L::OfLane::unused() != 0) {
    first = (laneId() & L::OfLane::unused()) == 0;
  }
  if constexpr (L::OfWave::unused() != 0) {
    first = first && (waveId() & L::OfWave::unused()) == 0;
  }
  return first;
}

//===- Reduced layouts ----------------------------------------------------===//

/// The bits of `B` whose image is not zero, one after the other.
template <class Kept, int... Rest>
struct DropZeros {
  using Type = Kept;
};
template <int... Kept, int First, int... Rest>
struct DropZeros<Bits<Kept...>, First, Rest...> {
  template <bool Keep, class Dummy>
  struct Choose {
    using Type = typename DropZeros<Bits<Kept..., First>, Rest...>::Type;
  };
  template <class Dummy>
  struct Choose<false, Dummy> {
    using Type = typename DropZeros<Bits<Kept...>, Rest...>::Type;
  };
  using Type = typename Choose<First != 0, void>::Type;
};

/// The images that stay when rows (Dimension 0) or columns (1) are reduced to one.
TILE_CONSTEXPR int without(int dimension, int image) {
  return dimension == 0 ? columns(columnOf(image)) : rows(rowOf(image));
}

template <int Dimension, class L>
struct ReducedLayout;
template <int Dimension, int Rows, int Columns, int... R, int... L, int... W>
struct ReducedLayout<Dimension, Layout<Rows, Columns, Bits<R...>, Bits<L...>, Bits<W...>>> {
  using Type = Layout<Dimension == 0 ? 1 : Rows, Dimension == 1 ? 1 : Columns,
                      typename DropZeros<Bits<>, without(Dimension, R)...>::Type, Bits<without(Dimension, L)...>,
                      Bits<without(Dimension, W)...>>;
};
/// The layout of a reduced tile: images along the dimension become zero, and
/// register bits left without an image go (modelc::Layout::reduced).
template <int Dimension, class L>
using Reduced = typename ReducedLayout<Dimension, L>::Type;

/// The register of a tile of extents Rows x Columns (equal to those of L, or 1)
/// that belongs to register R of a tile in layout L.
template <class L, int Rows, int Columns>
TILE_CONSTEXPR int broadcastRegister(int r) {
  int to = 0, bits = 0;
  for (int bit = 0; bit < L::OfRegister::count; bit++) {
    int image = L::OfRegister::image(bit);
    if (Rows == 1 && L::rowCount > 1) {
      image = without(0, image);
    }
    if (Columns == 1 && L::columnCount > 1) {
      image = without(1, image);
    }
    if (image != 0 || (Rows == L::rowCount && Columns == L::columnCount)) {
      to |= (r >> bit & 1) << bits++;
    }
  }
  return to;
}

//===- Tiles --------------------------------------------------------------===//

/// Register R of a tile in layout L.
template <class L, int R>
struct Index {
  static constexpr int value = R;
};

/// The elements that one thread holds. Aligned so that groups of them are
/// the vectors that instructions take.
template <class T, class L>
struct alignas(L::registers * sizeof(T) >= 16 ? 16 : L::registers * sizeof(T)) Tile {
  using Element = T;
  using InLayout = L;
  T v[L::registers];

  /// The element, or the one that is broadcast to it.
  template <class Of, int R>
  TILE_MEMBER T &operator[](Index<Of, R>) {
    return v[broadcastRegister<Of, L::rowCount, L::columnCount>(R)];
  }
  template <class Of, int R>
  TILE_MEMBER const T &operator[](Index<Of, R>) const {
    return v[broadcastRegister<Of, L::rowCount, L::columnCount>(R)];
  }
};

/// All elements are `value`.
template <class T, class L, class V>
TILE void fill(Tile<T, L> &tile, V value) {
  repeat<L::registers>([&](auto r) INLINE { tile.v[r.value] = value; });
}

/// All elements rounded, two at a time.
template <class L>
TILE void toBf16(Tile<bf16, L> &to, const Tile<float, L> &from) {
  repeat<(L::registers + 1) / 2>([&](auto pair) INLINE {
    constexpr int r = 2 * pair.value;
    if constexpr (r + 1 < L::registers) {
      const uint32_t both = packBf16(from.v[r], from.v[r + 1]);
      __builtin_memcpy(&to.v[r], &both, sizeof(both));
    } else {
      to.v[r] = toBf16(from.v[r]);
    }
  });
}

/// The same, four at a time.
template <class L>
TILE void toF8(Tile<f8, L> &to, const Tile<float, L> &from) {
  repeat<(L::registers + 3) / 4>([&](auto four) INLINE {
    constexpr int r = 4 * four.value;
    if constexpr (r + 3 < L::registers) {
      const uint32_t all = packFp8(f32x4{from.v[r], from.v[r + 1], from.v[r + 2], from.v[r + 3]});
      __builtin_memcpy(&to.v[r], &all, sizeof(all));
    } else {
      repeat<L::registers - r>([&](auto i) INLINE { to.v[r + i.value] = toF8(from.v[r + i.value]); });
    }
  });
}

/// f(index, row, column) for every register of a layout, without a loop.
template <class L, class F>
TILE void forEach(F f) {
  const Position<L> here;
  repeat<L::registers>([&](auto r) INLINE {
    f(Index<L, r.value>{}, here.template rowOfRegister<r.value>(), here.template columnOfRegister<r.value>());
  });
}

//===- Shared memory ------------------------------------------------------===//

/// A place in shared memory: the byte of each element; 1 << rows x columns, or the first `Rows` of them.
template <class T, class RowBits, class ColumnBits, int Rows = 1 << RowBits::count>
struct Shared {
  using Element = T;
  using OfRow = RowBits;
  using OfColumn = ColumnBits;
  static constexpr int rowCount = Rows, columnCount = 1 << ColumnBits::count;
  static constexpr int bytes = rowCount * columnCount * sizeof(T);
  /// The byte of a position, as rows() ^ columns().
  TILE_CONSTEXPR static int at(int position) {
    return RowBits::map(rowOf(position)) ^ ColumnBits::map(columnOf(position));
  }
  /// The same for a tile that is read transposed.
  TILE_CONSTEXPR static int atTransposed(int position) {
    return at(rows(columnOf(position)) | columns(rowOf(position)));
  }
  /// Columns that lie side by side.
  TILE_CONSTEXPR static int neighbours() {
    int bit = 0;
    while (bit < ColumnBits::count && ColumnBits::image(bit) == (int)sizeof(T) << bit) {
      bit++;
    }
    return 1 << bit;
  }
  /// The position of the element that lies at a byte.
  TILE_CONSTEXPR static int positionOf(int byte);
};

/// Solves at(position) = byte by elimination over bits.
template <class T, class RowBits, class ColumnBits, int Rows>
TILE_CONSTEXPR int Shared<T, RowBits, ColumnBits, Rows>::positionOf(int byte) {
  constexpr int count = RowBits::count + ColumnBits::count;
  int image[count + 1] = {}, position[count + 1] = {};
  for (int i = 0; i < count; i++) {
    position[i] = i < ColumnBits::count ? columns(1 << i) : rows(1 << (i - ColumnBits::count));
    image[i] = at(position[i]);
  }
  int result = 0;
  for (int i = 0; i < count; i++) {
    const int lowest = image[i] & -image[i];
    for (int j = 0; j < count; j++) {
      if (j != i && image[j] & lowest) {
        image[j] ^= image[i];
        position[j] ^= position[i];
      }
    }
  }
  for (int i = 0; i < count; i++) {
    const int lowest = image[i] & -image[i];
    if (byte & lowest) {
      byte ^= image[i];
      result ^= position[i];
    }
  }
  return result;
}

/// A place that a pointer names.
template <class S>
struct Place {
  using Layout = S;
  using Element = typename S::Element;
  char *at;
};

//===- Runs ---------------------------------------------------------------===//

/// Registers whose elements follow each other at distance `Unit` (in the units
/// of the images of B), at most `Limit` of them: element e of the run that
/// starts at register r is register r | spread(e).
template <class B, int Unit, int Limit>
struct Run {
  TILE_CONSTEXPR static int bitOf(int step) {
    for (int bit = 0; bit < B::count; bit++) {
      if (B::image(bit) == Unit << step) {
        return bit;
      }
    }
    return -1;
  }
  /// No other register, lane or wave may shift the start of a run.
  TILE_CONSTEXPR static int lengthBits(int reachOfThread) {
    int bits = 0;
    while (2 << bits <= Limit && bitOf(bits) >= 0) {
      bits++;
    }
    for (; bits > 0; bits--) {
      int others = reachOfThread;
      for (int bit = 0; bit < B::count; bit++) {
        others |= B::image(bit) < Unit << bits && B::image(bit) >= Unit && isStep(B::image(bit)) ? 0 : B::image(bit);
      }
      if ((others & ((Unit << bits) - Unit)) == 0) {
        break;
      }
    }
    return bits;
  }
  TILE_CONSTEXPR static bool isStep(int image) { return (image & (image - 1)) == 0; }
  TILE_CONSTEXPR static int spread(int element) {
    int r = 0;
    for (int step = 0; element >> step; step++) {
      r |= element >> step & 1 ? 1 << bitOf(step) : 0;
    }
    return r;
  }
};

/// Elements that move in one access.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Pack {
  T v[Count];
};

} // namespace modelc

#endif // MODELC_TARGETS_TILE_LAYOUT_H
