//===- thread.cuh - Threads, waves, arithmetic, atomics -------------------===//
//
// Included by instructions.cuh, whose head lists the names.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_THREAD_CUH
#define TARGETS_NVIDIA_THREAD_CUH

#include "types.cuh"

#if defined(__clang__) && !defined(__CUDA_RUNTIME_H__)
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __forceinline__ inline __attribute__((always_inline))
#endif

#define DEV static __device__ __forceinline__
#define KERNEL(threads, blocksPerUnit) extern "C" __global__ void __launch_bounds__(threads, blocksPerUnit)
#define CLUSTER(workgroups) __cluster_dims__(workgroups, 1, 1)
#define GRID_CONSTANT const __grid_constant__
#define SHARED(type, name, count) __shared__ __attribute__((aligned(128))) type name[count]
#define DYNAMIC_SHARED(name) extern __shared__ __attribute__((aligned(1024))) char name[]

namespace modelc {

DEV uint32_t asBits(float value) { return __builtin_bit_cast(uint32_t, value); }
DEV float asFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Index of the thread in its workgroup.
DEV int threadId() {
#if defined(__clang__)
  return __nvvm_read_ptx_sreg_tid_x();
#else
  return threadIdx.x;
#endif
}
/// Index of the thread in its wave, 0 to 31.
DEV int laneId() { return threadId() % kWaveSize; }

/// Index of the wave in its workgroup; lanes that run apart may ask for it.
DEV int waveId() { return int(unsigned(threadId()) / kWaveSize); }
/// The same as a value that the compiler knows to be uniform. All lanes of the wave ask together: it is a shuffle.
DEV int uniformWaveId() {
#if defined(__clang__)
  return __nvvm_shfl_sync_idx_i32(~0u, waveId(), 0, kWaveSize - 1);
#else
  return __shfl_sync(~0u, waveId(), 0);
#endif
}

template <int Axis = 0>
DEV int workgroupId() {
  int id;
  if constexpr (Axis == 0) {
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(id));
  } else if constexpr (Axis == 1) {
    asm("mov.u32 %0, %%ctaid.y;" : "=r"(id));
  } else {
    asm("mov.u32 %0, %%ctaid.z;" : "=r"(id));
  }
  return id;
}
template <int Axis = 0>
DEV int workgroupCount() {
  int count;
  if constexpr (Axis == 0) {
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(count));
  } else if constexpr (Axis == 1) {
    asm("mov.u32 %0, %%nctaid.y;" : "=r"(count));
  } else {
    asm("mov.u32 %0, %%nctaid.z;" : "=r"(count));
  }
  return count;
}
/// Index of the workgroup in its cluster.
DEV int clusterRank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of the workgroup meet; their writes to memory are visible after.
DEV void sync() { asm volatile("bar.sync 0;" ::: "memory"); }
/// `Threads` threads (whole waves) meet at barrier `Id`, 1 to 15.
template <int Id, int Threads>
DEV void syncGroup() {
  static_assert(Id >= 1 && Id <= 15 && Threads % kWaveSize == 0, "expected barrier 1 to 15 and whole waves");
  asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory");
}
/// The threads of the wave meet.
DEV void syncWave() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
/// All threads of the cluster meet.
DEV void syncCluster() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
/// True in one thread of a converged wave, always the same one.
DEV bool elect() {
  uint32_t elected;
  asm volatile("{.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;}" : "=r"(elected));
  return elected != 0;
}

DEV uint32_t shuffleWord(uint32_t word, int lane) {
  uint32_t result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(word), "r"(lane));
  return result;
}
DEV uint32_t shuffleXorWord(uint32_t word, int mask) {
  uint32_t result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(word), "r"(mask));
  return result;
}
/// The value that `lane` of the wave holds.
template <class T>
DEV T shuffle(T value, int lane) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, shuffleWord(__builtin_bit_cast(uint32_t, value), lane));
  } else {
    const u32x2 words = __builtin_bit_cast(u32x2, value);
    return __builtin_bit_cast(T, u32x2{shuffleWord(words[0], lane), shuffleWord(words[1], lane)});
  }
}
/// The value that the lane whose index differs by the bits of `mask` holds.
template <class T>
DEV T shuffleXor(T value, int mask) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, shuffleXorWord(__builtin_bit_cast(uint32_t, value), mask));
  } else {
    const u32x2 words = __builtin_bit_cast(u32x2, value);
    return __builtin_bit_cast(T, u32x2{shuffleXorWord(words[0], mask), shuffleXorWord(words[1], mask)});
  }
}

