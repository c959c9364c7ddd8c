// The instructions of CDNA 3 and 4 (gfx942, gfx950), one small function each,
// in namespace modelc. The tile functions are written with these names alone.
// Compiles with clang alone or with hipcc; with -DMODELC_EMULATOR the same
// names run on a CPU (emulator/amd.h; MODELC_CHIP chooses the chip, 950 if not
// given; -I must name the folder above this one). This file has the kernel and
// the lanes, memory.hip.h what touches memory, matrix.hip.h what computes.
//
// Kernel
//   KERNEL(threads, wavesPerSimd) name(arguments) {...}     DEV before
//   functions SHARED(type, name, count);  DYNAMIC_SHARED(name); int laneId()
//   int waveId()  int uniformWaveId()  int threadId()
//   int workgroupId<Axis = 0>()  int workgroupCount<Axis = 0>()
// Order
//   sync()             barrier; this wave's shared reads and writes are done
//   syncOnly()         barrier alone: shared reads may be in flight across it
//   syncWave()         order of shared memory between the lanes of this wave
//   waitCopies<N>()    at most N vector memory operations in flight (copies to
//                      shared, but also loads and stores of global memory)
//   waitReads<N>()     at most N shared memory operations in flight
//   scheduleFence()  priority<P>()
//   interleave<Products, Reads, Copies>()   moves since the last fence, so many
//                      instructions, stand between its matrix instructions
// Lanes (T of 4 or 8 bytes)
//   T uniform(T)       says it is the same in all lanes (the emulator checks)
//   T readFirstLane(T)  T shuffleXor<Mask>(T)  T shuffleXor(T, mask)
//   T shuffle(T, lane)  bool anyLane(bool)   whether it holds in some lane
//   i32x2 wordsOfPair<Distance>(int)   gfx950: those of the lanes of each pair
//                      that are 16 or 32 apart, of the first one first
//   int permuteBytes(int low, int high, int selector)   byte i is that of low
//                      and high together that byte i of the selector names
// Copies and loads (memory.hip.h)
//   kCopyBytes         the widest copy of a lane: 16 on gfx950, 4 on gfx942
//   copyToShared<Bytes>(global, shared)    Bytes: 4 or kCopyBytes. Lane i's go
//                      to shared + i * Bytes; shared is the same in all lanes
//   Buffer buffer(global, bytes)           reads beyond are 0, writes are lost
//   copyBufferToShared<Bytes>(Buffer, shared, laneOffset, tileOffset = 0)
//   T loadBuffer<T>(Buffer, laneOffset, tileOffset = 0)      T of 1 to 16 bytes
//   storeBuffer(Buffer, T, laneOffset, tileOffset = 0)
//   T loadGlobal(const T *)  storeGlobal(T *, T)
//   T loadConstant(const T *)  T of 4 bytes, the same for all lanes, that
//                      nothing writes meanwhile: waits for no copies
//   T loadNontemporal(const T *)  storeNontemporal(T *, T)
//   i32x2 readTransposed16(shared)   gfx950: of each 16 lanes, lane i reads 8
//                      bytes (row i / 4, columns i % 4 * 4 ...) of a tile of 4
//                      rows x 16 columns of 16 bits, and gets column i
//   i32x2 readTransposed8(shared)    gfx950: the same of row i / 2, columns i %
//   2 *
//                      8 ... of 8 rows x 16 columns of 8 bits
// Matrix, c[M, M] += a[M, K] * b[M, K]^T (matrix.hip.h; M = 16 or 32)
//   f32x4  mfma16x16x16(bf16x4 or f16x4 a, b, f32x4 c)
//   f32x16 mfma32x32x8 (bf16x4 or f16x4 a, b, f32x16 c)
//   f32x4  mfma16x16x32(bf16x8 or f16x8 a, b, f32x4 c)               gfx950
//   f32x16 mfma32x32x16(bf16x8 or f16x8 a, b, f32x16 c)              gfx950
//   f32x4  mfma16x16x32Fp8<A = kFp8, B = kFp8>(i32x2 a, b, f32x4 c)
//   f32x16 mfma32x32x16Fp8<A = kFp8, B = kFp8>(i32x2 a, b, f32x16 c)
//   f32x4  mfmaScaled16x16x128<A, B, SelectA = 0, SelectB = 0>(a, b, f32x4 c,
//            int scaleA, int scaleB)                                 gfx950
//   f32x16 mfmaScaled32x32x64<A, B, SelectA = 0, SelectB = 0>(...)   gfx950
//   A and B of scaled: kFp8 kBf8 (i32x8), kFp6 kBf6 (i32x6), kFp4 (i32x4).
//   Select: which byte of the scale operand; kScaleOne = 127 is 1.
//   Lane l holds of a (and of b) row l % M and, of K, with g = l / M:
//     not scaled            K * M / 64 neighbours from g times as many
//     scaled, 6 and 4 bits  32 neighbours from 32 * g
//     scaled, 8 bits        16 from 16 * g, then 16 from K / 2 + 16 * g
//     scale                 of row l % M and the block g of 32
//   and of c column (row of b) l % M, register r being row
//     4 * g + r (M = 16),   8 * (r / 4) + 4 * g + r % 4 (M = 32)
// Numbers (one instruction each: fast, not correctly rounded)
//   float exp2 log2 rcp rsqrt sqrt fma max min abs
//   bf16 toBf16(float)  float toFloat(bf16)
//   uint32_t packBf16(float first, float second)  f32x2 unpackBf16(uint32_t)
//   uint32_t packFp8(f32x4)  f32x4 unpackFp8(uint32_t)   saturating; OCP on
//   uint32_t packBf8(f32x4)  f32x4 unpackBf8(uint32_t)   gfx950, FNUZ on gfx942
//   uint32_t packFp4(f32x4 first, f32x4 second, float scale)  values / scale;
//                      scale a power of two                          gfx950
//   f32x4 unpackFp4<Half>(uint32_t, float scale)         four of eight, * scale
//   i32x6 packFp6(f32x16 even, f32x16 odd)  packBf6      saturating  gfx950
// Between workgroups and devices (memory.hip.h)
//   T atomicAdd(T *, T)  T float, int, unsigned
//   uint64_t atomicMax(uint64_t *, uint64_t)
//   atomicAddBf16(uint32_t *pair, uint32_t packed)
//   fenceDevice()      orders global memory between workgroups of the device,
//                      around atomics; waits for this wave's stores
//   storeRelease(uint32_t *flag, uint32_t)  uint32_t loadAcquire(flag)
//   waitForFlag(flag, uint32_t value)       until flag has reached value
//   A fence or a release orders the accesses of its own wave only: before one
//   thread tells others of a whole workgroup's writes, every wave calls
//   fenceDevice() and then sync().
#ifndef TARGETS_AMD_INSTRUCTIONS_HIP_H
#define TARGETS_AMD_INSTRUCTIONS_HIP_H

