// Multiplication from shared memory into tensor memory (tcgen05). See
// targets/nvidia/tensor.cuh for the names and the layouts.
//
// In lazy mode a multiplication runs only when no thread can go on; a load of
// tensor memory reads it at its wait, and its registers hold NaN before.
#ifndef TARGETS_EMULATOR_NVIDIATENSOR_H
#define TARGETS_EMULATOR_NVIDIATENSOR_H

#include "nvidiaProduct.h"
#include "nvidiaScaled.h"

namespace emulator::nvidia {

/// Takes columns for the workgroup: the first gap that is wide enough.
inline int takeColumns(TensorMemory &tensor, int columns, int workgroups) {
  if (tensor.relinquished) {
    fail("tensorAlloc after tensorRelinquish");
  }
  tensor.workgroups = workgroups;
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

template <int Columns, int Workgroups = 1>
DEV void tensorAlloc(uint32_t *result) {
  static_assert(Columns >= 32 && Columns <= 512 &&
                    (Columns & (Columns - 1)) == 0,
                "expected a power of two from 32 to 512");
  emulator::sharedOffset(result);
  emulator::collective<char>("tensorAlloc", char(0), [=](auto, auto) {
    auto &tensor = emulator::nvidia::blockState().tensor;
    *result =
        uint32_t(emulator::nvidia::takeColumns(tensor, Columns, Workgroups));
    emulator::noteWrite(result, sizeof *result);
  });
}
DEV void tensorRelinquish() {
  emulator::collective<char>("tensorRelinquish", char(0), [](auto, auto) {
    emulator::nvidia::blockState().tensor.relinquished = true;
  });
}
template <int Columns, int Workgroups = 1>
DEV void tensorFree(uint32_t address) {
  emulator::collective<char>("tensorFree", char(0), [=](auto, auto) {
    auto &tensor = emulator::nvidia::blockState().tensor;
    auto &taken = tensor.taken;
    if (tensor.workgroups != Workgroups) {
      emulator::fail("tensorFree by %d workgroups of what %d took", Workgroups,
                     tensor.workgroups);
    }
    auto found = taken.find(int(address));
    if (found == taken.end() || found->second != Columns) {
      emulator::fail("tensorFree of %d columns at %u, which were not allocated",
                     Columns, address);
    }
    taken.erase(found);
  });
}

template <int Columns>
DEV void tensorAllocOfPair(uint32_t *result) {
  tensorAlloc<Columns, 2>(result);
}
DEV void tensorRelinquishOfPair() { tensorRelinquish(); }
template <int Columns>
DEV void tensorFreeOfPair(uint32_t address) {
  tensorFree<Columns, 2>(address);
}

DEV void tensorFenceBefore() {}
DEV void tensorFenceAfter() {
  emulator::nvidia::threadState().tensorFenceDue = false;
}

DEV void tensorMmaBf16(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,
                       bool add) {
  emulator::nvidia::issueShared(d, a, b, instruction, add, 2, 1);
}
DEV void tensorMmaBf16FromTensor(uint32_t d, uint32_t a, uint64_t b,
                                 uint32_t instruction, bool add) {
  emulator::nvidia::issueFromTensor(d, a, b, instruction, add, 2);
}
DEV void tensorMmaFp8FromTensor(uint32_t d, uint32_t a, uint64_t b,
                                uint32_t instruction, bool add) {
  emulator::nvidia::issueFromTensor(d, a, b, instruction, add, 1);
}
DEV void tensorMmaFp8(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,
                      bool add) {
  emulator::nvidia::issueShared(d, a, b, instruction, add, 1, 1);
}
DEV void tensorMmaBf16OfPair(uint32_t d, uint64_t a, uint64_t b,
                             uint32_t instruction, bool add) {
  emulator::nvidia::issueShared(d, a, b, instruction, add, 2, 2);
}
DEV void tensorMmaFp8OfPair(uint32_t d, uint64_t a, uint64_t b,
                            uint32_t instruction, bool add) {
  emulator::nvidia::issueShared(d, a, b, instruction, add, 1, 2);
}
template <int Workgroups>
DEV void tensorMmaScaled(uint32_t d, uint64_t a, uint64_t b,
                         uint32_t instruction, uint32_t scalesOfA,
                         uint32_t scalesOfB, bool add, int block,
                         ScaleType type, bool isEight = false) {
  emulator::nvidia::issueScaled({d, instruction, scalesOfA, scalesOfB, a, b,
                                 add, block, type, isEight, Workgroups});
}
#define MODELC_TENSOR_MMA_SCALED(name, workgroups, ...)                        \
  DEV void name(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,      \
                uint32_t scalesOfA, uint32_t scalesOfB, bool add) {            \
    tensorMmaScaled<workgroups>(d, a, b, instruction, scalesOfA, scalesOfB,    \
                                add, __VA_ARGS__);                             \
  }
MODELC_TENSOR_MMA_SCALED(tensorMmaNvf4, 1, 16, ScaleType::E4M3)
MODELC_TENSOR_MMA_SCALED(tensorMmaMxf4, 1, 32, ScaleType::E8M0)
MODELC_TENSOR_MMA_SCALED(tensorMmaMx8, 1, 32, ScaleType::E8M0, true)
MODELC_TENSOR_MMA_SCALED(tensorMmaNvf4OfPair, 2, 16, ScaleType::E4M3)
MODELC_TENSOR_MMA_SCALED(tensorMmaMxf4OfPair, 2, 32, ScaleType::E8M0)
MODELC_TENSOR_MMA_SCALED(tensorMmaMx8OfPair, 2, 32, ScaleType::E8M0, true)
#undef MODELC_TENSOR_MMA_SCALED
DEV void tensorCopyScales(uint32_t d, uint64_t from) {
  emulator::nvidia::issueScales(d, from, 1);
}
DEV void tensorCopyScalesOfPair(uint32_t d, uint64_t from) {
  emulator::nvidia::issueScales(d, from, 2);
}
DEV void tensorCommit(Barrier &barrier) {
  emulator::nvidia::commit(barrier, 1u << emulator::self().block->rank);
}
DEV void tensorCommitOfPair(Barrier &barrier, int ranks) {
  emulator::nvidia::commit(barrier, unsigned(ranks));
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
