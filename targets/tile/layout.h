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

namespace modelc {

//===- Images of bits -----------------------------------------------------===//

/// A position in a tile, or a step in it, as one number.
TILE_CONSTEXPR int rows(int count) { return count << 16; }
TILE_CONSTEXPR int columns(int count) { return count; }
TILE_CONSTEXPR int rowOf(int position) { return position >> 16; }
TILE_CONSTEXPR int columnOf(int position) { return position & 0xFFFF; }

/// The images of the bits of one input.
template <int... Images>
struct Bits {
  static constexpr int count = sizeof...(Images);
  TILE_CONSTEXPR static int image(int bit) {
    const int images[] = {Images..., 0};
    return images[bit];
  }
  TILE_CONSTEXPR static int map(int index) {
    int sum = 0;
    for (int bit = 0; bit < count; bit++) {
      sum ^= index >> bit & 1 ? image(bit) : 0;
    }
    return sum;
  }
  /// All output bits that some input bit reaches.
  TILE_CONSTEXPR static int reach() { return (0 | ... | Images); }
  /// The input bits whose image is zero.
  TILE_CONSTEXPR static int unused() {
    int mask = 0;
    for (int bit = 0; bit < count; bit++) {
      mask |= image(bit) == 0 ? 1 << bit : 0;
    }
    return mask;
  }
  /// The input bits `bit` whose image has the output bit `bit + distance`.
  TILE_CONSTEXPR static int diagonal(int distance) {
    int mask = 0;
    for (int bit = 0; bit < count; bit++) {
      const int to = bit + distance;
      mask |= to >= 0 && to < 31 && image(bit) >> to & 1 ? 1 << bit : 0;
    }
    return mask;
  }
};

template <int... Images>
using Register = Bits<Images...>;
template <int... Images>
using Lane = Bits<Images...>;
template <int... Images>
using Wave = Bits<Images...>;
template <int... Bytes>
using Row = Bits<Bytes...>;
template <int... Bytes>
using Column = Bits<Bytes...>;

/// Bits::map at run time: one mask and shift for each diagonal of the matrix.
template <class B, int Distance = -B::count>
TILE int mapBits(int index) {
  if constexpr (Distance >= 31) {
    return 0;
  } else if constexpr (B::diagonal(Distance) == 0) {
    return mapBits<B, Distance + 1>(index);
  } else {
    const int part = Distance < 0 ? (index & B::diagonal(Distance)) >> (Distance < 0 ? -Distance : 0)
                                  : (index & B::diagonal(Distance)) << (Distance < 0 ? 0 : Distance);
    return part ^ mapBits<B, Distance + 1>(index);
  }
}

//===- Sequences ----------------------------------------------------------===//

template <int... I>
struct Sequence {};
template <class A, class B>
struct Concatenation;
template <int... I, int... J>
struct Concatenation<Sequence<I...>, Sequence<J...>> {
  using Type = Sequence<I..., sizeof...(I) + J...>;
};
template <int Count>
struct SequenceTo {
  using Type = typename Concatenation<typename SequenceTo<Count / 2>::Type, typename SequenceTo<Count - Count / 2>::Type>::Type;
};
template <>
struct SequenceTo<0> {
  using Type = Sequence<>;
};
template <>
struct SequenceTo<1> {
  using Type = Sequence<0>;
};

/// A number known at compile time.
template <int Value>
struct Constant {
  static constexpr int value = Value;
  TILE_MEMBER constexpr operator int() const { return Value; }
};

template <class F, int... I>
TILE void repeatSequence(F &f, Sequence<I...>) {
  (f(Constant<I>{}), ...);
}
/// f(Constant<0>), f(Constant<1>), ... without a loop.
template <int Count, class F>
TILE void repeat(F f) {
  repeatSequence(f, typename SequenceTo<Count>::Type{});
}

TILE_CONSTEXPR int log2Of(int value) {
  int bits = 0;
  while (1 << bits < value) {
    bits++;
  }
  return bits;
}
TILE_CONSTEXPR int smaller(int a, int b) { return a < b ? a : b; }
TILE_CONSTEXPR int larger(int a, int b) { return a > b ? a : b; }

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

/// Row and column of register 0 of this thread.
template <class L>
struct Position {
  int row, column;
  TILE_MEMBER Position() {
    const int lane = laneId(), wave = L::OfWave::count ? waveId() : 0;
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
TILE_CONSTEXPR int without(int dimension, int image) { return dimension == 0 ? columns(columnOf(image)) : rows(rowOf(image)); }

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

/// f(index, row, column) for every register of a layout, without a loop.
template <class L, class F>
TILE void forEach(F f) {
  const Position<L> here;
  repeat<L::registers>([&](auto r) INLINE {
    f(Index<L, r.value>{}, here.template rowOfRegister<r.value>(), here.template columnOfRegister<r.value>());
  });
}

//===- Shared memory ------------------------------------------------------===//

/// A place in shared memory: the byte of each element; 1 << rows x columns.
template <class T, class RowBits, class ColumnBits>
struct Shared {
  using Element = T;
  static constexpr int rowCount = 1 << RowBits::count, columnCount = 1 << ColumnBits::count;
  static constexpr int bytes = rowCount * columnCount * sizeof(T);
  /// The byte of a position, as rows() ^ columns().
  TILE_CONSTEXPR static int at(int position) { return RowBits::map(rowOf(position)) ^ ColumnBits::map(columnOf(position)); }
  /// The same for a tile that is read transposed.
  TILE_CONSTEXPR static int atTransposed(int position) { return at(rows(columnOf(position)) | columns(rowOf(position))); }
  /// The position of the element that lies at a byte.
  TILE_CONSTEXPR static int positionOf(int byte);
};

/// Solves at(position) = byte by elimination over bits.
template <class T, class RowBits, class ColumnBits>
TILE_CONSTEXPR int Shared<T, RowBits, ColumnBits>::positionOf(int byte) {
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
