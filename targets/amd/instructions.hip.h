// The instructions of CDNA 3 and 4 (gfx942, gfx950), one small function each,
// in namespace modelc. Everything above (tiles.hip.h) is written with these
// names. Compiles with clang alone or with hipcc; with -DMODELC_EMULATOR the
// same names run on a CPU (emulator/amd.h; MODELC_CHIP chooses the chip, 950 if
// not given; the include path must hold the folder above this one).
//
// Kernel      KERNEL(threads, wavesPerSimd) name(arguments) {...}
//             SHARED(type, name, count);  DYNAMIC_SHARED(name);  DEV before
//             functions
// Place       int laneId() waveId() threadId() workgroupId<Axis=0>()
// workgroupCount<Axis=0>() Order       sync()             barrier of the
// workgroup; this wave's shared reads and writes are done
//             syncOnly()         barrier alone; nothing is waited for
//             syncWave()         order between the lanes of this wave
//             waitCopies<N>()    at most N vector memory operations (copies,
//             loads, stores) in flight waitReads<N>()     at most N shared
//             memory operations in flight scheduleFence() scheduleGroup<Mask,
//             Count>() priority<P>()
// Lanes       T uniform(T)               says that a value is the same in all
// lanes (checked by the emulator)
//             T readFirstLane(T)         lane 0's value
//             T shuffleXor<Mask>(T)  T shuffleXor(T, mask)  T shuffle(T, lane)
//             T of 4 or 8 bytes
// Copies      kCopyBytes         16 on gfx950, 4 on gfx942: the widest copy
//             copyToShared<Bytes>(global, shared)         lane i's bytes land
//             at shared + i * Bytes;
//                                shared is the same in all lanes
//             Buffer buffer(global, bytes)                bounds are bytes;
//             beyond: reads 0, writes nothing copyBufferToShared<Bytes>(Buffer,
//             shared, laneOffset, tileOffset = 0) T loadBuffer<T>(Buffer,
//             laneOffset, tileOffset = 0) storeBuffer<T>(Buffer, T, laneOffset,
//             tileOffset = 0)               T of 1, 2, 4, 8, 16 bytes T
//             loadGlobal<T>(const T *)  storeGlobal(T *, T)  loadNontemporal
//             storeNontemporal i32x2 readTransposed16(shared)   gfx950: lane i
//             of 16 reads 8 bytes of row i / 4, column
//                                (i % 4) * 4; receives column i of those 4 rows
//                                x 16 columns of 16 bits
// Matrix      f32x4  mfma16x16x16(bf16x4|f16x4 a, b, f32x4 c)      f32x16
// mfma32x32x8 (bf16x4|f16x4 ...)
//             f32x4  mfma16x16x32(bf16x8|f16x8 a, b, c) gfx950     f32x16
//             mfma32x32x16(bf16x8|f16x8 ...) f32x4  mfma16x16x32Fp8<A, B>(i32x2
//             a, b, c)          f32x16 mfma32x32x16Fp8<A, B>(...) f32x4
//             mfmaScaled16x16x128<A, B, SelectA, SelectB>(a, b, c, scaleA,
//             scaleB)         gfx950 f32x16 mfmaScaled32x32x64<...>(...) a, b:
//             i32x8 (8 bits), i32x6, i32x4 (4 bits) A, B: kFp8 kBf8 kFp6 kBf6
//             kFp4. Select: byte of the 32-bit scale. kScaleOne = 127. Operand
//             layouts, rows of A and of B (given as rows of its transpose), M =
//             16 or 32, l = laneId():
//               row l % M; 4, 8 or (fp8) 8 neighbours of K from (l / M) * 4, 8;
//               scaled: 6, 4 bits: 32 of K from (l / M) * 32; 8 bits: 16 from
//               (l / M) * 16 and 16 from K / 2 + (l / M) * 16. scale of row l %
//               M, block l / M of 32.
//             Result: column (row of B) l % M; register r: row 8 * (r / 4) + 4
//             * (l / 32) + r % 4 (M = 32), 4 * (l / 16) + r.
// Numbers     exp2 log2 rcp rsqrt sqrt fma max min abs (float; one instruction
// each, not IEEE exact)
//             bf16 toBf16(float)  float toFloat(bf16)  uint32_t packBf16(float,
//             float)  f32x2 unpackBf16(uint32_t) uint32_t packFp8(f32x4)  f32x4
//             unpackFp8(uint32_t)  packBf8  unpackBf8: saturating; OCP on
//             gfx950, FNUZ on gfx942 uint32_t packFp4(f32x4 first, f32x4
//             second, float scale)  (values / scale, gfx950) f32x4
//             unpackFp4<Half>(uint32_t, float scale)  four of eight, times
//             scale
// Across      atomicAdd(float*|int*|unsigned*, v)  atomicMax(uint64_t*, v)
// atomicAddBf16(uint32_t *pair, packed)
//   blocks    fenceDevice()      orders memory between workgroups of a device
//   devices   storeRelease(uint32_t *flag, v)  uint32_t loadAcquire(flag)
//   waitForFlag(flag, v): until flag >= v
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
#include "matrix.hip.h"

