// A matrix of four-bit numbers with a scale for each block of 32, of which
// neighbours differ by up to a factor of 64. Scales lie in groups of 256 rows,
// those of the second of two halves begin a group.
#ifndef TEST_KERNELS_INPUTS_MATRIX4_H
#define TEST_KERNELS_INPUTS_MATRIX4_H

#include "run.h"

using modelc::e8m0x4;
using modelc::f4x2;

constexpr int kInputs = 448, kWords = (kInputs + 127) / 128, kGroup = 256;

/// A matrix of K numbers a row, as a kernel reads it and in double.
struct Matrix {
  int rows, half; // without halves all rows
  Allocation<f4x2> numbers;
  Allocation<e8m0x4> scales;
  std::vector<double> values;

  explicit Matrix(int rows, int halves = 1)
      : rows(rows), half(rows / halves), numbers(rows * kInputs / 2),
        scales(halves * groupsOfHalf() * kWords * kGroup),
        values(size_t(rows) * kInputs) {
    for (int row = 0; row < rows; ++row) {
      for (int word = 0; word < kWords; ++word) {
        fillWord(row, word);
      }
    }
  }

private:
  int groupsOfHalf() const { return (half + kGroup - 1) / kGroup; }
  void fillWord(int row, int word) {
    std::uniform_int_distribution<int> power(-6, 0), bits(0, 15);
    uint32_t packed = 0;
    for (int block = 0; block < 4; ++block) {
      int exponent = power(generator);
      packed |= uint32_t(127 + exponent) << (8 * block);
      for (int i = 0; i < 32; ++i) {
        int k = word * 128 + block * 32 + i;
        if (k >= kInputs) {
          continue;
        }
        uint32_t number = bits(generator);
        f4x2 &pair = numbers[(row * kInputs + k) / 2];
        pair.bits = k % 2 ? pair.bits | number << 4 : number;
        values[size_t(row) * kInputs + k] =
            std::ldexp(emulator::decode(emulator::kE2M1, number), exponent);
      }
    }
    int place = row / half * groupsOfHalf() * kGroup + row % half;
    scales[(place / kGroup * kWords + word) * kGroup + place % kGroup] = {
        packed};
  }
};

#endif // TEST_KERNELS_INPUTS_MATRIX4_H
