//===- tiles.cuh - What an emitted kernel includes: sm_90a, sm_100a, sm_103a =//
//
// The tile functions of ../tile.h on the instructions of instructions.cuh, and
// what differs between machines: copies to shared memory, barriers, the matrix
// instructions of the [[mma]] rows, accesses to global memory.
//
//   WORKGROUP(threads, perUnit) name(arguments) {...}     a kernel
//   followEarlierKernels()           first of all that touches memory: this kernel may have been started early
//   awaitEarlierKernels() ... startNextKernel()           the same in two steps
//   prefetchRows<rows, columns, threads>(first, stride, limit)      before it: what no earlier kernel writes, into L2
//   copyTile<Waves>(place, view)     asynchronous; one entry of waitCopies for each call
//   copyBox(place, map, x, y[, z], barriers[trip])        through a tensor map; arrives as bytes
//   Barriers<slots> b{words};  startBarriers(b, arrivals);  barriersAreReady();
//   arriveExpect(b[trip], bytes)  arriveAfterMma(b[trip])  arriveOnce(b[trip])  waitFor(b[trip])
//   allocTensor<columns>(shared)  freeTensor<columns>(address)  TensorPlace<rows, columns>  loadTensor(tile, place[,
//   column]) storeTensor(tile, place)  TensorRing<rows, columns, slots> r{address};  r[trip] is a place
//   mma<Instruction>(accumulator, a, b[, add])            operands: tiles or places
//   copyPackedBox(place, map, x, y, z, barriers[trip])    scales as they lie
//   ScalesPlace<words, rows>  copyScales(scales, place)  mma<Instruction>(accumulator, a, b, scalesOfA, scalesOfB[,
//   add]) Barriers<slots, Reach::Leader> b{words};              signals go to the first workgroup of the cluster (All:
//   to all) barriersAreReady<cluster>()  allocTensor<columns, Pair>  freeTensor<columns, Pair>  arriveAfterMma<caller,
//   Pair> waitMatrix<pending>(tiles...)
//
// Copies of boxes, arrivals, products into tensor memory: all threads call, one
// thread acts; with the template argument OneThread only that thread calls.
//   arriveEachWave(b[trip])          of the waves of a role: one arrival a wave
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_TILES_CUH
#define TARGETS_NVIDIA_TILES_CUH

#include "instructions.cuh"

#define TILE DEV
#ifdef MODELC_EMULATOR
#define TILE_MEMBER __attribute__((always_inline))
#define TILE_CONSTEXPR consteval
#define INLINE __attribute__((always_inline))
#else
#define TILE_MEMBER __device__ __forceinline__
#define TILE_CONSTEXPR __attribute__((host)) __attribute__((device)) consteval
#ifdef __clang__
#define INLINE __attribute__((always_inline))
#else
#define INLINE
#endif
#endif

#define WORKGROUP(threads, perUnit) KERNEL(threads, perUnit)

namespace modelc {

/// The same number, of which the compiler knows nothing.
TILE int renewed(int value) {
#ifndef MODELC_EMULATOR
  asm("" : "+r"(value));
#endif
  return value;
}

/// Earlier kernels of the stream are done and what they wrote is visible; only then may the next one be started, so
/// that the one behind it knows of all of them. It needs places on units that this one leaves free.
TILE void followEarlierKernels() {
  waitPreviousKernel();
  launchNextKernel();
}
/// The same in two steps, where the next one is to find units free.
TILE void awaitEarlierKernels() { waitPreviousKernel(); }
TILE void startNextKernel() { launchNextKernel(); }

//===- Elements -----------------------------------------------------------===//

/// Eight bits: E4M3.
struct f8 {
  uint8_t bits;
};
/// Two numbers of four bits: E2M1, the first in the lower half.
struct f4x2 {
  uint8_t bits;
};
/// Four scales of blocks, the first in the lowest byte: powers of two, or E4M3 without sign.
struct e8m0x4 {
  uint32_t bits;
};
struct e4m3x4 {
  uint32_t bits;
};
/// Neighbours in memory.
using bf16x2 = Few<bf16, 2>;
TILE bf16x2 toBf16x2(float first, float second) {
  const uint32_t both = packBf16(first, second);
  return {{{(uint16_t)both}, {(uint16_t)(both >> 16)}}};
}
/// Of machines whose matrix unit multiplies numbers of four bits.
TILE f4x2 toF4x2(float first, float second) { return {packFp4(first, second)}; }
TILE e4m3x4 toE4m3x4(float first, float second, float third, float fourth) {
  return {packFp8(f32x4{first, second, third, fourth})};
}
TILE f8 toF8(float x) { return {(uint8_t)packFp8(x, 0.0f)}; }
TILE float toFloat(f8 x) { return unpackFp8((uint16_t)x.bits)[0]; }

/// 2^x below 129 by a cubic on the vector units, within 8.6e-5 of it; zero below -126. The sum with 1.5 * 2^23, rounded
/// down, has floor(x) in its last bits.
TILE float exp2ByFma(float x) {
  constexpr float base = 12582912;
  const float clamped = maxOrNaN(x, -127), floored = addDown(clamped, base);
  const float f = clamped - (floored - base);
  const float cubic = fma(fma(fma(0.07706704f, f, 0.227644995f), f, 0.695116758f), f, 1.0f);
  return cubic * asFloat((asBits(floored) + 127) << 23);
}
/// 2^x of an element of a lane: of each 8, `Share` are computed so, evenly spread.
template <int Share, int Element>
TILE float exp2Split(float x) {
  if constexpr (Element * Share % 8 < Share) {
    return exp2ByFma(x);
  } else {
    return exp2(x);
  }
}

template <class T>
TILE T uniformValue(T value) {
  return value;
}

//===- Global memory ------------------------------------------------------===//

template <class P, class T>
TILE P readGlobal(const T *from) {
  return loadGlobal((const P *)from);
}
/// Products are asm: they stay before the condition of a store.
constexpr bool kSinksProducts = false;

template <class T>
TILE T readConstant(const T *from) {
  return readGlobal<T>(from);
}
template <class P, class T>
TILE P readStreaming(const T *from) {
  if constexpr (sizeof(P) == 4) {
    return __builtin_bit_cast(P, loadNontemporal((const uint32_t *)from));
  } else if constexpr (sizeof(P) == 8) {
    return __builtin_bit_cast(P, loadNontemporal((const u32x2 *)from));
  } else {
    return __builtin_bit_cast(P, loadNontemporal((const u32x4 *)from));
  }
}
template <class P, class T>
TILE P readOrZero(const T *from, bool valid) {
  return valid ? loadGlobal((const P *)from) : P{};
}
template <class P, class T>
TILE void writeGlobal(T *to, P pack) {
  storeGlobal((P *)to, pack);
}
template <class T>
TILE void addGlobal(T *to, T value) {
  atomicAdd(to, value);
}

/// All reads of registers are waited for where they are used.
template <int Pending>
TILE void waitReads() {}

} // namespace modelc

// clang-format off: the later ones use the earlier ones.
#include "../tile/layout.h"
#include "readMatrix.cuh"
#include "../tile.h"
#include "copyTiles.cuh"
#include "matrixTiles.cuh"
#include "tensorTiles.cuh"
// clang-format on

#endif // TARGETS_NVIDIA_TILES_CUH
