// What a block has beside threads and shared memory: matrix operations in
// flight for each wave, box stores in flight for each thread, tensor memory.
#ifndef TARGETS_EMULATOR_NVIDIASTATE_H
#define TARGETS_EMULATOR_NVIDIASTATE_H

#include "emulator.h"
#include "numbers.h"

#include "nvidia/descriptors.cuh"

#include <bit>
#include <map>
#include <optional>

namespace emulator::nvidia {

using modelc::Major;
using modelc::Swizzle;

/// Queues of deferred actions; the lower one goes first, so that a copy is as
/// late as it can be.
constexpr int kTensorQueue = 0, kCopyQueue = 1;
constexpr int kWaveSize = modelc::kWaveSize;
constexpr int kTensorLanes = 128, kTensorColumns = 512;

/// EMULATOR_MATRIX=lazy|eager: matrix operations read shared memory and write
/// their result when their wait demands it, or at once; if not set, as copies.
inline std::optional<bool> matrixIsLate = [] {
  const char *text = std::getenv("EMULATOR_MATRIX");
  return text ? std::optional(std::strcmp(text, "eager") != 0) : std::nullopt;
}();

inline bool lateMatrix() { return matrixIsLate.value_or(state.options.lazy); }

/// One wgmma of a wave: 16 rows of the group's 64.
struct Wgmma {
  int columns = 0, depth = 0, elementBytes = 0;
  uint64_t a = 0, b = 0; // descriptors
  Major majorA = Major::K, majorB = Major::K;
  bool add = false;
  int firstRow = 0;
  uint32_t group = 0;
  float *d[kWaveSize] = {};
  const uint32_t *registersA[kWaveSize] = {}; // null: A is in shared memory
};

/// tensorLoad of a wave that has not been waited for.
struct TensorLoad {
  uint32_t address = 0;
  int columns = 0;
  void *to[kWaveSize] = {};
};

/// tensorStore of a wave: values by lane, then column.
struct TensorStore {
  uint32_t address = 0;
  int columns = 0;
  std::vector<uint32_t> values;
};

struct WaveState {
  std::deque<Wgmma> wgmmas;
  uint32_t group = 0;  // of those not yet committed
  size_t issued = 0;   // wgmmas so far
  bool fenced = false; // since the last wait
  /// Accumulators in flight, 16 rows of columns, by the address that lane 0
  /// uses.
  std::map<const void *, std::vector<float>> accumulators;
  std::vector<TensorLoad> loads;
  std::vector<TensorStore> stores;
};

/// A box on its way from shared to global memory.
struct BoxStore {
  uint32_t group = 0;
  std::function<void()> run;
};

struct ThreadState {
  std::deque<BoxStore> stores;
  uint32_t storeGroup = 0;
  /// A barrier said that matrix operations are done; a fence must follow.
  bool tensorFenceDue = false;
};

/// 128 lanes x 512 columns of 32 bits.
struct TensorMemory {
  std::vector<uint32_t> words =
      std::vector<uint32_t>(kTensorLanes * kTensorColumns, ~0u);
  std::map<int, int> taken; // first column -> columns
  int workgroups = 1;       // that took them together
  bool relinquished = false;

  uint32_t &at(int lane, int column) {
    return words[size_t(lane) * kTensorColumns + column];
  }
};

struct BlockState {
  explicit BlockState(const Block &block)
      : block(block), waves(block.waves.size()), threads(block.threads.size()),
        issued((block.waves.size() + 3) / 4) {}
  ~BlockState();

  const Block &block;
  std::vector<WaveState> waves;
  std::vector<ThreadState> threads;
  /// For each group of four waves, what its wgmmas were: all must agree.
  std::vector<std::vector<uint64_t>> issued;
  TensorMemory tensor;
};

/// Nothing may be left when a block ends.
inline BlockState::~BlockState() {
  const char *left = nullptr;
  for (size_t i = 0; i < waves.size(); ++i) {
    const WaveState &wave = waves[i];
    if (!wave.wgmmas.empty()) {
      left = "a wgmma was not waited for";
    } else if (!wave.loads.empty() || !wave.stores.empty()) {
      left = "a load or store of tensor memory was not waited for";
    } else if (wave.issued != issued[i / 4].size()) {
      left = "not all four waves of a group took part in a wgmma";
    }
  }
  for (const ThreadState &thread : threads) {
    if (!thread.stores.empty()) {
      left = "a box store was not waited for";
    }
  }
  if (!tensor.taken.empty()) {
    left = "tensor memory was not freed";
  }
  if (left) {
    fail("kernel '%s', block (%u, %u, %u) ends, but %s",
         block.launch->shape.kernel.c_str(), block.index.x, block.index.y,
         block.index.z, left);
  }
}

/// The state of a block, made when first asked for.
inline BlockState &stateOf(Block &block) {
  if (!block.extension) {
    Unseen unseen;
    block.extension = std::make_shared<BlockState>(block);
  }
  return *static_cast<BlockState *>(block.extension.get());
}
inline BlockState &blockState() { return stateOf(*self().block); }
inline ThreadState &threadState() { return blockState().threads[self().id]; }
inline int waveIndex() { return self().id / kWaveSize; }
inline WaveState &waveState() { return blockState().waves[waveIndex()]; }

/// Does `action` now, or when no thread can go on; in both cases after what
/// this thread has done so far.
inline void later(bool late, int queue, const char *what,
                  std::function<void()> action) {
  if (!late) {
    action();
    return;
  }
  Block &block = *self().block;
  release(&block.deferred[queue]);
  Unseen unseen;
  block.deferred[queue].push_back({what, [&block, queue, action] {
                                     acquire(&block.deferred[queue]);
                                     action();
                                   }});
}

/// Numbers of 8 bits are e4m3; the instructions saturate.
inline float fromFp8(uint8_t bits) { return kValues<kE4M3>.of[bits]; }
inline uint8_t toFp8(float value) {
  return uint8_t(encode(kE4M3, value, Overflow::Saturate));
}

/// Subnormal results become zero, as .ftz says.
inline float flush(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, value)
             : value;
}

/// The bytes at an address of the shared window, which must lie inside a
/// block's memory.
inline char *sharedBytes(const Block &block, uint32_t address, uint32_t bytes) {
  if (size_t(address) + bytes > block.arenaBytes) {
    fail("the shared address %u is outside of the block's memory", address);
  }
  return block.arena + address;
}

/// Swizzle as the hardware does it, on the bits of the address.
inline uint32_t swizzled(uint32_t address, Swizzle swizzle) {
  uint32_t rows = uint32_t(swizzle) / 16; // units of a span: 0, 2, 4, 8
  return rows ? address ^ ((address >> 7 & (rows - 1)) << 4) : address;
}

} // namespace emulator::nvidia

#endif // TARGETS_EMULATOR_NVIDIASTATE_H