template <int Mask, class T>
DEV T shuffleXor(T value) {
  return shuffleXor(value, Mask);
}
/// The value of lane 0, known to be the same in all lanes.
template <class T>
DEV T readFirstLane(T value) {
  return shuffle(value, 0);
}
/// Says that the value is the same in all lanes (the emulator checks it).
template <class T>
DEV T uniform(T value) {
  return readFirstLane(value);
}
/// Whether it holds in some lane: the same in all of them.
DEV bool anyLane(bool holds) {
  uint32_t any;
  asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync.any.pred p, p, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, p;}"
               : "=r"(any)
               : "r"(uint32_t(holds)));
  return any != 0;
}

#define MODELC_UNARY(name, instruction)                                                                                \
  DEV float name(float x) {                                                                                            \
    float y;                                                                                                           \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x));                                                                    \
    return y;                                                                                                          \
  }
MODELC_UNARY(exp2, "ex2.approx.ftz.f32")
MODELC_UNARY(log2, "lg2.approx.ftz.f32")
MODELC_UNARY(rcp, "rcp.approx.ftz.f32")
MODELC_UNARY(rsqrt, "rsqrt.approx.ftz.f32")
MODELC_UNARY(sqrt, "sqrt.rn.f32")
MODELC_UNARY(tanh, "tanh.approx.f32")
#undef MODELC_UNARY
DEV float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

/// The sum, rounded down.
DEV float addDown(float x, float y) {
  float sum;
  asm("add.rm.f32 %0, %1, %2;" : "=f"(sum) : "f"(x), "f"(y));
  return sum;
}
/// The larger one; not a number where one of them is none.
DEV float maxOrNaN(float x, float y) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
  return larger;
}

DEV float max(float x, float y) { return __builtin_fmaxf(x, y); }
DEV float min(float x, float y) { return __builtin_fminf(x, y); }
DEV float abs(float x) { return __builtin_fabsf(x); }
DEV int max(int x, int y) { return x > y ? x : y; }
DEV int min(int x, int y) { return x < y ? x : y; }

/// Two floats rounded to bf16, to nearest even; `first` in bits 0 to 15.
DEV uint32_t packBf16(float first, float second) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
DEV f32x2 unpackBf16(uint32_t word) { return {asFloat(word << 16), asFloat(word & 0xFFFF0000u)}; }
DEV bf16 toBf16(float value) { return {uint16_t(packBf16(value, 0.0f))}; }
DEV float toFloat(bf16 value) { return asFloat(uint32_t(value.bits) << 16); }

/// Two floats rounded to e4m3, saturated at 448; `first` in bits 0 to 7.
DEV uint16_t packFp8(float first, float second) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  return pair;
}
DEV uint32_t packFp8(f32x4 values) {
  return packFp8(values[0], values[1]) | uint32_t(packFp8(values[2], values[3])) << 16;
}
/// Two numbers of e2m1, the first in the lower half of a byte; saturates.
DEV uint8_t packFp4(float first, float second) {
  uint32_t pair;
  asm("{.reg .b8 p;\n\tcvt.rn.satfinite.e2m1x2.f32 p, %1, %2;\n\tcvt.u32.u8 %0, p;}"
      : "=r"(pair)
      : "f"(second), "f"(first));
  return uint8_t(pair);
}
DEV float halfToFloat(uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
DEV f32x2 unpackFp8(uint16_t pair) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  return {halfToFloat(uint16_t(halves)), halfToFloat(uint16_t(halves >> 16))};
}
DEV f32x4 unpackFp8(uint32_t word) {
  const f32x2 low = unpackFp8(uint16_t(word)), high = unpackFp8(uint16_t(word >> 16));
  return {low[0], low[1], high[0], high[1]};
}

