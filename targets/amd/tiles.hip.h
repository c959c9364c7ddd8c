//===- tiles.hip.h - What an emitted kernel includes: CDNA ----------------===//
//
// The tile functions of ../tile.h on the instructions of instructions.hip.h,
// and what differs between machines: copies to shared memory, the matrix
// instructions of the [[mma]] rows, accesses to global memory.
//
//   WORKGROUP(threads, perUnit) name(arguments) {...}   a kernel
//   SHARED_OBJECT(name, bytes);                         char *, its own object
//   copyTile<Waves>(place, view)   asynchronous; one entry of waitCopies for
//                                  each bytes / (Waves * 64 * kCopyBytes), at
//                                  least one
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_AMD_TILES_HIP_H
#define TARGETS_AMD_TILES_HIP_H

#include "instructions.hip.h"

#define TILE DEV
#ifdef MODELC_EMULATOR
#define TILE_MEMBER __attribute__((always_inline))
#define TILE_CONSTEXPR consteval
#define TILE_DATA static
#else
#define TILE_MEMBER __attribute__((device, always_inline))
#define TILE_CONSTEXPR __attribute__((host, device)) consteval
#define TILE_DATA static __attribute__((device))
#endif
#define INLINE __attribute__((always_inline))

#define WORKGROUP(threads, perUnit)                                            \
  KERNEL(threads, ((threads) / 64 * (perUnit) + 3) / 4)
#define SHARED_OBJECT(name, bytes) SHARED(char, name, bytes)

namespace modelc {

/// The same number, of which the compiler knows nothing.
TILE int renewed(int value) {
#ifndef MODELC_EMULATOR
  asm("" : "+v"(value));
#endif
  return value;
}

/// Kernels are started when the earlier ones of the stream are done.
TILE void followEarlierKernels() {}

//===- Elements -----------------------------------------------------------===//

/// Eight bits: E4M3, as OCP (gfx950) or FNUZ (gfx942).
struct f8 {
  uint8_t bits;
};
/// Two numbers of four bits: E2M1, the first in the lower half.
struct f4x2 {
  uint8_t bits;
};
/// Four scales, powers of two, the first in the lowest byte.
struct e8m0x4 {
  uint32_t bits;
};
/// The first 16 of the 24 bytes of 32 numbers of six bits; the last 8 are one
/// word.
using i64x2 = int64_t __attribute__((ext_vector_type(2)));
struct i64x3 {
  int64_t words[3];
  TILE_MEMBER int64_t operator[](int i) const { return words[i]; }
};
/// 32 numbers of six bits, the first in the lowest ones: E2M3, E3M2.
struct e2m3x32 : i64x3 {};
struct e3m2x32 : i64x3 {};
/// Neighbours in memory.
template <class T, int Count>
struct List {
  T numbers[Count];
  TILE_MEMBER T operator[](int i) const { return numbers[i]; }
};
using bf16x32 = List<bf16, 32>;
using f32x32 = List<float, 32>;
template <class... Numbers>
TILE bf16x32 toBf16x32(Numbers... numbers) {
  return {{toBf16(numbers)...}};
}
using bf16x2 = bf16 __attribute__((ext_vector_type(2)));
TILE bf16x2 toBf16x2(float first, float second) {
  return {toBf16(first), toBf16(second)};
}
#if MODELC_CHIP >= 950
TILE f4x2 toF4x2(float first, float second) {
  return {(uint8_t)packFp4(first, second, 1.0f)};
}
TILE i64x3 asBlock(i32x6 bits) {
  const auto word = [&](int i) INLINE {
    return (int64_t)(uint32_t)bits[i] | (int64_t)bits[i + 1] << 32;
  };
  return {{word(0), word(2), word(4)}};
}
/// Every second of 32 numbers, from `first` on.
TILE f32x16 everySecond(const f32x32 &list, int first) {
  f32x16 some;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    some[i] = list[2 * i + first];
  }
  return some;
}
template <class... Numbers>
TILE e2m3x32 toE2m3x32(Numbers... numbers) {
  const f32x32 list = {{numbers...}};
  return {asBlock(packFp6(everySecond(list, 0), everySecond(list, 1)))};
}
template <class... Numbers>
TILE e3m2x32 toE3m2x32(Numbers... numbers) {
  const f32x32 list = {{numbers...}};
  return {asBlock(packBf6(everySecond(list, 0), everySecond(list, 1)))};
}
#endif
TILE f8 toF8(float x) { return {(uint8_t)packFp8(f32x4{x, 0, 0, 0})}; }
TILE float toFloat(f8 x) { return unpackFp8(x.bits)[0]; }
TILE float toFloat(f16 x) { return (float)x; }
TILE f16 toF16(float x) { return (f16)x; }

