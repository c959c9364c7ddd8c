// A matrix of four-bit numbers (with MX8, of eight) with a scale for each block
// of 32, of which neighbours differ by up to a factor of 64. Scales lie in
// groups of 256 rows, those of the second of two halves begin a group.
#ifndef TEST_KERNELS_INPUTS_MATRIX4_H
#define TEST_KERNELS_INPUTS_MATRIX4_H

#include "run.h"

using modelc::e8m0x4;
using modelc::f4x2;
#ifdef MX8
using Stored = f8;
constexpr int kTogether = 1;
#else
using Stored = f4x2;
constexpr int kTogether = 2;
#endif

constexpr int kInputs = INPUTS, kWords = (kInputs + 127) / 128, kGroup = 256;

/// A matrix of K numbers a row, as a kernel reads it and in double.
struct Matrix {
  int rows, half; // without halves all rows
  Allocation<Stored> numbers;
  Allocation<e8m0x4> scales;
  std::vector<double> values;

  explicit Matrix(int rows, int halves = 1)
      : rows(rows), half(rows / halves), numbers(rows * kInputs / kTogether),
        scales(halves * groupsOfHalf() * kWords * kGroup),
        values(size_t(rows) * kInputs) {
    for (int row = 0; row < rows; ++row) {
      for (int word = 0; word < kWords; ++word) {
        fillWord(row, word);
      }
    }
  }

private:
  /// A random number, and what it is.
  static double put(f8 &stored, bool) {
    stored = asF8(randomNormal());
    return asDouble(stored);
  }
  static double put(f4x2 &pair, bool isSecond) {
    std::uniform_int_distribution<int> bits(0, 15);
    uint32_t number = bits(generator);
    pair.bits = isSecond ? pair.bits | number << 4 : number;
    return emulator::decode(emulator::kE2M1, number);
  }
  int groupsOfHalf() const { return (half + kGroup - 1) / kGroup; }
  void fillWord(int row, int word) {
    std::uniform_int_distribution<int> power(-6, 0);
    uint32_t packed = 0;
    for (int block = 0; block < 4; ++block) {
      int exponent = power(generator);
      packed |= uint32_t(127 + exponent) << (8 * block);
      for (int i = 0; i < 32; ++i) {
        int k = word * 128 + block * 32 + i;
        if (k >= kInputs) {
          continue;
        }
        double number = put(numbers[(row * kInputs + k) / kTogether], k % 2);
        values[size_t(row) * kInputs + k] = std::ldexp(number, exponent);
      }
    }
    int place = row / half * groupsOfHalf() * kGroup + row % half;
    scales[(place / kGroup * kWords + word) * kGroup + place % kGroup] = {
        packed};
  }
};

#endif // TEST_KERNELS_INPUTS_MATRIX4_H