#include <stdint.h>

#if defined(__gfx942__)
#define MODELC_CHIP 942
#elif defined(__gfx950__) || !defined(MODELC_CHIP)
#define MODELC_CHIP 950
#endif

namespace modelc {

using bf16 = __bf16;
using f16 = _Float16;
using bf16x4 = bf16 __attribute__((ext_vector_type(4)));
using bf16x8 = bf16 __attribute__((ext_vector_type(8)));
using f16x4 = f16 __attribute__((ext_vector_type(4)));
using f16x8 = f16 __attribute__((ext_vector_type(8)));
using f32x2 = float __attribute__((ext_vector_type(2)));
using f32x4 = float __attribute__((ext_vector_type(4)));
using f32x16 = float __attribute__((ext_vector_type(16)));
using i16x4 = short __attribute__((ext_vector_type(4)));
using i32x2 = int __attribute__((ext_vector_type(2)));
using i32x4 = int __attribute__((ext_vector_type(4)));
using i32x6 = int __attribute__((ext_vector_type(6)));
using i32x8 = int __attribute__((ext_vector_type(8)));
using u32x2 = uint32_t __attribute__((ext_vector_type(2)));

constexpr int kWaveSize = 64;
/// Bytes that one lane may copy to shared memory with one instruction.
constexpr int kCopyBytes = MODELC_CHIP >= 950 ? 16 : 4;
/// Formats of matrix operands, as the instructions number them.
constexpr int kFp8 = 0, kBf8 = 1, kFp6 = 2, kBf6 = 3, kFp4 = 4;
/// The scale (a power of two, biased by 127) that changes nothing.
constexpr int kScaleOne = 127;

} // namespace modelc