template <class T>
TILE T uniformValue(T value) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    return uniform(value);
  } else {
    return value;
  }
}

//===- Global memory ------------------------------------------------------===//

/// What is read in place of elements beyond a limit, so that a wave issues as
/// many accesses wherever its tile lies: waits count them.
alignas(16) TILE_DATA const char kZeros[16] = {};

/// The integer vector of so many bytes.
template <int Bytes>
struct Word {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = i32x2;
};
template <>
struct Word<16> {
  using Type = i32x4;
};
/// A struct would be copied by its address, which is not known to be global.
/// What is wider than an access is read by several, `step` bytes apart.
template <class P>
TILE P readWord(const void *from, int step = 16) {
  if constexpr (sizeof(P) > 16) {
    struct {
      i32x4 words[sizeof(P) / 16];
    } all;
#pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 16; ++i) {
      all.words[i] = readWord<i32x4>((const char *)from + i * step);
    }
    return __builtin_bit_cast(P, all);
  } else {
    using W = typename Word<sizeof(P)>::Type;
    return __builtin_bit_cast(P, loadGlobal((const W *)from));
  }
}

template <class P, class T>
TILE P readGlobal(const T *from) {
  return readWord<P>(from);
}
/// The compiler moves matrix instructions behind the condition of a store that
/// is all that uses them, where lanes are missing. A second use, for parts of a
/// vector, holds them before it.
constexpr bool kSinksProducts = true;

template <class T>
TILE T readConstant(const T *from) {
  return loadConstant(from);
}
template <class P, class T>
TILE P readStreaming(const T *from) {
  using W = typename Word<sizeof(P)>::Type;
  return __builtin_bit_cast(P, loadNontemporal((const W *)from));
}
template <class P, class T>
TILE P readOrZero(const T *from, bool valid) {
  return readWord<P>(valid ? (const void *)from : kZeros, valid ? 16 : 0);
}
template <class P, class T>
TILE void writeGlobal(T *to, P pack) {
  storeGlobal((P *)to, pack);
}
template <class T>
TILE void addGlobal(T *to, T value) {
  atomicAdd(to, value);
}

} // namespace modelc

// clang-format off: the later ones use the earlier ones.
#include "../tile/layout.h"
#include "readMatrix.hip.h"
#include "../tile.h"
// clang-format on