/// Adds to global memory; returns the value before.
DEV float atomicAdd(float *p, float value) {
  float before;
  asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(before) : "l"(p), "f"(value) : "memory");
  return before;
}
DEV int atomicAdd(int *p, int value) {
  int before;
  asm volatile("atom.global.add.s32 %0, [%1], %2;" : "=r"(before) : "l"(p), "r"(value) : "memory");
  return before;
}
DEV unsigned atomicAdd(unsigned *p, unsigned value) { return unsigned(atomicAdd((int *)p, int(value))); }
DEV uint64_t atomicMax(uint64_t *p, uint64_t value) {
  uint64_t before;
  asm volatile("atom.global.max.u64 %0, [%1], %2;" : "=l"(before) : "l"(p), "l"(value) : "memory");
  return before;
}
/// Adds two packed bf16 to two in global memory.
DEV void atomicAddBf16(uint32_t *pair, uint32_t packed) {
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(pair), "r"(packed) : "memory");
}
/// Orders global memory between the workgroups of the device.
DEV void fenceDevice() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// Publishes a flag to the whole system: earlier writes are visible with it.
DEV void storeRelease(uint32_t *flag, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
/// Reads a flag that a peer may publish: later reads see what came before it.
DEV uint32_t loadAcquire(const uint32_t *flag) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

/// Waits until `flag` has reached `value`; counts are sequence numbers, which may wrap around.
DEV void waitForFlag(const uint32_t *flag, uint32_t value) {
  while (int(loadAcquire(flag) - value) < 0) {
  }
}

template <class T>
DEV T loadGlobal(const T *p) {
  return *p;
}
template <class T>
DEV void storeGlobal(T *p, T value) {
  *p = value;
}
/// Reads 4, 8 or 16 bytes of global memory that nobody writes, once.
template <class T>
DEV T loadNontemporal(const T *p) {
  if constexpr (sizeof(T) == 4) {
    uint32_t r;
    asm volatile("ld.global.L1::no_allocate.b32 %0, [%1];" : "=r"(r) : "l"(p));
    return __builtin_bit_cast(T, r);
  } else if constexpr (sizeof(T) == 8) {
    u32x2 r;
    asm volatile("ld.global.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(r.v[0]), "=r"(r.v[1]) : "l"(p));
    return __builtin_bit_cast(T, r);
  } else {
    static_assert(sizeof(T) == 16, "expected 4, 8 or 16 bytes");
    u32x4 r;
    asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r.v[0]), "=r"(r.v[1]), "=r"(r.v[2]), "=r"(r.v[3])
                 : "l"(p));
    return __builtin_bit_cast(T, r);
  }
}
/// Writes 4, 8 or 16 bytes of global memory that is not read soon.
template <class T>
DEV void storeNontemporal(T *p, T value) {
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(p), "r"(__builtin_bit_cast(uint32_t, value)) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    const u32x2 r = __builtin_bit_cast(u32x2, value);
    asm volatile("st.global.cs.v2.b32 [%0], {%1, %2};" ::"l"(p), "r"(r.v[0]), "r"(r.v[1]) : "memory");
  } else {
    static_assert(sizeof(T) == 16, "expected 4, 8 or 16 bytes");
    const u32x4 r = __builtin_bit_cast(u32x4, value);
    asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(r.v[0]), "r"(r.v[1]), "r"(r.v[2]),
                 "r"(r.v[3])
                 : "memory");
  }
}

/// The address in the shared window that a generic pointer names: a conversion that the compiler folds.
DEV uint32_t sharedAddress(const void *p) {
#if defined(__clang__)
  return uint32_t(uintptr_t((__attribute__((address_space(3))) const char *)(const char *)p));
#else
  return uint32_t(__cvta_generic_to_shared(p));
#endif
}

/// Waits until the kernel before this one in the stream has finished and its writes are visible.
DEV void waitPreviousKernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// Lets the next kernel of the stream start its prologue.
DEV void launchNextKernel() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Changes the registers of each thread of the wave group; a multiple of 8 from 24 to 256.
template <int Registers>
DEV void raiseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
DEV void lowerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

} // namespace modelc

#endif // TARGETS_NVIDIA_THREAD_CUH
