//===- blocks.h - Numbers whose neighbours share a scale ------------------===//
#ifndef MODELC_HOST_BLOCKS_H
#define MODELC_HOST_BLOCKS_H

#include "cut.h"

namespace modelc_host {

/// What a source says of blocks: those of OCP MXFP4 and MXFP8, of NVFP4.
struct BlockFormat {
  int block;
  int32_t numbers, scale; // mc_type
  int power;              // of two, of the largest number

  explicit BlockFormat(const WeightSource &source)
      : block(int(source.block)),
        numbers(source.numbers == "f4E2M1FN" ? MC_F4E2M1FNX2 : MC_F8E4M3FN),
        scale(source.scaled == "f8E4M3FN" ? MC_F8E4M3FN : MC_F8E8M0FNU),
        power(exponentOf(numbers == MC_F8E4M3FN ? kLargestE4M3 : kLargestE2M1,
                         0)) {}

  /// That of the block at `begin`: the power of two below the largest
  /// magnitude, over that of the largest number; or that magnitude over 6 and
  /// over the scale of the tensor, rounded.
  float scaleOf(const mc_tensor &tensor, int64_t begin,
                float tensorScale) const {
    const float largest = largestOf(tensor, begin, block);
    if (scale == MC_F8E4M3FN) {
      return fromE4M3(toE4M3(largest / kLargestE2M1 / tensorScale));
    }
    const int exponent = exponentOf(largest, kSmallestScale + power);
    return std::ldexp(1.0f, exponent - power);
  }
};

} // namespace modelc_host

#endif // MODELC_HOST_BLOCKS_H
