// Random operands of two formats, their product in double precision, and where
// a swizzled tile keeps its elements. Written apart from the emulator.
#ifndef TEST_EMULATORNVIDIA_CHECK_H
#define TEST_EMULATORNVIDIA_CHECK_H

#include "instructions.cuh"

#include <random>

inline int failures = 0;

/// rows x columns numbers of 16 or 8 bits, row-major.
struct Matrix {
  int rows, columns, elementBytes;
  emulator::Allocation<uint8_t> bytes;

  Matrix(int rows, int columns, int elementBytes)
      : rows(rows), columns(columns), elementBytes(elementBytes), bytes(size_t(rows) * columns * elementBytes) {
    static std::mt19937 random(11);
    for (uint8_t &byte : bytes) {
      byte = uint8_t(random());
    }
    for (int i = 0; i < rows * columns; ++i) { // exponents near 0, no NaN
      if (elementBytes == 2) {
        uint16_t &x = reinterpret_cast<uint16_t *>(bytes.data())[i];
        x = uint16_t((x & 0x80FF) | (0x3E80 + (x & 0x300)));
      } else if ((bytes[i] & 0x7F) == 0x7F) {
        bytes[i] ^= 1;
      }
    }
  }

  const char *unit(int row, int column) const {
    return const_cast<Matrix *>(this)->pointer() + (row * columns + column) * elementBytes;
  }
  uint32_t word(int row, int column) const {
    uint32_t value;
    std::memcpy(&value, unit(row, column), 4);
    return value;
  }
  char *pointer() { return reinterpret_cast<char *>(bytes.data()); }

  double at(int row, int column) const {
    const char *p = unit(row, column);
    if (elementBytes == 2) {
      uint32_t bits = uint32_t(*reinterpret_cast<const uint16_t *>(p)) << 16;
      return double(std::bit_cast<float>(bits));
    }
    int x = *reinterpret_cast<const uint8_t *>(p), exponent = x >> 3 & 15;
    double magnitude = exponent ? std::ldexp(1 + (x & 7) / 8.0, exponent - 7) : std::ldexp((x & 7) / 8.0, -6);
    return x & 0x80 ? -magnitude : magnitude;
  }
};

/// Says whether d = start + a b^T; a and b have K columns each.
inline void check(const std::string &what, const Matrix &a, const Matrix &b, emulator::Allocation<float> &d,
                  double start) {
  double worst = 0;
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.rows; ++j) {
      double sum = start, size = std::fabs(start);
      for (int k = 0; k < a.columns; ++k) {
        sum += a.at(i, k) * b.at(j, k);
        size += std::fabs(a.at(i, k) * b.at(j, k));
      }
      double error = std::fabs(double(d[size_t(i) * b.rows + j]) - sum) / size;
      worst = std::max(worst, error == error ? error : 1e9);
    }
  }
  bool right = worst < 1e-6;
  failures += !right;
  std::printf("%s: %s\n", what.c_str(), right ? "right" : "wrong");
}

inline void expect(const char *what, bool right) {
  failures += !right;
  std::printf("%s: %s\n", what, right ? "right" : "wrong");
}

/// Byte of a tile of rows of 128 bytes, swizzled: units of 16 bytes, xor row % 8.
inline int swizzledByte(int row, int byte) { return row * 128 + (byte / 16 ^ row % 8) * 16 + byte % 16; }

/// All threads write a matrix of rows of 128 bytes (K-major) to a shared tile.
inline void placeKMajor(char *tile, const Matrix &x) {
  const int unitsPerRow = x.columns * x.elementBytes / 16;
  for (int i = modelc::threadId(); i < x.rows * unitsPerRow; i += int(emulator::self().block->threads.size())) {
    const int row = i / unitsPerRow, byte = i % unitsPerRow * 16;
    std::memcpy(tile + swizzledByte(row, byte), x.unit(row, byte / x.elementBytes), 16);
  }
}

/// The same transposed (MN-major): blocks of 64 columns of the transpose, each one
/// row of 128 bytes for every k; x.columns is K.
inline void placeMnMajor(char *tile, const Matrix &x) {
  for (int i = modelc::threadId(); i < x.rows * x.columns; i += int(emulator::self().block->threads.size())) {
    const int row = i / x.columns, k = i % x.columns;
    const int span = 128 / x.elementBytes;
    char *block = tile + row / span * x.columns * 128;
    std::memcpy(block + swizzledByte(k, row % span * x.elementBytes), x.unit(row, k), size_t(x.elementBytes));
  }
}

inline void runBlock(const char *name, unsigned threads, std::function<void()> body) {
  static emulator::Device device{.waveSize = 32, .sharedBytes = 227 << 10};
  emulator::launchBody(device, {.kernel = name, .grid = {1}, .block = {threads}, .sharedBytes = 160 << 10}, body);
  emulator::synchronize();
}

#endif // TEST_EMULATORNVIDIA_CHECK_H
