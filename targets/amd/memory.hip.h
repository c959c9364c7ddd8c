// Copies, loads, stores and atomics; part of instructions.hip.h, which
// documents them.
#ifndef TARGETS_AMD_MEMORY_HIP_H
#define TARGETS_AMD_MEMORY_HIP_H

#define MODELC_GLOBAL __attribute__((address_space(1)))
#define MODELC_LOCAL __attribute__((address_space(3)))

namespace modelc {

/// A shared address as the copies want it; never null, which spares a test.
DEV MODELC_LOCAL void *localAddress(const void *shared) {
  __builtin_assume(shared != nullptr);
  return (MODELC_LOCAL void *)shared;
}

/// Written as assembly: the compiler (clang 22.1.8) takes these copies for
/// operations on shared memory too, counts them among those and then waits for
/// too few reads. The base goes through m0, the same for all lanes,
/// which the compiler sets anew before each use of its own.
template <int Bytes>
DEV void copyToShared(const void *global, void *shared) {
  static_assert(Bytes == 4 || Bytes == kCopyBytes, "no such copy");
  const int to =
      __builtin_amdgcn_readfirstlane((int)(unsigned long)localAddress(shared));
  if constexpr (Bytes == 4) {
    asm volatile(
        "s_mov_b32 m0, %1\n\ts_nop 0\n\tglobal_load_lds_dword %0, off" ::"v"(
            global),
        "s"(to)
        : "memory");
  } else {
    asm volatile(
        "s_mov_b32 m0, %1\n\ts_nop 0\n\tglobal_load_lds_dwordx4 %0, off" ::"v"(
            global),
        "s"(to)
        : "memory");
  }
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
/// A scalar load: vector loads return in order, behind all copies in flight.
template <typename T>
DEV T loadConstant(const T *from) {
  static_assert(sizeof(T) == 4, "expected 4 bytes");
  return *(const __attribute__((address_space(4))) T *)from;
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
DEV i32x2 readTransposed8(const void *shared) {
  return __builtin_amdgcn_ds_read_tr8_b64_v2i32((MODELC_LOCAL i32x2 *)shared);
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

#endif // TARGETS_AMD_MEMORY_HIP_H
