// What scaledBlackwell.bugs puts in the place of words of the prelude: products
// whose instruction descriptors and copies of scales whose descriptors are wrong.
#ifndef TEST_EMULATORNVIDIA_INPUTS_SCALEDBUGS_H
#define TEST_EMULATORNVIDIA_INPUTS_SCALEDBUGS_H

#include "nvidia/tiles.cuh"

namespace modelc {

/// The descriptor names scales of another type than the instruction takes.
struct OtherScaleType : Tcgen05Mxf4 {
  MODELC_EVERYWHERE static uint32_t instruction(int rows, int columns, int firstScale) {
    return tensorInstructionFp4(rows, columns, ScaleType::E4M3, firstScale);
  }
};

/// Products with other bits of the instruction descriptor.
template <uint32_t Clear, uint32_t Set>
struct OtherDescriptor : Tcgen05Mxf4 {
  TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t scalesOfA,
                                   uint32_t scalesOfB, bool add) {
    tensorMmaMxf4(d, a, b, (instruction & ~Clear) | Set, scalesOfA, scalesOfB, add);
  }
};
/// The number of the first scale, of a and of b: 0 in the second half of a word
/// too, or one at which no two scales begin.
using FirstHalfOfA = OtherDescriptor<3u << 29, 0>;
using FirstHalfOfB = OtherDescriptor<3u << 4, 0>;
using OddScales = OtherDescriptor<0, 1u << 29>;
/// Numbers of another type; half as many columns.
using OtherNumbers = OtherDescriptor<7u << 7, 0>;
using HalfColumns = OtherDescriptor<63u << 17, 8u << 17>;

/// The instruction of scales of 16 numbers in the place of that of 32.
struct OtherInstruction : Tcgen05Mxf4 {
  TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t scalesOfA,
                                   uint32_t scalesOfB, bool add) {
    tensorMmaNvf4(d, a, b, instruction, scalesOfA, scalesOfB, add);
  }
};

/// Words of scales with another distance of eight rows, or as if swizzled, by
/// the one thread that runs the loop.
template <uint32_t Stride, Swizzle Order, int Words, int Rows, class S>
TILE void copyOtherScales(ScalesPlace<Words, Rows> to, Place<S> from) {
  tensorFenceAfter();
  repeat<Words>([&](auto word) INLINE {
    tensorCopyScales(to.at(word.value, 0),
                     sharedDescriptorBlackwell(sharedAddress(from.at + S::at(rows(word.value))), Stride, 16, Order));
  });
}

} // namespace modelc

#endif // TEST_EMULATORNVIDIA_INPUTS_SCALEDBUGS_H
