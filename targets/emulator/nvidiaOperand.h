// Operands of matrix instructions in shared memory: descriptors are taken apart
// field by field and every address is computed and swizzled as the hardware
// does, so that a wrong descriptor gives a wrong result or an error.
#ifndef TARGETS_EMULATOR_NVIDIAOPERAND_H
#define TARGETS_EMULATOR_NVIDIAOPERAND_H

#include "nvidiaState.h"

namespace emulator::nvidia {

/// A shared operand: core matrices of 8 rows x 16 bytes.
struct SharedOperand {
  uint32_t address = 0, leadingBytes = 0, strideBytes = 0;
  Swizzle swizzle = Swizzle::None;
  Major major = Major::K;
  int elementBytes = 2;

  /// Offset of the 16-byte unit that begins at (row along M or N, k), before
  /// the swizzle. K-major: k is a multiple of the elements of a unit; MN-major:
  /// row.
  uint32_t offset(int row, int k) const {
    uint32_t span = swizzle == Swizzle::None ? 16 : uint32_t(swizzle);
    uint32_t along = uint32_t(major == Major::K ? k : row) * elementBytes;
    uint32_t across = uint32_t(major == Major::K ? row : k);
    uint32_t inSpan = along % span + across % 8 * span;
    if (swizzle == Swizzle::None && major == Major::MN) {
      return inSpan + along / span * strideBytes + across / 8 * leadingBytes;
    }
    return inSpan + along / span * leadingBytes + across / 8 * strideBytes;
  }

  void check(uint64_t descriptor, uint64_t reserved,
             unsigned baseOffset) const {
    if (descriptor & reserved) {
      fail("descriptor 0x%016llx: bits that must be zero are not",
           static_cast<unsigned long long>(descriptor));
    }
    if (baseOffset != 0) {
      fail("descriptor 0x%016llx: expected base offset 0",
           static_cast<unsigned long long>(descriptor));
    }
    uint32_t rows = uint32_t(swizzle) / 16;
    if (rows && (address >> 7 & (rows - 1)) != 0) {
      fail("descriptor 0x%016llx: address %u is not at the start of a pattern "
           "of "
           "the swizzle (%u bytes)",
           static_cast<unsigned long long>(descriptor), address, rows * 128);
    }
  }
};

inline SharedOperand fieldsOf(uint64_t descriptor, Major major,
                              int elementBytes) {
  auto bytes = [&](int bit) {
    return uint32_t(descriptor >> bit & 0x3FFF) << 4;
  };
  SharedOperand operand;
  operand.address = bytes(0);
  operand.leadingBytes = bytes(16);
  operand.strideBytes = bytes(32);
  operand.major = major;
  operand.elementBytes = elementBytes;
  return operand;
}

/// PTX ISA, "Matrix descriptor": swizzle mode in bits 62 and 63.
inline SharedOperand decodeHopper(uint64_t descriptor, Major major,
                                  int elementBytes) {
  constexpr Swizzle modes[] = {Swizzle::None, Swizzle::Bytes128,
                               Swizzle::Bytes64, Swizzle::Bytes32};
  SharedOperand operand = fieldsOf(descriptor, major, elementBytes);
  operand.swizzle = modes[descriptor >> 62];
  operand.check(descriptor, 0x3FF1'C000'C000'C000, descriptor >> 49 & 7);
  return operand;
}

/// PTX ISA, "Shared memory descriptor" of tcgen05: version 1 in bits 46 and 47,
/// swizzle mode in bits 61 to 63.
inline SharedOperand decodeBlackwell(uint64_t descriptor, Major major,
                                     int elementBytes) {
  SharedOperand operand = fieldsOf(descriptor, major, elementBytes);
  switch (descriptor >> 61) {
  case 0:
    operand.swizzle = Swizzle::None;
    break;
  case 2:
    operand.swizzle = Swizzle::Bytes128;
    break;
  case 4:
    operand.swizzle = Swizzle::Bytes64;
    break;
  case 6:
    operand.swizzle = Swizzle::Bytes32;
    break;
  default:
    fail("descriptor 0x%016llx: swizzle mode %d is unknown",
         static_cast<unsigned long long>(descriptor), int(descriptor >> 61));
  }
  if ((descriptor >> 46 & 3) != 1) {
    fail("descriptor 0x%016llx: expected version 1, got %d",
         static_cast<unsigned long long>(descriptor),
         int(descriptor >> 46 & 3));
  }
  operand.check(descriptor, 0x1FF1'0000'C000'C000, descriptor >> 49 & 7);
  return operand;
}

/// Element `i` of a 16-byte unit.
inline float elementOf(const void *unit, int i, int elementBytes) {
  if (elementBytes == 1) {
    return fromFp8(static_cast<const uint8_t *>(unit)[i]);
  }
  return fromBf16(static_cast<const uint16_t *>(unit)[i]);
}

/// Reads elements (firstRow + r, k) into out[r * rowStep + k * depthStep].
inline void readOperand(const Block &block, const SharedOperand &operand,
                        int firstRow, int rows, int depth, float *out,
                        int rowStep, int depthStep) {
  const int perUnit = 16 / operand.elementBytes;
  const bool alongK = operand.major == Major::K;
  const int rowUnit = alongK ? 1 : perUnit, depthUnit = alongK ? perUnit : 1;
  for (int row = 0; row < rows; row += rowUnit) {
    for (int k = 0; k < depth; k += depthUnit) {
      uint32_t address = swizzled(
          operand.address + operand.offset(firstRow + row, k), operand.swizzle);
      const char *unit = sharedBytes(block, address, 16);
      noteRead(unit, 16);
      float *to = out + row * rowStep + k * depthStep;
      for (int i = 0; i < perUnit; ++i) {
        to[i * (alongK ? depthStep : rowStep)] =
            elementOf(unit, i, operand.elementBytes);
      }
    }
  }
}

/// d[rows, columns] += a[rows, depth] b[depth, columns], all row-major, sums in
/// the order of k.
inline void multiply(float *d, const float *a, const float *b, int rows,
                     int columns, int depth) {
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const float x = a[row * depth + k];
      for (int column = 0; column < columns; ++column) {
        d[row * columns + column] += x * b[k * columns + column];
      }
    }
  }
}

} // namespace emulator::nvidia

#endif // TARGETS_EMULATOR_NVIDIAOPERAND_H