#define KERNEL(threads, wavesPerSimd)                                          \
  extern "C"                                                                   \
      __attribute__((global, amdgpu_flat_work_group_size(threads, threads),    \
                     amdgpu_waves_per_eu(wavesPerSimd, wavesPerSimd))) void
#define SHARED(type, name, count)                                              \
  __attribute__((shared, aligned(128))) type name[count]
#define DYNAMIC_SHARED(name)                                                   \
  extern __attribute__((shared, aligned(1024))) char name[]

namespace modelc {

DEV int laneId() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
DEV int threadId() { return __builtin_amdgcn_workitem_id_x(); }
DEV int waveId() { return __builtin_amdgcn_readfirstlane(threadId() >> 6); }

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
  static_assert(N >= 0 && N < 16, "lgkmcnt has four bits");
  asm volatile("s_waitcnt lgkmcnt(%0)" ::"n"(N) : "memory");
  __builtin_amdgcn_sched_barrier(0);
}
DEV void scheduleFence() { __builtin_amdgcn_sched_barrier(0); }
template <int Mask, int Count>
DEV void scheduleGroup() {
  __builtin_amdgcn_sched_group_barrier(Mask, Count, 0);
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
template <int Mask>
DEV int shuffleWordXor(int w) {
  constexpr int kMirrorRowHalf = 0x141, kRotateRow8 = 0x128;
  constexpr int kQuad[] = {0xE4, 0xB1, 0x4E, 0x1B}; // l ^ 0, 1, 2, 3 in a quad
  if constexpr (Mask & 32) {
#if MODELC_CHIP >= 950
    auto both = __builtin_amdgcn_permlane32_swap(w, w, false, false);
    w = laneId() & 32 ? both[0] : both[1];
#else
    w = __builtin_amdgcn_ds_bpermute((laneId() ^ 32) * 4, w);
#endif
  }
  if constexpr (Mask & 16) {
#if MODELC_CHIP >= 950
    auto both = __builtin_amdgcn_permlane16_swap(w, w, false, false);
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

#define MODELC_GLOBAL __attribute__((address_space(1)))
#define MODELC_LOCAL __attribute__((address_space(3)))

/// A shared address as the copies want it; never null, which spares a test.
DEV MODELC_LOCAL void *localAddress(const void *shared) {
  __builtin_assume(shared != nullptr);
  return (MODELC_LOCAL void *)shared;
}

template <int Bytes>
DEV void copyToShared(const void *global, void *shared) {
  static_assert(Bytes == 4 || Bytes == kCopyBytes, "no such copy");
  auto from = (MODELC_GLOBAL void *)global;
  auto to = localAddress(shared);
  if constexpr (Bytes == 4) { // the size must be a literal
    __builtin_amdgcn_global_load_lds(from, to, 4, 0, 0);
  }
#if MODELC_CHIP >= 950
  if constexpr (Bytes == 16) {
    __builtin_amdgcn_global_load_lds(from, to, 16, 0, 0);
  }
#endif
}

struct Buffer {
  __amdgpu_buffer_rsrc_t resource;
};
DEV Buffer buffer(const void *global, uint32_t bytes) {
  constexpr int kRawDwords = 0x00020000;
  return {__builtin_amdgcn_make_buffer_rsrc((void *)global, 0, (int)bytes,
                                            kRawDwords)};
}
// Both offsets go where the bounds check sees them: it is not specified for an
// offset in a scalar register that lies beyond the end.
template <int Bytes>
DEV void copyBufferToShared(Buffer from, void *shared, uint32_t laneOffset,
                            uint32_t tileOffset = 0) {
  static_assert(Bytes == 4 || Bytes == kCopyBytes, "no such copy");
  auto to = localAddress(shared);
  int at = (int)(laneOffset + tileOffset);
  if constexpr (Bytes == 4) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(from.resource, to, 4, at, 0, 0, 0);
  }
#if MODELC_CHIP >= 950
  if constexpr (Bytes == 16) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(from.resource, to, 16, at, 0, 0,
                                             0);
  }
#endif
}
template <typename T>
DEV T loadBuffer(Buffer from, uint32_t laneOffset, uint32_t tileOffset = 0) {
  int at = (int)(laneOffset + tileOffset);
  if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_raw_buffer_load_b8(from.resource, at, 0, 0));
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_raw_buffer_load_b16(from.resource, at, 0, 0));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_raw_buffer_load_b32(from.resource, at, 0, 0));
  } else if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_raw_buffer_load_b64(from.resource, at, 0, 0));
  } else {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_raw_buffer_load_b128(from.resource, at, 0, 0));
  }
}
template <typename T>
DEV void storeBuffer(Buffer to, T value, uint32_t laneOffset,
                     uint32_t tileOffset = 0) {
  using u32x4 = uint32_t __attribute__((ext_vector_type(4)));
  int at = (int)(laneOffset + tileOffset);
  if constexpr (sizeof(T) == 1) {
    __builtin_amdgcn_raw_buffer_store_b8(__builtin_bit_cast(uint8_t, value),
                                         to.resource, at, 0, 0);
  } else if constexpr (sizeof(T) == 2) {
    __builtin_amdgcn_raw_buffer_store_b16(__builtin_bit_cast(uint16_t, value),
                                          to.resource, at, 0, 0);
  } else if constexpr (sizeof(T) == 4) {
    __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(uint32_t, value),
                                          to.resource, at, 0, 0);
  } else if constexpr (sizeof(T) == 8) {
    __builtin_amdgcn_raw_buffer_store_b64(__builtin_bit_cast(u32x2, value),
                                          to.resource, at, 0, 0);
  } else {
    __builtin_amdgcn_raw_buffer_store_b128(__builtin_bit_cast(u32x4, value),
                                           to.resource, at, 0, 0);
  }
}

