//===- types.cuh - What the device and the emulator have in common --------===//
#ifndef TARGETS_NVIDIA_TYPES_CUH
#define TARGETS_NVIDIA_TYPES_CUH

#include <stdint.h>

#if defined(__CUDA__) || defined(__CUDACC__)
#define MODELC_EVERYWHERE __attribute__((host)) __attribute__((device)) constexpr
#else
#define MODELC_EVERYWHERE constexpr
#endif

namespace modelc {

constexpr int kWaveSize = 32;

/// A few values that move together, in one instruction where they fill 8 or 16 bytes.
template <class T, int N>
struct alignas(sizeof(T) * N) Few {
  T v[N];
  MODELC_EVERYWHERE T &operator[](int i) { return v[i]; }
  MODELC_EVERYWHERE const T &operator[](int i) const { return v[i]; }
};
using u32x2 = Few<uint32_t, 2>;
using u32x4 = Few<uint32_t, 4>;
using i32x2 = Few<int, 2>;
using i32x4 = Few<int, 4>;
using f32x2 = Few<float, 2>;
using f32x4 = Few<float, 4>;

/// A number of 16 bits, the upper half of a float; toFloat and toBf16 convert.
struct bf16 {
  uint16_t bits;
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

#endif // TARGETS_NVIDIA_TYPES_CUH