#ifdef MODELC_EMULATOR
#include "emulator/amd.h"
#else
#define DEV static inline __attribute__((device, always_inline))
#include "matrix.hip.h"
#include "memory.hip.h"

#define KERNEL(threads, wavesPerSimd)                                          \
  extern "C"                                                                   \
      __attribute__((global, amdgpu_flat_work_group_size(threads, threads),    \
                     amdgpu_waves_per_eu(wavesPerSimd, wavesPerSimd))) void
#define SHARED(type, name, ...)                                                \
  using name##Type = type;                                                     \
  __attribute__((shared,                                                       \
                 aligned(128))) name##Type name __VA_OPT__([__VA_ARGS__])
#define DYNAMIC_SHARED(name)                                                   \
  extern __attribute__((shared, aligned(1024))) char name[]

namespace modelc {

DEV int laneId() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
DEV int threadId() { return __builtin_amdgcn_workitem_id_x(); }
DEV int uniformWaveId() {
  return __builtin_amdgcn_readfirstlane(threadId() >> 6);
}
DEV int waveId() { return uniformWaveId(); }

template <int Axis = 0>
DEV int workgroupId() {
  return Axis == 0   ? __builtin_amdgcn_workgroup_id_x()
         : Axis == 1 ? __builtin_amdgcn_workgroup_id_y()
                     : __builtin_amdgcn_workgroup_id_z();
}
/// From the implicit arguments of code object version 5: three counts first.
template <int Axis = 0>
DEV int workgroupCount() {
  return ((const __attribute__((address_space(4)))
           uint32_t *)__builtin_amdgcn_implicitarg_ptr())[Axis];
}

template <int N>
DEV void waitCopies() {
  static_assert(N >= 0 && N < 64, "vmcnt has six bits");
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"(N) : "memory");
}
template <int N>
DEV void waitReads() {
  static_assert(N >= 0);
  // The counter has four bits; fewer in flight than asked for is safe.
  constexpr int kPending = N < 15 ? N : 15;
  asm volatile("s_waitcnt lgkmcnt(%0)" ::"n"(kPending) : "memory");
  __builtin_amdgcn_sched_barrier(0);
}
DEV void scheduleFence() {
  asm volatile("" ::: "memory");
  __builtin_amdgcn_sched_barrier(0);
}
/// Moves are spread over the first three quarters: the last ones arrive before
/// the next products need them.
template <int Products, int Reads, int Copies, int Product = 0>
DEV void interleave() {
  constexpr int kMatrix = 0x8, kVectorMemory = 0x10, kSharedReads = 0x100;
  if constexpr (Product == Products) {
    scheduleFence();
  } else {
    constexpr auto before = [](int moves, int products) {
      int share = (4 * moves * products + 3 * Products - 1) / (3 * Products);
      return share < moves ? share : moves;
    };
    constexpr int kReads = before(Reads, Product + 1) - before(Reads, Product);
    constexpr int kCopies =
        before(Copies, Product + 1) - before(Copies, Product);
    __builtin_amdgcn_sched_group_barrier(kMatrix, 1, 0);
    if constexpr (kReads > 0) {
      __builtin_amdgcn_sched_group_barrier(kSharedReads, kReads, 0);
    }
    if constexpr (kCopies > 0) {
      __builtin_amdgcn_sched_group_barrier(kVectorMemory, kCopies, 0);
    }
    interleave<Products, Reads, Copies, Product + 1>();
  }
}
template <int P>
DEV void priority() {
  __builtin_amdgcn_s_setprio(P);
}

// Not the fence builtins: they drain vmcnt, and with it every prefetch.
DEV void syncOnly() {
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");
  __builtin_amdgcn_sched_barrier(0);
}
DEV void sync() {
  waitReads<0>();
  syncOnly();
}
DEV void syncWave() {
  waitReads<0>();
  __builtin_amdgcn_wave_barrier();
}

/// Applies `f(int) -> int` to each 32-bit word of a value.
template <typename T, typename F>
DEV T eachWord(T value, F f) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, (int)f(__builtin_bit_cast(int, value)));
  } else {
    i32x2 words = __builtin_bit_cast(i32x2, value);
    words = i32x2{(int)f(words[0]), (int)f(words[1])};
    return __builtin_bit_cast(T, words);
  }
}
template <typename T>
DEV T readFirstLane(T value) {
  return eachWord(value,
                  [](int w) { return __builtin_amdgcn_readfirstlane(w); });
}
template <typename T>
DEV T uniform(T value) {
  return readFirstLane(value);
}
DEV bool anyLane(bool holds) { return __builtin_amdgcn_ballot_w64(holds) != 0; }
template <typename T>
DEV T shuffle(T value, int lane) {
  return eachWord(value, [lane](int w) {
    return __builtin_amdgcn_ds_bpermute(lane * 4, w);
  });
}
template <typename T>
DEV T shuffleXor(T value, int mask) {
  return shuffle(value, laneId() ^ mask);
}

