// Numbers of four bits (with MX8, of eight) with a scale for each BLOCK of
// them, in words that lie as they are copied to tensor memory, or, with WRONG,
// in the order of rows. Neighbouring scales differ by up to a factor of 64.
#ifndef TEST_KERNELS_INPUTS_MATRIXSCALED_H
#define TEST_KERNELS_INPUTS_MATRIXSCALED_H

#include "run.h"

using modelc::TensorMap;

#ifndef WRONG
#define WRONG 0
#endif

constexpr int kColumns = 264, kInputs = INPUTS, kRows = 300;
constexpr int kWordNumbers = 4 * BLOCK;
constexpr int kWords = (kInputs + kWordNumbers - 1) / kWordNumbers;
constexpr int kGroup = 256;
#ifdef MX8
constexpr int kTogether = 1;
#else
constexpr int kTogether = 2;
#endif

/// Byte of a scale: PTX ISA, scale factors of tcgen05.mma, a block of 128 rows.
int scaleByte(int row, int block) {
  int inBlock = WRONG ? row % 128 * 4 : row % 32 * 16 + row % 128 / 32 * 4;
  int of128 = (row / kGroup * kWords + block / 4) * 2 + row / 128 % 2;
  return of128 * 512 + inBlock + block % 4;
}

/// A scale as the buffer holds it and in double.
struct Scale {
  uint8_t bits;
  double value;
};
Scale randomScale() {
  if (BLOCK == 32) {
    int exponent = std::uniform_int_distribution<int>(-6, 0)(generator);
    return {uint8_t(127 + exponent), std::ldexp(1, exponent)};
  }
  uint8_t bits = uint8_t(std::uniform_int_distribution<int>(4, 60)(generator));
  return {bits, emulator::decode(emulator::kE4M3, bits)};
}

/// A matrix of K numbers a row, as boxes fetch it and in double.
struct Matrix {
  int rows, half, groups; // without halves all rows
  Allocation<uint8_t> pairs, scales;
  std::vector<double> values;

  explicit Matrix(int rows, int halves = 1)
      : rows(rows), half(rows / halves),
        groups(halves * ((half + kGroup - 1) / kGroup)),
        pairs(rows * kInputs / kTogether), scales(groups * kWords * kGroup * 4),
        values(size_t(rows) * kInputs) {
    std::fill(scales.begin(), scales.end(), 0);
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < kInputs; k += BLOCK) {
        fillBlock(row, k);
      }
    }
  }

  TensorMap numbersMap(uint32_t boxRows) {
    const uint64_t sizes[] = {kInputs / kTogether, uint64_t(rows)};
    const uint64_t strides[] = {kInputs / kTogether};
    const uint32_t box[] = {TILE_K / kTogether, boxRows}, ones[] = {1, 1};
    const int swizzle = TILE_K / kTogether == 64 ? 2 : 3;
    return mapOf(0, 2, pairs.data(), sizes, strides, box, ones, swizzle);
  }
  TensorMap scalesMap(uint32_t boxRows) {
    const uint64_t sizes[] = {kGroup, kWords, uint64_t(groups)};
    const uint64_t strides[] = {kGroup * 4, kGroup * 4 * kWords};
    const uint32_t box[] = {boxRows, TILE_K / kWordNumbers, 1},
                   ones[] = {1, 1, 1};
    return mapOf(2, 3, scales.data(), sizes, strides, box, ones, 0);
  }

private:
  void fillBlock(int row, int first) {
    Scale scale = randomScale();
    int place = row < half ? row : groups / 2 * kGroup + row - half;
    scales[scaleByte(place, first / BLOCK)] = scale.bits;
    for (int k = first; k < first + BLOCK; ++k) {
      uint8_t &stored = pairs[(row * kInputs + k) / kTogether];
      values[size_t(row) * kInputs + k] = put(stored, k % 2) * scale.value;
    }
  }
  /// A random number, and what it is.
  static double put(uint8_t &stored, bool isSecond) {
    if (kTogether == 1) {
      f8 number = asF8(randomNormal());
      stored = number.bits;
      return asDouble(number);
    }
    int number = std::uniform_int_distribution<int>(0, 15)(generator);
    stored = uint8_t(isSecond ? stored | number << 4 : number);
    return emulator::decode(emulator::kE2M1, uint32_t(number));
  }
  static TensorMap mapOf(int type, int rank, void *base, const uint64_t *sizes,
                         const uint64_t *strides, const uint32_t *box,
                         const uint32_t *ones, int swizzle) {
    TensorMap map;
    if (emulator::nvidia::encodeTensorMap(&map, type, uint32_t(rank), base,
                                          sizes, strides, box, ones, 0, swizzle,
                                          2, 0)) {
      std::exit(4);
    }
    return map;
  }
};

/// The sum of a row of each, and that of its magnitudes.
struct Sum {
  double exact = 0, magnitude = 1e-3;

  Sum(const Matrix &a, int row, const Matrix &w, int column, double scale) {
    for (int k = 0; k < kInputs; ++k) {
      double term = scale * a.values[size_t(row) * kInputs + k] *
                    w.values[size_t(column) * kInputs + k];
      exact += term;
      magnitude += std::fabs(term);
    }
  }
};

#endif // TEST_KERNELS_INPUTS_MATRIXSCALED_H
