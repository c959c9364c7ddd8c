// Products of numbers of four or eight bits whose blocks along K have scales in
// tensor memory, and the copy that brings the scales there. See
// targets/nvidia/tensor.cuh.
#ifndef TARGETS_EMULATOR_NVIDIASCALED_H
#define TARGETS_EMULATOR_NVIDIASCALED_H

#include "nvidiaProduct.h"

namespace emulator::nvidia {

using modelc::ScaleType;

/// One product. `block`: numbers that share a scale.
struct ScaledMma {
  uint32_t d, instruction, scalesOfA, scalesOfB;
  uint64_t a, b;
  bool add;
  int block;
  ScaleType scale;
  bool isEight = false; // numbers of e4m3, else of e2m1
  int workgroups = 1;   // each with its rows of a and d and a part of b

  /// Numbers along K.
  int depth() const { return isEight ? 32 : 64; }
};

/// Its instruction descriptor, taken apart; `rows` of one workgroup.
struct ScaledInstruction {
  int rows, columns, firstOfA, firstOfB;
};

constexpr int kScaledDepth = 64;

inline ScaledInstruction decodeScaled(uint32_t word, const ScaledMma &op) {
  ScaledInstruction shape{(int(word >> 24 & 31) << 4) / op.workgroups,
                          int(word >> 17 & 63) << 3, int(word >> 29 & 3),
                          int(word >> 4 & 3)};
  const uint32_t type = op.isEight ? 0 : 1;
  if ((word >> 7 & 7) != type || (word >> 10 & 3) != type) {
    fail("instruction descriptor 0x%08x: expected operands of %s", word,
         op.isEight ? "e4m3" : "e2m1");
  }
  if (ScaleType(word >> 23 & 1) != op.scale) {
    fail("instruction descriptor 0x%08x: scales of another type than the "
         "instruction takes",
         word);
  }
  if (word & 0x8001'F04F) {
    fail("instruction descriptor 0x%08x: bits that must be zero are not", word);
  }
  if (shape.rows != 128 || shape.columns < 8 || shape.columns > 256) {
    fail("instruction descriptor 0x%08x: no instruction of %d x %d", word,
         shape.rows * op.workgroups, shape.columns);
  }
  const int scales = op.depth() / op.block;
  if (shape.firstOfA % scales || shape.firstOfB % scales) {
    fail("instruction descriptor 0x%08x: %d scales do not begin at %d and %d",
         word, scales, shape.firstOfA, shape.firstOfB);
  }
  return shape;
}

/// The scale of a block of a row, the same in the lanes of all waves.
inline float scaleAt(TensorMemory &tensor, const ScaledMma &op,
                     uint32_t address, int row, int byte) {
  const int column = takenColumn(tensor, address, row / 32 + 1) + row / 32;
  const uint32_t word = tensor.at(row % 32, column);
  for (int wave = 1; wave < 4; ++wave) {
    if (tensor.at(32 * wave + row % 32, column) != word) {
      fail("scales in column %d differ between the lanes of the waves", column);
    }
  }
  const uint32_t bits = word >> 8 * byte & 255;
  if (op.scale == ScaleType::E4M3) {
    return decode(kE4M3, bits & 127);
  }
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN()
                     : std::ldexp(1.0f, int(bits) - 127);
}

/// `count` rows of an operand, into out[row * rowStep + k * depthStep].
inline void readNumbers(Block &block, const ScaledMma &op, uint64_t descriptor,
                        int count, float *out, int rowStep, int depthStep) {
  const SharedOperand operand = decodeBlackwell(descriptor, Major::K, 1);
  for (int row = 0; row < count; ++row) {
    for (int k = 0; k < op.depth(); ++k) {
      const int at = op.isEight ? k : k / 2;
      const uint32_t unit = swizzled(
          operand.address + operand.offset(row, at / 16 * 16), operand.swizzle);
      const char *bytes = sharedBytes(block, unit, 16);
      if (at % 16 == 0) {
        noteRead(bytes, 16);
      }
      const int stored = uint8_t(bytes[at % 16]);
      out[row * rowStep + k * depthStep] =
          op.isEight ? decode(kE4M3, uint32_t(stored))
                     : decode(kE2M1, stored >> k % 2 * 4 & 15);
    }
  }
}

/// Numbers times the scales of their rows, of which the block's tensor memory
/// has those from byte `first` on.
inline void scaleNumbers(Block &block, const ScaledMma &op, uint32_t scales,
                         int first, int count, const float *numbers, float *out,
                         int rowStep, int depthStep) {
  TensorMemory &tensor = stateOf(block).tensor;
  for (int row = 0; row < count; ++row) {
    for (int k = 0; k < op.depth(); ++k) {
      const int at = row * rowStep + k * depthStep;
      out[at] =
          numbers[at] * scaleAt(tensor, op, scales, row, first + k / op.block);
    }
  }
}

/// The rows of one block of those that multiply; `numbers` of b are of all.
inline void multiplyScaled(Block &block, const ScaledMma &op,
                           const ScaledInstruction &shape,
                           const float *numbers) {
  static float a[128 * kScaledDepth], b[kScaledDepth * 256], d[128 * 256];
  TensorMemory &tensor = stateOf(block).tensor;
  const int first = takenColumn(tensor, op.d, shape.columns);
  if (op.d >> 16 != 0 || tensor.workgroups != op.workgroups) {
    fail("a product with scales into lane %u of columns that %d workgroups "
         "took, expected 0 and %d",
         op.d >> 16, tensor.workgroups, op.workgroups);
  }
  readNumbers(block, op, op.a, shape.rows, a, op.depth(), 1);
  scaleNumbers(block, op, op.scalesOfA, shape.firstOfA, shape.rows, a, a,
               op.depth(), 1);
  scaleNumbers(block, op, op.scalesOfB, shape.firstOfB, shape.columns, numbers,
               b, 1, shape.columns);
  for (int i = 0; i < shape.rows * shape.columns; ++i) {
    d[i] = op.add ? std::bit_cast<float>(
                        tensor.at(i / shape.columns, first + i % shape.columns))
                  : 0.0f;
  }
  multiply(d, a, b, shape.rows, shape.columns, op.depth());
  for (int i = 0; i < shape.rows * shape.columns; ++i) {
    tensor.at(i / shape.columns, first + i % shape.columns) =
        std::bit_cast<uint32_t>(d[i]);
  }
}

inline void runScaled(const Together &blocks, const ScaledMma &op) {
  static float numbers[kScaledDepth * 256];
  const ScaledInstruction shape = decodeScaled(op.instruction, op);
  const int part = shape.columns / op.workgroups;
  for (int i = 0; i < op.workgroups; ++i) {
    readNumbers(*blocks[size_t(i)], op, op.b, part, numbers + i * part, 1,
                shape.columns);
  }
  for (int i = 0; i < op.workgroups; ++i) {
    multiplyScaled(*blocks[size_t(i)], op, shape, numbers);
  }
}

inline void issueScaled(const ScaledMma &op) {
  Together blocks = togetherWith(*self().block, op.workgroups);
  later(lateMatrix(), kTensorQueue, "a multiplication into tensor memory",
        [blocks, op] { runScaled(blocks, op); });
}

/// 32 rows of 16 bytes to four columns of the lanes of every wave.
inline void runScales(Block &block, uint32_t d, uint64_t descriptor,
                      int workgroups) {
  constexpr int kRows = 32, kColumns = 4, kBytes = 16;
  TensorMemory &tensor = stateOf(block).tensor;
  const int first = takenColumn(tensor, d, kColumns);
  const SharedOperand from = decodeBlackwell(descriptor, Major::K, 1);
  if (d >> 16 != 0) {
    fail("scales are copied to lane %u, expected 0", d >> 16);
  }
  if (tensor.workgroups != workgroups) {
    fail("a copy of scales by %d workgroups into columns that %d took",
         workgroups, tensor.workgroups);
  }
  for (int row = 0; row < kRows; ++row) {
    const uint32_t at =
        swizzled(from.address + from.offset(row, 0), from.swizzle);
    const char *bytes = sharedBytes(block, at, kBytes);
    noteRead(bytes, kBytes);
    for (int lane = row; lane < kTensorLanes; lane += kRows) {
      std::memcpy(&tensor.at(lane, first), bytes, kBytes);
    }
  }
}

/// In each of the workgroups, from its own shared memory.
inline void issueScales(uint32_t d, uint64_t descriptor, int workgroups) {
  Together blocks = togetherWith(*self().block, workgroups);
  later(lateMatrix(), kTensorQueue, "a copy of scales to tensor memory",
        [blocks, d, descriptor, workgroups] {
          for (int i = 0; i < workgroups; ++i) {
            runScales(*blocks[size_t(i)], d, descriptor, workgroups);
          }
        });
}

} // namespace emulator::nvidia

#endif // TARGETS_EMULATOR_NVIDIASCALED_H