namespace modelc {

//===- Copies to shared memory --------------------------------------------===//

/// Rows end with the buffer descriptor; lanes beyond the last column read
/// beyond its end. Both leave zeros.
template <int Waves, class S, class V>
TILE void copyNear(Place<S> to, const V &from) {
  using T = typename S::Element;
  constexpr uint32_t beyond = 0x80000000u;
  const int rowBytes = (int)from.rowStride * (int)sizeof(T);
  const int rowEnd = V::rowsEnd
                         ? maximum(minimum(from.rowLimit, S::rowCount), 0)
                         : S::rowCount;
  const uint32_t bytes =
      uniform(V::rowsEnd ? rowEnd * rowBytes
                         : (S::rowCount - 1) * rowBytes +
                               S::columnCount * (int)sizeof(T));
  const Buffer source = buffer(from.base, bytes);
  copyUnits<S, Waves, kCopyBytes>([&](auto unit, int waveByte, int,
                                      const auto &here) INLINE {
    const int row = here.template rowOfRegister<unit.value>();
    const int column = here.template columnOfRegister<unit.value>();
    uint32_t offset = row * rowBytes + column * (int)sizeof(T);
    if constexpr (V::columnsEnd) {
      offset = from.hasColumns(column, kCopyBytes / (int)sizeof(T)) ? offset
                                                                    : beyond;
    }
    copyBufferToShared<kCopyBytes>(source, to.at + waveByte, offset);
  });
}

/// Rows that lie anywhere: an address for each lane.
template <int Waves, class S, class V>
TILE void copyFar(Place<S> to, const V &from) {
  copyUnits<S, Waves, kCopyBytes>([&](auto unit, int waveByte, int,
                                      const auto &here) INLINE {
    const int row = here.template rowOfRegister<unit.value>();
    const int column = here.template columnOfRegister<unit.value>();
    bool valid =
        from.hasColumns(column, kCopyBytes / (int)sizeof(typename S::Element));
    const void *source = kZeros;
    if (!V::rowsEnd || !V::isPaged || from.hasRow(row, 0)) {
      const int lies = from.rows.row(row);
      source = valid && from.hasRow(row, lies)
                   ? (const void *)from.at(lies, column)
                   : kZeros;
    }
    copyToShared<kCopyBytes>(source, to.at + waveByte);
  });
}

/// Fills a place from global memory, without registers. Beyond the limits it
/// leaves zeros. Columns are side by side in memory; their limit is a multiple
/// of kCopyBytes.
template <int Waves, class S, class V>
TILE void copyTile(Place<S> to, const V &from) {
  if constexpr (V::isFar) {
    copyFar<Waves>(to, from);
  } else {
    copyNear<Waves>(to, from);
  }
}

/// The numbers of a tile are there before what follows. Of so many that one
/// instruction makes, one is asked for.
template <int Together, class T, class L>
TILE void hold(const Tile<T, L> &tile) {
#ifndef MODELC_EMULATOR
  repeat<L::registers / Together>([&](auto i) INLINE {
    const T one = tile.v[i.value * Together];
    asm volatile("" ::"v"(one));
  });
#endif
}

//===- Matrix instructions ------------------------------------------------===//

#define MODELC_MFMA(name, depth, operand, vectorA, vectorC, call)              \
  struct name {                                                                \
    static constexpr int k = depth;                                            \
    static constexpr int a = sizeof(vectorA) / sizeof(operand), b = a,         \
                         c = sizeof(vectorC) / sizeof(float);                  \
    static constexpr int firstStep = rows(1);                                  \
    TILE_MEMBER static void multiply(float *c, const operand *a,               \
                                     const operand *b) {                       \
      *(vectorC *)c =                                                          \
          call(*(const vectorA *)a, *(const vectorA *)b, *(vectorC *)c);       \
    }                                                                          \
  }
MODELC_MFMA(Mfma16x16x16Bf16, 16, bf16, bf16x4, f32x4, mfma16x16x16);
MODELC_MFMA(Mfma32x32x8Bf16, 8, bf16, bf16x4, f32x16, mfma32x32x8);
MODELC_MFMA(Mfma16x16x32F8, 32, f8, i32x2, f32x4, mfma16x16x32Fp8);
MODELC_MFMA(Mfma32x32x16F8, 16, f8, i32x2, f32x16, mfma32x32x16Fp8);
#if MODELC_CHIP >= 950
MODELC_MFMA(Mfma16x16x32Bf16, 32, bf16, bf16x8, f32x4, mfma16x16x32);
MODELC_MFMA(Mfma32x32x16Bf16, 16, bf16, bf16x8, f32x16, mfma32x32x16);

/// Scaled by one: the fast form of eight-bit products.
TILE f32x4 mfma16x16x128F8(i32x8 a, i32x8 b, f32x4 c) {
  return mfmaScaled16x16x128<kFp8, kFp8>(a, b, c, kScaleOne, kScaleOne);
}
TILE f32x16 mfma32x32x64F8(i32x8 a, i32x8 b, f32x16 c) {
  return mfmaScaled32x32x64<kFp8, kFp8>(a, b, c, kScaleOne, kScaleOne);
}
MODELC_MFMA(Mfma16x16x128F8, 128, f8, i32x8, f32x4, mfma16x16x128F8);
MODELC_MFMA(Mfma32x32x64F8, 64, f8, i32x8, f32x16, mfma32x32x64F8);

/// The 32 numbers of a lane as the instructions take them: in elements of one,
/// of pairs, of whole blocks.
TILE i32x8 asOperand(const f8 *numbers) { return *(const i32x8 *)numbers; }
TILE i32x4 asOperand(const f4x2 *pairs) { return *(const i32x4 *)pairs; }
TILE i32x6 asOperand(const i64x3 *block) {
  const i64x3 &words = *block;
  return i32x6{(int)words[0], (int)(words[0] >> 32),
               (int)words[1], (int)(words[1] >> 32),
               (int)words[2], (int)(words[2] >> 32)};
}
template <class Element>
constexpr int kPerLane = 1;
template <>
constexpr int kPerLane<f8> = 32;
template <>
constexpr int kPerLane<f4x2> = 16;

/// Lane l gives the scale of row l % 16 in block l / 16 of four; of several
/// fragments it holds the word of that row of fragment l / 16 % Fragments. Byte
/// f of the result is the scale that it gives for fragment f.
template <int Fragments>
TILE int dealScales(e8m0x4 word) {
  const int held = (int)word.bits, block = laneId() / 16;
  if constexpr (Fragments == 1) {
    return held >> block * 8;
  } else if constexpr (Fragments == 2) {
    const i32x2 both = wordsOfPair<16>(held);
    return permuteBytes(both[0], both[1], 0x0400 + block * 0x0101);
  } else {
    static_assert(Fragments == 4, "as many as blocks of a word, at most");
    // Blocks 0 and 1 or 2 and 3 of fragments f and f + 2, then one of all.
    const i32x2 halves = wordsOfPair<32>(held);
    const int two =
        permuteBytes(halves[0], halves[1], 0x05040100 + block / 2 * 0x02020202);
    const i32x2 both = wordsOfPair<16>(two);
    return permuteBytes(both[0], both[1], 0x06020400 + block % 2 * 0x01010101);
  }
}

template <int FormatA, class A, int FormatB = FormatA, class B = A>
struct MfmaOfBlocks {
  static constexpr int a = kPerLane<A>, b = kPerLane<B>, c = 4;
  static constexpr int k = 4 * a, kOfB = 4 * b;
  static constexpr int firstStep = rows(1);
  template <int Fragments>
  TILE_MEMBER static int deal(e8m0x4 word) {
    return dealScales<Fragments>(word);
  }
  template <int ByteA, int ByteB>
  TILE_MEMBER static void multiply(float *c, const A *a, const B *b,
                                   int scalesOfA, int scalesOfB) {
    *(f32x4 *)c = mfmaScaled16x16x128<FormatA, FormatB, ByteA, ByteB>(
        asOperand(a), asOperand(b), *(f32x4 *)c, scalesOfA, scalesOfB);
  }
};
using Mfma16x16x128F4 = MfmaOfBlocks<kFp4, f4x2>;
using Mfma16x16x128F4F8 = MfmaOfBlocks<kFp4, f4x2, kFp8, f8>;
using Mfma16x16x128F6 = MfmaOfBlocks<kFp6, e2m3x32>;
using Mfma16x16x128Bf6 = MfmaOfBlocks<kBf6, e3m2x32>;
using Mfma16x16x128F6F8 = MfmaOfBlocks<kFp6, e2m3x32, kFp8, f8>;
using Mfma16x16x128Mx8 = MfmaOfBlocks<kFp8, f8>;
#endif
#undef MODELC_MFMA

} // namespace modelc

#endif // TARGETS_AMD_TILES_HIP_H
