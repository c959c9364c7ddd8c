//===- types.cuh - What the device and the emulator have in common --------===//
#ifndef MODELC_TARGETS_NVIDIA_TYPES_CUH
#define MODELC_TARGETS_NVIDIA_TYPES_CUH

#include <stdint.h>

#if defined(__CUDA__) || defined(__CUDACC__)
#define MODELC_EVERYWHERE __attribute__((host)) __attribute__((device)) constexpr
#else
#define MODELC_EVERYWHERE constexpr
#endif

namespace modelc {

constexpr int kWaveSize = 32;

/// Lets an array type stand before the name of a variable.
template <class T>
struct Same {
  using Type = T;
};

/// Words that move together, in one instruction.
struct alignas(8) u32x2 {
  uint32_t v[2];
  MODELC_EVERYWHERE uint32_t &operator[](int i) { return v[i]; }
  MODELC_EVERYWHERE uint32_t operator[](int i) const { return v[i]; }
};
struct alignas(16) u32x4 {
  uint32_t v[4];
  MODELC_EVERYWHERE uint32_t &operator[](int i) { return v[i]; }
  MODELC_EVERYWHERE uint32_t operator[](int i) const { return v[i]; }
};

/// A barrier in shared memory: counts arrivals and bytes, then flips its phase.
struct alignas(8) Barrier {
  uint64_t word;
};

/// Opaque: how a global tensor is cut into boxes (cuTensorMapEncodeTiled).
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

/// How 16-byte units are permuted inside rows of shared memory: unit index
/// (address bits 4 and up) xor row index (address bits 7 and up), on absolute
/// addresses. The value is the span in bytes.
enum class Swizzle : uint32_t { None = 0, Bytes32 = 32, Bytes64 = 64, Bytes128 = 128 };

/// Which dimension of an operand is contiguous in shared memory.
enum class Major : uint32_t { K = 0, MN = 1 };

} // namespace modelc

#endif // MODELC_TARGETS_NVIDIA_TYPES_CUH
