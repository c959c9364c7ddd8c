// A matrix of six-bit numbers (E2M3; with E3M2, those) with a scale for each
// block of 32, of which neighbours differ by up to a factor of 64. A row has
// room for a multiple of 8 blocks: the first 16 bytes of all, then their last
// 8. Scales lie in groups of 256 rows, those of the second of two halves begin
// a group.
#ifndef TEST_KERNELS_INPUTS_MATRIX6_H
#define TEST_KERNELS_INPUTS_MATRIX6_H

#include "run.h"

using modelc::e8m0x4;
using modelc::i64x2;
#ifdef E3M2
constexpr auto kSixBits = emulator::kE3M2;
#else
constexpr auto kSixBits = emulator::kE2M3;
#endif

constexpr int kInputs = INPUTS, kWords = (kInputs + 127) / 128, kGroup = 256;

/// Byte `i` of block `block` of a row of `blocks`: where it lies in the row.
inline int byteOfBlock(int block, int i, int blocks) {
  return i < 16 ? 16 * block + i : 16 * blocks + 8 * block + i - 16;
}

/// The bits of number `i` of a block.
inline uint32_t sixBits(const uint8_t *row, int block, int i, int blocks) {
  uint32_t bits = 0;
  for (int bit = 0; bit < 6; ++bit) {
    int at = 6 * i + bit;
    bits |= (row[byteOfBlock(block, at / 8, blocks)] >> (at % 8) & 1) << bit;
  }
  return bits;
}

/// A matrix of K numbers a row, as a kernel reads it and in double.
struct Matrix {
  static constexpr int kBlocks = (kInputs + 255) / 256 * 8,
                       kRowBytes = 24 * kBlocks;
  int rows, half; // without halves all rows
  Allocation<i64x2> numbers;
  Allocation<e8m0x4> scales;
  std::vector<double> values;

  explicit Matrix(int rows, int halves = 1)
      : rows(rows), half(rows / halves), numbers(rows * kRowBytes / 16),
        scales(halves * groupsOfHalf() * kWords * kGroup),
        values(size_t(rows) * kInputs) {
    for (int row = 0; row < rows; ++row) {
      for (int word = 0; word < kWords; ++word) {
        fillWord(row, word);
      }
    }
  }
  const i64x2 *heads() { return numbers.data(); }
  const int64_t *tails() { return (const int64_t *)numbers.data(); }

private:
  int groupsOfHalf() const { return (half + kGroup - 1) / kGroup; }
  /// A random number, and what it is.
  double put(int row, int k) {
    auto *bytes = (uint8_t *)numbers.data() + size_t(row) * kRowBytes;
    uint32_t number = std::uniform_int_distribution<int>(0, 63)(generator);
    for (int bit = 0; bit < 6; ++bit) {
      int at = 6 * (k % 32) + bit;
      uint8_t &byte = bytes[byteOfBlock(k / 32, at / 8, kBlocks)];
      byte = byte & ~(1 << at % 8) | (number >> bit & 1) << at % 8;
    }
    return emulator::decode(kSixBits, number);
  }
  void fillWord(int row, int word) {
    std::uniform_int_distribution<int> power(-6, 0);
    uint32_t packed = 0;
    for (int block = 0; block < 4; ++block) {
      int exponent = power(generator);
      packed |= uint32_t(127 + exponent) << (8 * block);
      for (int i = 0; i < 32; ++i) {
        int k = word * 128 + block * 32 + i;
        if (k < kInputs) {
          values[size_t(row) * kInputs + k] = std::ldexp(put(row, k), exponent);
        }
      }
    }
    int place = row / half * groupsOfHalf() * kGroup + row % half;
    scales[(place / kGroup * kWords + word) * kGroup + place % kGroup] = {
        packed};
  }
};

#endif // TEST_KERNELS_INPUTS_MATRIX6_H
