// Products into tensor memory: of one workgroup, or of a pair of a cluster, of
// which each holds its rows of a and of the result and half of the columns of
// b. See targets/nvidia/tensor.cuh.
#ifndef TARGETS_EMULATOR_NVIDIAPRODUCT_H
#define TARGETS_EMULATOR_NVIDIAPRODUCT_H

#include "nvidiaCopy.h"
#include "nvidiaOperand.h"

#include <array>

namespace emulator::nvidia {

/// The instruction descriptor, taken apart; `rows` of one workgroup.
struct TensorInstruction {
  int rows = 0, columns = 0;
  Major majorA = Major::K, majorB = Major::K;
};

inline TensorInstruction decodeInstruction(uint32_t word, int elementBytes,
                                           int workgroups) {
  const uint32_t format = elementBytes == 2 ? 1 : 0; // bf16, e4m3
  TensorInstruction op{(int(word >> 24 & 31) << 4) / workgroups,
                       int(word >> 17 & 63) << 3, Major(word >> 15 & 1),
                       Major(word >> 16 & 1)};
  if ((word >> 4 & 3) != 1 || (word >> 7 & 7) != format ||
      (word >> 10 & 7) != format) {
    fail("instruction descriptor 0x%08x: expected f32 results of %s operands",
         word, format ? "bf16" : "e4m3");
  }
  if (word & 0xE080'604F) {
    fail("instruction descriptor 0x%08x: bits that must be zero are not", word);
  }
  if ((op.rows != 64 && op.rows != 128) || op.columns < 8 || op.columns > 256 ||
      (op.rows == 128 && op.columns % (16 * workgroups) != 0) ||
      (workgroups == 2 && op.rows != 128)) {
    fail("instruction descriptor 0x%08x: no instruction of %d x %d", word,
         op.rows * workgroups, op.columns);
  }
  return op;
}

/// Lane of row `row`: 64 rows use the first half of each wave's 32 lanes.
inline int laneOfRow(int rows, int row) {
  return rows == 128 ? row : row / 16 * 32 + row % 16;
}

/// The first of `columns` columns at an address, which must have been taken.
inline int takenColumn(const TensorMemory &tensor, uint32_t address,
                       int columns) {
  int column = int(address & 0xFFFF);
  auto next = tensor.taken.upper_bound(column);
  if (next == tensor.taken.begin() ||
      std::prev(next)->first + std::prev(next)->second < column + columns) {
    fail("columns %d to %d of tensor memory are not allocated", column,
         column + columns - 1);
  }
  return column;
}

struct TensorMma {
  uint32_t d = 0, tensorA = 0, instruction = 0;
  uint64_t a = 0, b = 0;
  bool aInTensor = false, add = false;
  int elementBytes = 2;
  int workgroups = 1; // each with its rows of a and d and a part of b
};

inline void readTensorA(TensorMemory &tensor, const TensorMma &op,
                        const TensorInstruction &shape, float *a) {
  const int depth = 32 / op.elementBytes, perWord = 4 / op.elementBytes;
  int first = takenColumn(tensor, op.tensorA, depth / perWord);
  for (int row = 0; row < shape.rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      uint32_t word =
          tensor.at(laneOfRow(shape.rows, row), first + k / perWord) >>
          k % perWord * 8 * op.elementBytes;
      a[row * depth + k] = op.elementBytes == 2 ? fromBf16(uint16_t(word))
                                                : fromFp8(uint8_t(word));
    }
  }
}

