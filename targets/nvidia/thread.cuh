//===- thread.cuh - Threads, waves, arithmetic, atomics -------------------===//
//
// Included by instructions.cuh, whose head lists the names.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_NVIDIA_THREAD_CUH
#define MODELC_TARGETS_NVIDIA_THREAD_CUH

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

#define DEVICE static __device__ __forceinline__
#define KERNEL(threads, blocksPerUnit) extern "C" __global__ void __launch_bounds__(threads, blocksPerUnit)
#define CLUSTER(workgroups) __cluster_dims__(workgroups, 1, 1)
#define GRID_CONSTANT const __grid_constant__
#define SHARED(type, name) __shared__ __attribute__((aligned(128))) ::modelc::Same<type>::Type name
#define DYNAMIC_SHARED(name) extern __shared__ __attribute__((aligned(1024))) char name[]

namespace modelc {

DEVICE uint32_t asBits(float value) { return __builtin_bit_cast(uint32_t, value); }
DEVICE float asFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Index of the thread in its workgroup.
DEVICE int threadId() {
#if defined(__clang__)
  return __nvvm_read_ptx_sreg_tid_x();
#else
  return threadIdx.x;
#endif
}
/// Index of the thread in its wave, 0 to 31.
DEVICE int laneId() { return threadId() % kWaveSize; }

template <class T>
DEVICE T shuffle(T value, int lane);

/// Index of the wave in its workgroup, known to be uniform.
DEVICE int waveId() { return shuffle(threadId() / kWaveSize, 0); }

template <int Axis = 0>
DEVICE int workgroupId() {
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
DEVICE int workgroupCount() {
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
DEVICE int clusterRank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of the workgroup meet; their writes to memory are visible after.
DEVICE void sync() { asm volatile("bar.sync 0;" ::: "memory"); }
/// `Threads` threads (whole waves) meet at barrier `Id`, 1 to 15.
template <int Id, int Threads>
DEVICE void syncGroup() {
  static_assert(Id >= 1 && Id <= 15 && Threads % kWaveSize == 0, "expected barrier 1 to 15 and whole waves");
  asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory");
}
/// The threads of the wave meet.
DEVICE void syncWave() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
/// All threads of the cluster meet.
DEVICE void syncCluster() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
/// True in one thread of a converged wave, always the same one.
DEVICE bool elect() {
  uint32_t elected;
  asm volatile("{.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;}" : "=r"(elected));
  return elected != 0;
}

DEVICE uint32_t shuffleWord(uint32_t word, int lane) {
  uint32_t result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(word), "r"(lane));
  return result;
}
DEVICE uint32_t shuffleXorWord(uint32_t word, int mask) {
  uint32_t result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(word), "r"(mask));
  return result;
}
/// The value that `lane` of the wave holds.
template <class T>
DEVICE T shuffle(T value, int lane) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, shuffleWord(__builtin_bit_cast(uint32_t, value), lane));
  } else {
    const u32x2 words = __builtin_bit_cast(u32x2, value);
    return __builtin_bit_cast(T, u32x2{shuffleWord(words[0], lane), shuffleWord(words[1], lane)});
  }
}
/// The value that the lane whose index differs by the bits of `mask` holds.
template <class T>
DEVICE T shuffleXor(T value, int mask) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, shuffleXorWord(__builtin_bit_cast(uint32_t, value), mask));
  } else {
    const u32x2 words = __builtin_bit_cast(u32x2, value);
    return __builtin_bit_cast(T, u32x2{shuffleXorWord(words[0], mask), shuffleXorWord(words[1], mask)});
  }
}

#define MODELC_UNARY(name, instruction)                                                                                \
  DEVICE float name(float x) {                                                                                         \
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
DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

/// Two floats rounded to bf16, to nearest even; `low` in bits 0 to 15.
DEVICE uint32_t packBf16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
DEVICE float bf16Low(uint32_t word) { return asFloat(word << 16); }
DEVICE float bf16High(uint32_t word) { return asFloat(word & 0xFFFF0000u); }

/// Two floats rounded to e4m3, saturated at 448; `low` in bits 0 to 7.
DEVICE uint16_t packE4m3(float low, float high) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
DEVICE float halfToFloat(uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
DEVICE uint32_t e4m3ToHalves(uint16_t pair) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  return halves;
}
DEVICE float e4m3Low(uint16_t pair) { return halfToFloat(uint16_t(e4m3ToHalves(pair))); }
DEVICE float e4m3High(uint16_t pair) { return halfToFloat(uint16_t(e4m3ToHalves(pair) >> 16)); }

/// Adds to global memory; returns the value before.
DEVICE float addAtomic(float *p, float value) {
  float before;
  asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(before) : "l"(p), "f"(value) : "memory");
  return before;
}
DEVICE int addAtomic(int *p, int value) {
  int before;
  asm volatile("atom.global.add.s32 %0, [%1], %2;" : "=r"(before) : "l"(p), "r"(value) : "memory");
  return before;
}
DEVICE uint64_t maxAtomic(uint64_t *p, uint64_t value) {
  uint64_t before;
  asm volatile("atom.global.max.u64 %0, [%1], %2;" : "=l"(before) : "l"(p), "l"(value) : "memory");
  return before;
}
/// Publishes a flag to the whole system: earlier writes are visible with it.
DEVICE void storeRelease(uint32_t *flag, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
/// Reads a flag that a peer may publish: later reads see what came before it.
DEVICE uint32_t loadAcquire(const uint32_t *flag) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

/// Reads 4, 8 or 16 bytes of global memory that nobody writes, once.
template <class T>
DEVICE T loadStreaming(const T *p) {
  if constexpr (sizeof(T) == 4) {
    uint32_t r;
    asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(r) : "l"(p));
    return __builtin_bit_cast(T, r);
  } else if constexpr (sizeof(T) == 8) {
    u32x2 r;
    asm volatile("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(r.v[0]), "=r"(r.v[1]) : "l"(p));
    return __builtin_bit_cast(T, r);
  } else {
    static_assert(sizeof(T) == 16, "expected 4, 8 or 16 bytes");
    u32x4 r;
    asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r.v[0]), "=r"(r.v[1]), "=r"(r.v[2]), "=r"(r.v[3])
                 : "l"(p));
    return __builtin_bit_cast(T, r);
  }
}
/// Writes 4, 8 or 16 bytes of global memory that is not read soon.
template <class T>
DEVICE void storeStreaming(T *p, T value) {
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

/// The address in the shared window that a generic pointer names.
DEVICE uint32_t sharedAddress(const void *p) {
  uint32_t address;
  asm("{.reg .u64 a;\n\tcvta.to.shared.u64 a, %1;\n\tcvt.u32.u64 %0, a;}" : "=r"(address) : "l"(p));
  return address;
}

/// Waits until the kernel before this one in the stream has finished and its writes are visible.
DEVICE void waitPreviousKernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// Lets the next kernel of the stream start its prologue.
DEVICE void launchNextKernel() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Changes the registers of each thread of the wave group; a multiple of 8 from 24 to 256.
template <int Registers>
DEVICE void raiseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
DEVICE void lowerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

} // namespace modelc

#endif // MODELC_TARGETS_NVIDIA_THREAD_CUH