template <typename T>
DEV T loadGlobal(const T *from) {
  return *(const MODELC_GLOBAL T *)from;
}
template <typename T>
DEV void storeGlobal(T *to, T value) {
  *(MODELC_GLOBAL T *)to = value;
}
template <typename T>
DEV T loadNontemporal(const T *from) {
  return __builtin_nontemporal_load((const MODELC_GLOBAL T *)from);
}
template <typename T>
DEV void storeNontemporal(T *to, T value) {
  __builtin_nontemporal_store(value, (MODELC_GLOBAL T *)to);
}
#if MODELC_CHIP >= 950
DEV i32x2 readTransposed16(const void *shared) {
  return __builtin_bit_cast(i32x2, __builtin_amdgcn_ds_read_tr16_b64_v4i16(
                                       (MODELC_LOCAL i16x4 *)shared));
}
#endif

// Buffers are memory of a device, never of the host: the atomics of the memory
// controller may be used.
#define MODELC_IN_DEVICE                                                       \
  [[clang::atomic(no_remote_memory, no_fine_grained_memory,                    \
                  ignore_denormal_mode)]]
template <typename T>
DEV T atomicAdd(T *to, T value) {
  static_assert(sizeof(T) == 4, "float, int or unsigned");
  MODELC_IN_DEVICE {
    return __hip_atomic_fetch_add((MODELC_GLOBAL T *)to, value,
                                  __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
DEV uint64_t atomicMax(uint64_t *to, uint64_t value) {
  MODELC_IN_DEVICE {
    return __hip_atomic_fetch_max((MODELC_GLOBAL uint64_t *)to, value,
                                  __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
DEV void atomicAddBf16(uint32_t *pair, uint32_t packed) {
  using i16x2 = short __attribute__((ext_vector_type(2)));
  __builtin_amdgcn_global_atomic_fadd_v2bf16((MODELC_GLOBAL i16x2 *)pair,
                                             __builtin_bit_cast(i16x2, packed));
}
DEV void fenceDevice() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
DEV void storeRelease(uint32_t *flag, uint32_t value) {
  __hip_atomic_store((MODELC_GLOBAL uint32_t *)flag, value, __ATOMIC_RELEASE,
                     __HIP_MEMORY_SCOPE_SYSTEM);
}
DEV uint32_t loadAcquire(const uint32_t *flag) {
  return __hip_atomic_load((const MODELC_GLOBAL uint32_t *)flag,
                           __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// Counts as sequence numbers: `value` may have wrapped around.
DEV void waitForFlag(const uint32_t *flag, uint32_t value) {
  while ((int)(loadAcquire(flag) - value) < 0) {
    __builtin_amdgcn_s_sleep(1);
  }
}

} // namespace modelc
#endif // MODELC_EMULATOR

#endif // TARGETS_AMD_INSTRUCTIONS_HIP_H