/// The rows of one block of those that multiply; `b` is of all.
inline void multiplyRows(Block &block, const TensorMma &op,
                         const TensorInstruction &shape, const float *b) {
  static float a[128 * 32], d[128 * 256];
  TensorMemory &tensor = stateOf(block).tensor;
  const int depth = 32 / op.elementBytes;
  const int first = takenColumn(tensor, op.d, shape.columns);
  if (op.d >> 16 != 0) {
    fail("an accumulator begins at lane %u, expected 0", op.d >> 16);
  }
  if (tensor.workgroups != op.workgroups) {
    fail("a product of %d workgroups into columns that %d took", op.workgroups,
         tensor.workgroups);
  }
  if (op.aInTensor) {
    readTensorA(tensor, op, shape, a);
  } else {
    readOperand(block, decodeBlackwell(op.a, shape.majorA, op.elementBytes), 0,
                shape.rows, depth, a, depth, 1);
  }
  auto forEach = [&](auto visit) {
    for (int row = 0; row < shape.rows; ++row) {
      for (int column = 0; column < shape.columns; ++column) {
        visit(d[row * shape.columns + column],
              tensor.at(laneOfRow(shape.rows, row), first + column));
      }
    }
  };
  forEach([&](float &sum, uint32_t word) {
    sum = op.add ? std::bit_cast<float>(word) : 0.0f;
  });
  multiply(d, a, b, shape.rows, shape.columns, depth);
  forEach(
      [&](float sum, uint32_t &word) { word = std::bit_cast<uint32_t>(sum); });
}

/// The block and, of a pair, its neighbour.
using Together = std::array<Block *, 2>;

/// The first one of a pair issues.
inline Together togetherWith(Block &block, int workgroups) {
  auto &blocks = block.cluster->blocks;
  if (block.rank % workgroups || block.rank + workgroups > int(blocks.size())) {
    fail("expected the first of %d workgroups of a cluster, got number %d of "
         "%zu",
         workgroups, block.rank, blocks.size());
  }
  Together together = {};
  for (int i = 0; i < workgroups; ++i) {
    together[size_t(i)] = blocks[size_t(block.rank + i)].get();
    stateOf(*together[size_t(i)]);
  }
  return together;
}

inline void runTensorMma(const Together &blocks, const TensorMma &op) {
  static float b[32 * 256];
  const TensorInstruction shape =
      decodeInstruction(op.instruction, op.elementBytes, op.workgroups);
  const int depth = 32 / op.elementBytes;
  const int part = shape.columns / op.workgroups;
  for (int i = 0; i < op.workgroups; ++i) {
    readOperand(*blocks[size_t(i)],
                decodeBlackwell(op.b, shape.majorB, op.elementBytes), 0, part,
                depth, b + i * part, 1, shape.columns);
  }
  for (int i = 0; i < op.workgroups; ++i) {
    multiplyRows(*blocks[size_t(i)], op, shape, b);
  }
}

inline void issueTensorMma(const TensorMma &op) {
  Together blocks = togetherWith(*self().block, op.workgroups);
  later(lateMatrix(), kTensorQueue, "a multiplication into tensor memory",
        [blocks, op] { runTensorMma(blocks, op); });
}
/// The first operand in tensor memory.
inline void issueFromTensor(uint32_t d, uint32_t a, uint64_t b,
                            uint32_t instruction, bool add, int elementBytes) {
  issueTensorMma({.d = d,
                  .tensorA = a,
                  .instruction = instruction,
                  .b = b,
                  .aInTensor = true,
                  .add = add,
                  .elementBytes = elementBytes});
}
/// Both operands in shared memory.
inline void issueShared(uint32_t d, uint64_t a, uint64_t b,
                        uint32_t instruction, bool add, int elementBytes,
                        int workgroups) {
  issueTensorMma({.d = d,
                  .instruction = instruction,
                  .a = a,
                  .b = b,
                  .add = add,
                  .elementBytes = elementBytes,
                  .workgroups = workgroups});
}

/// Arrives at the barriers of the cluster's blocks whose bits are set, behind
/// all products so far.
inline void commit(Barrier &barrier, unsigned ranks) {
  for (int rank = 0; ranks >> rank != 0; ++rank) {
    if (ranks >> rank & 1) {
      Block *block = self().block->cluster->blocks.at(size_t(rank)).get();
      later(lateMatrix(), kTensorQueue, "an arrival after multiplications",
            [block, &there = barrierOf(barrier, rank)] {
              if (block->alive == 0) {
                fail("products signal block %d of the cluster, which has ended",
                     block->rank);
              }
              release(&there);
              arriveAt(there, 0, /*ofMatrix=*/true);
            });
    }
  }
}

} // namespace emulator::nvidia

#endif // TARGETS_EMULATOR_NVIDIAPRODUCT_H