/// Moves words between lanes of a row of 16 as `Control` says.
template <int Control>
DEV int moveInRow(int word) {
  return __builtin_amdgcn_update_dpp(word, word, Control, 0xf, 0xf, true);
}
DEV int permuteBytes(int low, int high, int selector) {
  return __builtin_amdgcn_perm(high, low, selector);
}
#if MODELC_CHIP >= 950
template <int Distance>
DEV i32x2 wordsOfPair(int w) {
  static_assert(Distance == 16 || Distance == 32, "rows or halves");
  if constexpr (Distance == 16) {
    auto both = __builtin_amdgcn_permlane16_swap(w, w, false, false);
    return i32x2{(int)both[0], (int)both[1]};
  } else {
    auto both = __builtin_amdgcn_permlane32_swap(w, w, false, false);
    return i32x2{(int)both[0], (int)both[1]};
  }
}
#endif
template <int Mask>
DEV int shuffleWordXor(int w) {
  constexpr int kMirrorRowHalf = 0x141, kRotateRow8 = 0x128;
  constexpr int kQuad[] = {0xE4, 0xB1, 0x4E, 0x1B}; // l ^ 0, 1, 2, 3 in a quad
  if constexpr (Mask & 32) {
#if MODELC_CHIP >= 950
    i32x2 both = wordsOfPair<32>(w);
    w = laneId() & 32 ? both[0] : both[1];
#else
    w = __builtin_amdgcn_ds_bpermute((laneId() ^ 32) * 4, w);
#endif
  }
  if constexpr (Mask & 16) {
#if MODELC_CHIP >= 950
    i32x2 both = wordsOfPair<16>(w);
    w = laneId() & 16 ? both[0] : both[1];
#else
    w = __builtin_amdgcn_ds_swizzle(w, 0x401F);
#endif
  }
  if constexpr (Mask & 8) {
    w = moveInRow<kRotateRow8>(w);
  }
  if constexpr (Mask & 4) {
    w = moveInRow<kMirrorRowHalf>(w); // l ^ 7
  }
  constexpr int quad = Mask & 4 ? 3 ^ (Mask & 3) : Mask & 3;
  if constexpr (quad != 0) {
    w = moveInRow<kQuad[quad]>(w);
  }
  return w;
}
template <int Mask, typename T>
DEV T shuffleXor(T value) {
  static_assert(Mask > 0 && Mask < 64, "a mask of lanes");
  return eachWord(value, [](int w) { return shuffleWordXor<Mask>(w); });
}

} // namespace modelc
#endif // MODELC_EMULATOR

#endif // TARGETS_AMD_INSTRUCTIONS_HIP_H
