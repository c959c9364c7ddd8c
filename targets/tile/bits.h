//===- bits.h - Linear maps over bits, and what is known when compiled ----===//
//
// Included by layout.h: the images of the bits of one input, and small tools for
// types and numbers that are known when the kernel is compiled.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_BITS_H
#define MODELC_TARGETS_TILE_BITS_H

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
  using Type =
      typename Concatenation<typename SequenceTo<Count / 2>::Type, typename SequenceTo<Count - Count / 2>::Type>::Type;
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
template <class A, class B>
constexpr bool kSameType = false;
template <class A>
constexpr bool kSameType<A, A> = true;

template <bool First, class A, class B>
struct TypeSelection {
  using Type = A;
};
template <class A, class B>
struct TypeSelection<false, A, B> {
  using Type = B;
};
template <bool First, class A, class B>
using SelectType = typename TypeSelection<First, A, B>::Type;

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

} // namespace modelc

#endif // MODELC_TARGETS_TILE_BITS_H
