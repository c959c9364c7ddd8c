//===- descriptors.cuh - Words that tell a matrix unit where and what -----===//
//
// Pure functions of integers: no instruction, so that the device and the
// emulator share them. Fields after the PTX ISA, sections "Matrix descriptor"
// (wgmma) and "Shared memory descriptor", "Instruction descriptor" (tcgen05).
//
// A shared tile is a grid of core matrices: 8 rows of 16 bytes. `strideBytes`
// leads to the next 8 rows, `leadingBytes` along the contiguous dimension where
// that is longer than the swizzle span.
//
//   K-major, 128-byte swizzle: rows of 128 bytes (64 bf16 or 128 e4m3 along K),
//     stored one after the other. strideBytes = 1024, leadingBytes unused.
//     The next K step adds its bytes (32) to the address.
//   MN-major, 128-byte swizzle (bf16; e4m3 into tensor memory only): rows of
//     128 bytes hold 64 or 128 columns of one k. strideBytes = 1024 (the next 8
//     k), leadingBytes = distance of the next 64 or 128 columns. The next K step
//     of 16 or 32 adds 2048 or 4096 to the address.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_DESCRIPTORS_CUH
#define TARGETS_NVIDIA_DESCRIPTORS_CUH

#include "types.cuh"

namespace modelc {

/// Descriptor of a wgmma operand in shared memory. All arguments in bytes.
MODELC_EVERYWHERE uint64_t sharedDescriptorHopper(uint32_t address, uint32_t strideBytes = 1024,
                                                  uint32_t leadingBytes = 16, Swizzle swizzle = Swizzle::Bytes128) {
  const uint64_t mode = swizzle == Swizzle::Bytes128  ? 1
                        : swizzle == Swizzle::Bytes64 ? 2
                        : swizzle == Swizzle::Bytes32 ? 3
                                                      : 0;
  return uint64_t((address & 0x3FFFF) >> 4) | uint64_t((leadingBytes & 0x3FFFF) >> 4) << 16 |
         uint64_t((strideBytes & 0x3FFFF) >> 4) << 32 | mode << 62;
}

/// Descriptor of a tcgen05 operand in shared memory. All arguments in bytes.
MODELC_EVERYWHERE uint64_t sharedDescriptorBlackwell(uint32_t address, uint32_t strideBytes = 1024,
                                                     uint32_t leadingBytes = 16, Swizzle swizzle = Swizzle::Bytes128) {
  const uint64_t mode = swizzle == Swizzle::Bytes128  ? 2
                        : swizzle == Swizzle::Bytes64 ? 4
                        : swizzle == Swizzle::Bytes32 ? 6
                                                      : 0;
  return uint64_t((address & 0x3FFFF) >> 4) | uint64_t((leadingBytes & 0x3FFFF) >> 4) << 16 |
         uint64_t((strideBytes & 0x3FFFF) >> 4) << 32 | uint64_t(1) << 46 | mode << 61;
}

/// Moves the start of a descriptor of either kind by `bytes` (a multiple of 16);
/// the sum stays inside the 256 KiB that the field can name.
MODELC_EVERYWHERE uint64_t advanceDescriptor(uint64_t descriptor, uint32_t bytes) { return descriptor + (bytes >> 4); }

/// Instruction descriptor of tcgen05.mma kind::f16: bf16 x bf16 -> f32.
/// `rows` 64 or 128 (of a pair of workgroups 128 or 256), `columns` a multiple of 8 (of 16 for 128 rows) up to 256.
MODELC_EVERYWHERE uint32_t tensorInstructionBf16(uint32_t rows, uint32_t columns, Major a = Major::K,
                                                 Major b = Major::K) {
  return 1u << 4 | 1u << 7 | 1u << 10 | uint32_t(a) << 15 | uint32_t(b) << 16 | (columns >> 3) << 17 |
         (rows >> 4) << 24;
}

/// Instruction descriptor of tcgen05.mma kind::f8f6f4: e4m3 x e4m3 -> f32.
MODELC_EVERYWHERE uint32_t tensorInstructionFp8(uint32_t rows, uint32_t columns, Major a = Major::K,
                                                Major b = Major::K) {
  return 1u << 4 | uint32_t(a) << 15 | uint32_t(b) << 16 | (columns >> 3) << 17 | (rows >> 4) << 24;
}

/// Types of the scales of blocks.
enum class ScaleType : uint32_t { E4M3 = 0, E8M0 = 1 };

/// Instruction descriptor of tcgen05.mma kind::mxf4 and kind::mxf4nvf4: e2m1 x e2m1 -> f32, both K-major, 64 along K.
/// `firstScale`: which of the four scales of a word is that of the first block.
MODELC_EVERYWHERE uint32_t tensorInstructionFp4(uint32_t rows, uint32_t columns, ScaleType type, uint32_t firstScale) {
  return firstScale << 4 | 1u << 7 | 1u << 10 | (columns >> 3) << 17 | uint32_t(type) << 23 | (rows >> 4) << 24 |
         firstScale << 29;
}

/// The same of kind::mxf8f6f4 with scales of E8M0: e4m3 x e4m3 -> f32, both K-major, 32 along K.
MODELC_EVERYWHERE uint32_t tensorInstructionMx8(uint32_t rows, uint32_t columns, uint32_t firstScale) {
  return firstScale << 4 | (columns >> 3) << 17 | uint32_t(ScaleType::E8M0) << 23 | (rows >> 4) << 24 |
         firstScale << 29;
}

} // namespace modelc

#endif // TARGETS_NVIDIA_DESCRIPTORS_CUH
