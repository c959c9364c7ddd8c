// Multiplication from shared memory into tensor memory (tcgen05). See
// targets/nvidia/tensor.cuh for the names and the layouts.
//
// In lazy mode a multiplication runs only when no thread can go on; a load of
// tensor memory reads it at its wait, and its registers hold NaN before.
#ifndef TARGETS_EMULATOR_NVIDIATENSOR_H
#define TARGETS_EMULATOR_NVIDIATENSOR_H

#include "nvidiaCopy.h"
#include "nvidiaOperand.h"

namespace emulator::nvidia {

/// The instruction descriptor, taken apart.
struct TensorInstruction {
  int rows = 0, columns = 0;
  Major majorA = Major::K, majorB = Major::K;
};

inline TensorInstruction decodeInstruction(uint32_t word, int elementBytes) {
  const uint32_t format = elementBytes == 2 ? 1 : 0; // bf16, e4m3
  TensorInstruction op{int(word >> 24 & 31) << 4, int(word >> 17 & 63) << 3,
                       Major(word >> 15 & 1), Major(word >> 16 & 1)};
  if ((word >> 4 & 3) != 1 || (word >> 7 & 7) != format ||
      (word >> 10 & 7) != format) {
    fail("instruction descriptor 0x%08x: expected f32 results of %s operands",
         word, format ? "bf16" : "e4m3");
  }
  if (word & 0xE080'604F) {
    fail("instruction descriptor 0x%08x: bits that must be zero are not", word);
  }
  if ((op.rows != 64 && op.rows != 128) || op.columns < 8 || op.columns > 256 ||
      (op.rows == 128 && op.columns % 16 != 0)) {
    fail("instruction descriptor 0x%08x: no instruction of %d x %d", word,
         op.rows, op.columns);
  }
  if (elementBytes == 1 && (op.majorA != Major::K || op.majorB != Major::K)) {
    fail("instruction descriptor 0x%08x: expected K-major e4m3 operands", word);
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
};

inline void readTensorA(TensorMemory &tensor, const TensorMma &op,
                        const TensorInstruction &shape, float *a) {
  constexpr int kDepth = 16;
  int first = takenColumn(tensor, op.tensorA, kDepth / 2);
  for (int row = 0; row < shape.rows; ++row) {
    for (int k = 0; k < kDepth; ++k) {
      uint32_t word = tensor.at(laneOfRow(shape.rows, row), first + k / 2);
      a[row * kDepth + k] = fromBf16(uint16_t(word >> k % 2 * 16));
    }
  }
}

inline void runTensorMma(Block &block, const TensorMma &op) {
  static float a[128 * 32], b[32 * 256], d[128 * 256];
  TensorMemory &tensor = stateOf(block).tensor;
  const TensorInstruction shape =
      decodeInstruction(op.instruction, op.elementBytes);
  const int depth = 32 / op.elementBytes;
  const int first = takenColumn(tensor, op.d, shape.columns);
  if (op.d >> 16 != 0) {
    fail("an accumulator begins at lane %u, expected 0", op.d >> 16);
  }
  if (op.aInTensor) {
    readTensorA(tensor, op, shape, a);
  } else {
    readOperand(block, decodeBlackwell(op.a, shape.majorA, op.elementBytes), 0,
                shape.rows, depth, a, depth, 1);
  }
  readOperand(block, decodeBlackwell(op.b, shape.majorB, op.elementBytes), 0,
              shape.columns, depth, b, 1, shape.columns);
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

inline void issueTensorMma(const TensorMma &op) {
  Block &block = *self().block;
  stateOf(block);
  later(lateMatrix(), kTensorQueue, "a multiplication into tensor memory",
        [&block, op] { runTensorMma(block, op); });
}

/// Takes columns for the workgroup: the first gap that is wide enough.
inline int takeColumns(TensorMemory &tensor, int columns) {
  if (tensor.relinquished) {
    fail("tensorAlloc after tensorRelinquish");
  }
  int first = 0;
  for (auto [column, count] : tensor.taken) {
    if (column - first >= columns) {
      break;
    }
    first = column + count;
  }
  if (first + columns > kTensorColumns) {
    fail("tensorAlloc of %d columns: not so many are free", columns);
  }
  tensor.taken[first] = columns;
  for (int lane = 0; lane < kTensorLanes; ++lane) {
    std::fill_n(&tensor.at(lane, first), columns, ~0u);
  }
  return first;
}

/// A wave's access to N columns of its 32 lanes: checks the address of all
/// lanes.
inline void checkTensorAccess(uint32_t address, int columns) {
  int expected = waveIndex() % 4 * 32;
  if (int(address >> 16) != expected) {
    fail("wave %d reaches lanes %d to %d of tensor memory, not lane %u",
         waveIndex(), expected, expected + 31, address >> 16);
  }
  takenColumn(blockState().tensor, address, columns);
  if (threadState().tensorFenceDue) {
    fail("tensor memory is accessed after a barrier of matrix operations "
         "without tensorFenceAfter");
  }
}

inline void runTensorLoad(const TensorLoad &load) {
  TensorMemory &tensor = blockState().tensor;
  for (int lane = 0; lane < kWaveSize; ++lane) {
    std::memcpy(
        load.to[lane],
        &tensor.at(int(load.address >> 16) + lane, int(load.address & 0xFFFF)),
        size_t(load.columns) * 4);
  }
}

inline void runTensorStore(const TensorStore &store) {
  TensorMemory &tensor = blockState().tensor;
  for (int lane = 0; lane < kWaveSize; ++lane) {
    std::memcpy(&tensor.at(int(store.address >> 16) + lane,
                           int(store.address & 0xFFFF)),
                &store.values[size_t(lane) * store.columns],
                size_t(store.columns) * 4);
  }
}

/// What one lane brings to a load or store.
struct TensorAccess {
  uint32_t address;
  uint32_t *registers;
};

inline void tensorLoad(uint32_t *r, int columns, uint32_t address) {
  checkTensorAccess(address, columns);
  TensorAccess access{address, r};
  collective<char>("tensorLoad", access, [=](auto in, auto) {
    Unseen unseen;
    TensorLoad load{address, columns, {}};
    for (int lane = 0; lane < kWaveSize; ++lane) {
      if (in[lane].address != address) {
        fail("tensorLoad: addresses differ between lanes of a wave");
      }
      load.to[lane] = in[lane].registers;
      if (lateMatrix()) {
        std::memset(load.to[lane], 0xFF, size_t(columns) * 4);
      }
    }
    if (lateMatrix()) {
      waveState().loads.push_back(load);
    } else {
      runTensorLoad(load);
    }
  });
}

inline void tensorStore(uint32_t address, uint32_t *r, int columns) {
  checkTensorAccess(address, columns);
  TensorAccess access{address, r};
  collective<char>("tensorStore", access, [=](auto in, auto) {
    Unseen unseen;
    TensorStore store{address, columns, {}};
    for (int lane = 0; lane < kWaveSize; ++lane) {
      if (in[lane].address != address) {
        fail("tensorStore: addresses differ between lanes of a wave");
      }
      store.values.insert(store.values.end(), in[lane].registers,
                          in[lane].registers + columns);
    }
    if (lateMatrix()) {
      waveState().stores.push_back(std::move(store));
    } else {
      runTensorStore(store);
    }
  });
}

} // namespace emulator::nvidia

namespace modelc {

template <int Columns>
DEV void tensorAlloc(uint32_t *result) {
  static_assert(Columns >= 32 && Columns <= 512 &&
                    (Columns & (Columns - 1)) == 0,
                "expected a power of two from 32 to 512");
  emulator::sharedOffset(result);
  emulator::collective<char>("tensorAlloc", char(0), [=](auto, auto) {
    auto &tensor = emulator::nvidia::blockState().tensor;
    *result = uint32_t(emulator::nvidia::takeColumns(tensor, Columns));
    emulator::noteWrite(result, sizeof *result);
  });
}
DEV void tensorRelinquish() {
  emulator::collective<char>("tensorRelinquish", char(0), [](auto, auto) {
    emulator::nvidia::blockState().tensor.relinquished = true;
  });
}
template <int Columns>
DEV void tensorFree(uint32_t address) {
  emulator::collective<char>("tensorFree", char(0), [=](auto, auto) {
    auto &taken = emulator::nvidia::blockState().tensor.taken;
    auto found = taken.find(int(address));
    if (found == taken.end() || found->second != Columns) {
      emulator::fail("tensorFree of %d columns at %u, which were not allocated",
                     Columns, address);
    }
    taken.erase(found);
  });
}

DEV void tensorFenceBefore() {}
DEV void tensorFenceAfter() {
  emulator::nvidia::threadState().tensorFenceDue = false;
}

DEV void tensorMmaBf16(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,
                       bool add) {
  emulator::nvidia::issueTensorMma(
      {.d = d, .instruction = instruction, .a = a, .b = b, .add = add});
}
DEV void tensorMmaBf16FromTensor(uint32_t d, uint32_t a, uint64_t b,
                                 uint32_t instruction, bool add) {
  emulator::nvidia::issueTensorMma({.d = d,
                                    .tensorA = a,
                                    .instruction = instruction,
                                    .b = b,
                                    .aInTensor = true,
                                    .add = add});
}
DEV void tensorMmaFp8(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,
                      bool add) {
  emulator::nvidia::issueTensorMma({.d = d,
                                    .instruction = instruction,
                                    .a = a,
                                    .b = b,
                                    .add = add,
                                    .elementBytes = 1});
}
DEV void tensorCommit(Barrier &barrier) {
  emulator::nvidia::later(
      emulator::nvidia::lateMatrix(), emulator::nvidia::kTensorQueue,
      "an arrival after multiplications", [&barrier] {
        emulator::release(&barrier);
        emulator::nvidia::arriveAt(barrier, 0, /*ofMatrix=*/true);
      });
}

template <class T, int N>
DEV void tensorLoad(T (&r)[N], uint32_t address) {
  static_assert(N == 8 || N == 16 || N == 32 || N == 64,
                "expected 8, 16, 32 or 64 columns");
  emulator::nvidia::tensorLoad(reinterpret_cast<uint32_t *>(r), N, address);
}
template <class T, int N>
DEV void tensorStore(uint32_t address, const T (&r)[N]) {
  static_assert(N == 8 || N == 16 || N == 32 || N == 64,
                "expected 8, 16, 32 or 64 columns");
  uint32_t words[N];
  std::memcpy(words, r, sizeof words);
  emulator::nvidia::tensorStore(address, words, N);
}
template <class... Arrays>
DEV void tensorWaitLoads(Arrays &...) {
  emulator::collective<char>("tensorWaitLoads", char(0), [](auto, auto) {
    emulator::Unseen unseen;
    auto &loads = emulator::nvidia::waveState().loads;
    for (const auto &load : loads) {
      emulator::nvidia::runTensorLoad(load);
    }
    loads.clear();
  });
}
DEV void tensorWaitStores() {
  emulator::collective<char>("tensorWaitStores", char(0), [](auto, auto) {
    emulator::Unseen unseen;
    auto &stores = emulator::nvidia::waveState().stores;
    for (const auto &store : stores) {
      emulator::nvidia::runTensorStore(store);
    }
    stores.clear();
  });
}

} // namespace modelc

#endif // TARGETS_EMULATOR_NVIDIATENSOR_H
