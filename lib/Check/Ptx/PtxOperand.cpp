#include "lib/Check/Ptx/PtxOperand.h"
#include "lib/Check/Ptx/Products/PtxBox.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace modelc::ptx;
using check::Format;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

bool modelc::ptx::formatNamed(StringRef name, Format &format) {
  int found = llvm::StringSwitch<int>(name)
                  .Case("bf16", int(Format::Bf16))
                  .Case("f16", int(Format::F16))
                  .Case("e4m3", int(Format::E4M3))
                  .Case("e5m2", int(Format::E5M2))
                  .Default(-1);
  format = Format(std::max(found, 0));
  return found >= 0;
}

/// Bits of the swizzle's code: where they stand and what they mean.
static bool decodeSwizzle(uint64_t descriptor, Generation generation,
                          uint32_t &bytes) {
  constexpr uint32_t kGroup[] = {0, 128, 64, 32};
  if (generation == Generation::Group) {
    bytes = kGroup[descriptor >> 62];
    return true;
  }
  unsigned code = unsigned(descriptor >> 61);
  bytes = code == 2 ? 128 : code == 4 ? 64 : code == 6 ? 32 : 0;
  return code % 2 == 0;
}

bool modelc::ptx::decodeDescriptor(Warp &warp, uint64_t descriptor,
                                   Generation generation, SharedOperand &to) {
  auto bytes = [&](unsigned bit) {
    return uint32_t(descriptor >> bit & 0x3FFF) << 4;
  };
  to.address = ofRank(bytes(0), warp.rank);
  to.leadingBytes = bytes(16);
  to.strideBytes = bytes(32);
  std::string name =
      ("descriptor 0x" + Twine::utohexstr(descriptor) + ": ").str();
  bool isGroup = generation == Generation::Group;
  uint64_t reserved = isGroup ? 0x3FF1'C000'C000'C000 : 0x1FF1'0000'C000'C000;
  if (!decodeSwizzle(descriptor, generation, to.swizzleBytes)) {
    warp.fail(name + "unknown swizzle");
    return false;
  }
  if (!isGroup && (descriptor >> 46 & 3) != 1) {
    warp.fail(name + "expected version 1, got " + Twine(descriptor >> 46 & 3));
    return false;
  }
  if (descriptor & reserved || descriptor >> 49 & 7) {
    warp.fail(name + "bits that must be zero are not");
    return false;
  }
  uint32_t rows = to.swizzleBytes / 16;
  if (rows && (to.address >> 7 & (rows - 1)) != 0) {
    warp.fail(name + "address " + std::to_string(to.address) +
              " is not at the start of a pattern of the swizzle (" +
              std::to_string(rows * 128) + " bytes)");
    return false;
  }
  return true;
}

/// Offset of the 16-byte unit that begins at (row, k), before the swizzle.
static uint32_t offsetOf(const SharedOperand &operand, uint32_t row,
                         uint32_t k) {
  bool byDepth = operand.major == Major::Depth;
  uint32_t span = operand.swizzleBytes ? operand.swizzleBytes : 16;
  uint32_t along = (byDepth ? k : row) * operand.elementBytes;
  uint32_t across = byDepth ? row : k;
  uint32_t inSpan = along % span + across % 8 * span;
  bool exchanged = !operand.swizzleBytes && !byDepth;
  uint32_t alongStep = exchanged ? operand.strideBytes : operand.leadingBytes;
  uint32_t acrossStep = exchanged ? operand.leadingBytes : operand.strideBytes;
  return inSpan + along / span * alongStep + across / 8 * acrossStep;
}

/// Calls visit(address, row, k) for each unit of 16 bytes until one fails.
template <typename Visit>
static bool forUnits(const SharedOperand &operand, unsigned firstRow,
                     unsigned rows, unsigned depth, Visit visit) {
  unsigned perUnit = 16 / operand.elementBytes;
  bool byDepth = operand.major == Major::Depth;
  for (unsigned row = 0; row < rows; row += byDepth ? 1 : perUnit) {
    for (unsigned k = 0; k < depth; k += byDepth ? perUnit : 1) {
      uint32_t address =
          swizzled(operand.address + offsetOf(operand, firstRow + row, k),
                   operand.swizzleBytes);
      if (!visit(address, row, k)) {
        return false;
      }
    }
  }
  return true;
}

SharedOperand modelc::ptx::inWorkgroup(SharedOperand operand, unsigned rank) {
  operand.address = ofRank(operand.address, rank);
  return operand;
}

bool modelc::ptx::touchOperand(Warp &warp, const SharedOperand &operand,
                               unsigned firstRow, unsigned rows, unsigned depth,
                               Stamp stamp) {
  return forUnits(operand, firstRow, rows, depth,
                  [&](uint32_t address, unsigned, unsigned) {
                    return touchShared(warp, address, 16,
                                       {false, true, stamp}) != nullptr;
                  });
}

void modelc::ptx::readOperand(const Block &block, const SharedOperand &operand,
                              unsigned firstRow, unsigned rows, unsigned depth,
                              float *out, unsigned rowStep,
                              unsigned depthStep) {
  const float *values = check::valuesOf(operand.format);
  bool byDepth = operand.major == Major::Depth;
  unsigned step = byDepth ? depthStep : rowStep;
  unsigned perUnit = 16 / operand.elementBytes;
  forUnits(operand, firstRow, rows, depth,
           [&](uint32_t address, unsigned row, unsigned k) {
             const uint8_t *unit = &block.shared[block.placeOf(address)];
             if (operand.format == Format::E2M1) {
               float *to = out + row * rowStep + 2 * k * depthStep;
               for (unsigned i = 0; i < 2 * perUnit; ++i) {
                 to[i * step] = values[unit[i / 2] >> i % 2 * 4 & 15];
               }
               return true;
             }
             float *to = out + row * rowStep + k * depthStep;
             for (unsigned i = 0; i < perUnit; ++i) {
               uint16_t element = unit[i];
               if (operand.elementBytes == 2) {
                 std::memcpy(&element, unit + 2 * i, 2);
               }
               to[i * step] = values[element];
             }
             return true;
           });
}

void modelc::ptx::multiply(float *d, const float *a, const float *b,
                           unsigned rows, unsigned columns, unsigned depth) {
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned k = 0; k < depth; ++k) {
      const float x = a[row * depth + k];
      for (unsigned column = 0; column < columns; ++column) {
        d[row * columns + column] += x * b[k * columns + column];
      }
    }
  }
}

void modelc::ptx::readFragment(Warp &warp, ArrayRef<Operand> registers,
                               Format format, unsigned elementBytes,
                               float *out) {
  const float *values = check::valuesOf(format);
  unsigned perWord = 4 / elementBytes, depth = 8 * perWord;
  uint32_t mask = elementBytes == 1 ? 0xFF : 0xFFFF;
  for (unsigned r = 0; r < 4; ++r) {
    const auto *words = warp.row<uint32_t>(registers[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = lane / 4 + r % 2 * 8, k = (lane % 4 + r / 2 * 4) * perWord;
      for (unsigned i = 0; i < perWord; ++i) {
        out[row * depth + k + i] =
            values[words[lane] >> 8 * elementBytes * i & mask];
      }
    }
  }
}
