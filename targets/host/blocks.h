//===- blocks.h - Numbers whose neighbours share a scale ------------------===//
#ifndef MODELC_HOST_BLOCKS_H
#define MODELC_HOST_BLOCKS_H

#include "cut.h"

namespace modelc_host {

/// Whether the buffer has the dimensions that its source asks for: scales of
/// blocks lie in words, whose order stays within a group of rows.
inline bool fits(const mc_binding &weight, const WeightSource &source) {
  const bool isInWords = source.isBlockScale && !source.group;
  const bool isOfWords =
      weight.type == MC_F8E8M0FNUX4 || weight.type == MC_F8E4M3FNX4;
  const bool isOfSixBits = weight.type == MC_F6E2M3FNX32;
  const bool isOfNumbers =
      weight.type <= MC_F8E4M3FNUZ || weight.type == MC_F4E2M1FNX2;
  if (!(isOfWords || isOfSixBits || isOfNumbers) || isInWords != isOfWords ||
      (isInWords && weight.rank != 3) || (isOfSixBits && weight.rank != 2)) {
    return false;
  }
  for (int i = 0; i < weight.rank; ++i) {
    if (weight.shape[i] < 1) {
      return false;
    }
  }
  if (!isInWords) {
    return true;
  }
  const int64_t perWord = numbersOf(weight.type), rows = weight.shape[2];
  const int64_t together = int64_t(1) << source.packed.size();
  int64_t end = ((rows - 1) / together * together + 1) * perWord;
  for (const int64_t byte : source.packed) {
    end += byte;
  }
  return end <= rows * perWord;
}

/// Of a whole row: the checkpoint's own, or that which makes the largest
/// magnitude 448; 1 for zeros.
inline float rowScaleOf(const mc_tensor &tensor, int64_t begin, int64_t width,
                        int64_t row, const mc_tensor &stored) {
  if (stored.data) {
    const bool isOne = stored.rank == 0 || stored.shape[0] == 1;
    return elementOf(stored, isOne ? 0 : row);
  }
  const float largest = largestOf(tensor, begin, width);
  return largest > 0 ? largest / kLargestE4M3 : 1;
}

/// Rows of blocks of six bits: the first 16 bytes of all blocks, then the last
/// 8 of all. They begin as zeros.
struct SixBitRows {
  char *out;
  int64_t blocks; // of a row

  /// Number `index` of all that rows have room for.
  void put(int64_t index, uint8_t bits) {
    const int64_t block = index / 32 % blocks;
    char *row = out + index / 32 / blocks * blocks * 24;
    const int first = int(index % 32) * 6;
    for (int byte = first / 8; byte <= (first + 5) / 8; ++byte) {
      const int part = bits << 8 >> (8 * byte - first + 8);
      row[byte < 16 ? 16 * block + byte
                    : 16 * blocks + 8 * block + byte - 16] |= char(part);
    }
  }
};

/// What a source says of blocks: those of OCP MXFP4, MXFP6 and MXFP8, of NVFP4.
struct BlockFormat {
  int block;
  int32_t numbers, scale; // mc_type
  int power;              // of two, of the largest number

  explicit BlockFormat(const WeightSource &source)
      : block(int(source.block)),
        numbers(source.numbers == "f4E2M1FN"   ? MC_F4E2M1FNX2
                : source.numbers == "f6E2M3FN" ? MC_F6E2M3FNX32
                                               : MC_F8E4M3FN),
        scale(source.scaled == "f8E4M3FN" ? MC_F8E4M3FN : MC_F8E8M0FNU),
        power(exponentOf(numbers == MC_F8E4M3FN      ? kLargestE4M3
                         : numbers == MC_F6E2M3FNX32 ? kLargestE2M3
                                                     : kLargestE2M1,
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
