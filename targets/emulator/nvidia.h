// The names of targets/nvidia/instructions.cuh on the emulator. Compile a
// kernel with -DMODELC_EMULATOR as C++20 for the CPU: it includes this file
// instead.
//
//   emulator::Device device{.waveSize = 32, .sharedBytes = 227 << 10};
//   modelc::TensorMap map;
//   emulator::nvidia::encodeTensorMap(&map, ...);    as cuTensorMapEncodeTiled
//   emulator::run(device, {.kernel = "k", .grid = {8}, .block = {128},
//                          .sharedBytes = 98304}, k, map, x.data(), n);
//
// Beside EMULATOR_COPIES=lazy|eager (boxes, bulk copies, 16-byte copies) there
// is EMULATOR_MATRIX=lazy|eager (wgmma, tcgen05, loads of tensor memory).
// Copies at once and matrices late find operands that are overwritten too
// early; the opposite finds operands that are read too early.
//
// Not modelled: proxy fences, memory orders, tensor memory shared between the
// blocks of a unit, register counts.
#ifndef TARGETS_EMULATOR_NVIDIA_H
#define TARGETS_EMULATOR_NVIDIA_H

#include "emulator.h"

#include "nvidiaNumbers.h"
#include "targets/nvidia/descriptors.cuh"

#include <atomic>
#include <bit>
#include <type_traits>

#define DEVICE [[maybe_unused]] static inline __attribute__((always_inline))
#define KERNEL(threads, blocksPerUnit) extern "C" void
#define CLUSTER(workgroups)
#define GRID_CONSTANT const
#define SHARED(type, name)                                                     \
  static char name##IsShared;                                                  \
  auto &name = *reinterpret_cast<::modelc::Same<type>::Type *>(                \
      ::emulator::sharedObject(&name##IsShared,                                \
                               sizeof(::modelc::Same<type>::Type)))
#define DYNAMIC_SHARED(name) char *const name = ::emulator::dynamicShared()

namespace modelc {

DEVICE uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }
DEVICE float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

DEVICE int threadId() { return emulator::self().id; }
DEVICE int laneId() { return emulator::self().lane; }
DEVICE int waveId() { return emulator::self().id / kWaveSize; }
DEVICE unsigned alongAxis(const emulator::Dim3 &size, int axis) {
  return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}
template <int Axis = 0>
DEVICE int workgroupId() {
  return int(alongAxis(emulator::self().block->index, Axis));
}
template <int Axis = 0>
DEVICE int workgroupCount() {
  return int(alongAxis(emulator::self().block->launch->shape.grid, Axis));
}
DEVICE int clusterRank() { return emulator::self().block->rank; }

DEVICE void sync() { emulator::syncBlock(); }
template <int Id, int Threads>
DEVICE void syncGroup() {
  static_assert(Id >= 1 && Id <= 15 && Threads % kWaveSize == 0,
                "expected barrier 1 to 15 and whole waves");
  emulator::syncNamed(Id, Threads);
}
DEVICE void syncWave() { emulator::syncWave(); }
DEVICE void syncCluster() { emulator::syncCluster(); }
DEVICE bool elect() {
  return emulator::collective<bool>("elect", char(0), [](auto, auto out) {
    for (int lane = 0; lane < out.size(); ++lane) {
      out[lane] = lane == 0;
    }
  });
}
template <class T>
DEVICE T shuffle(T value, int lane) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "expected 4 or 8 bytes");
  struct Operands {
    T value;
    int lane;
  };
  return emulator::collective<T>("shuffle", Operands{value, lane},
                                 [](auto in, auto out) {
                                   for (int i = 0; i < in.size(); ++i) {
                                     out[i] = in[in[i].lane % kWaveSize].value;
                                   }
                                 });
}
template <class T>
DEVICE T shuffleXor(T value, int mask) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "expected 4 or 8 bytes");
  struct Operands {
    T value;
    int mask;
  };
  return emulator::collective<T>(
      "shuffleXor", Operands{value, mask}, [](auto in, auto out) {
        for (int i = 0; i < in.size(); ++i) {
          out[i] = in[(i ^ in[i].mask) % kWaveSize].value;
        }
      });
}

DEVICE float exp2(float x) {
  return emulator::nvidia::flush(std::exp2(emulator::nvidia::flush(x)));
}
DEVICE float log2(float x) { return std::log2(emulator::nvidia::flush(x)); }
DEVICE float rcp(float x) {
  return emulator::nvidia::flush(1.0f / emulator::nvidia::flush(x));
}
DEVICE float rsqrt(float x) {
  return 1.0f / std::sqrt(emulator::nvidia::flush(x));
}
DEVICE float sqrt(float x) { return std::sqrt(x); }
DEVICE float tanh(float x) { return std::tanh(x); }
DEVICE float fma(float x, float y, float z) { return std::fma(x, y, z); }

DEVICE uint32_t packBf16(float low, float high) {
  return emulator::nvidia::floatToBf16(low) |
         uint32_t(emulator::nvidia::floatToBf16(high)) << 16;
}
DEVICE float bf16Low(uint32_t word) { return asFloat(word << 16); }
DEVICE float bf16High(uint32_t word) { return asFloat(word & 0xFFFF0000u); }
DEVICE uint16_t packE4m3(float low, float high) {
  return uint16_t(emulator::nvidia::floatToE4m3(low) |
                  emulator::nvidia::floatToE4m3(high) << 8);
}
DEVICE float e4m3Low(uint16_t pair) {
  return emulator::nvidia::e4m3ToFloat(uint8_t(pair));
}
DEVICE float e4m3High(uint16_t pair) {
  return emulator::nvidia::e4m3ToFloat(uint8_t(pair >> 8));
}

/// What was at `p` before `change` made it new; one at a time, orders nothing.
template <class T, class Change>
DEVICE T atomically(T *p, Change change) {
  emulator::Unseen unseen;
  T before = *p;
  *p = change(before);
  return before;
}
DEVICE float addAtomic(float *p, float value) {
  return atomically(p, [=](float before) { return before + value; });
}
DEVICE int addAtomic(int *p, int value) {
  return atomically(p, [=](int before) { return before + value; });
}
DEVICE uint64_t maxAtomic(uint64_t *p, uint64_t value) {
  return atomically(p,
                    [=](uint64_t before) { return std::max(before, value); });
}
DEVICE void storeRelease(uint32_t *flag, uint32_t value) {
  emulator::release(flag);
  std::atomic_ref(*flag).store(value, std::memory_order_relaxed);
  emulator::state.rounds = 0;
}
/// Lets others run: kernels poll with it.
DEVICE uint32_t loadAcquire(const uint32_t *flag) {
  emulator::poll();
  uint32_t value = std::atomic_ref(*const_cast<uint32_t *>(flag))
                       .load(std::memory_order_relaxed);
  emulator::acquire(flag);
  return value;
}

template <class T>
DEVICE T loadStreaming(const T *p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "expected 4, 8 or 16 bytes");
  emulator::noteRead(p, sizeof(T));
  return *p;
}
template <class T>
DEVICE void storeStreaming(T *p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "expected 4, 8 or 16 bytes");
  emulator::noteWrite(p, sizeof(T));
  *p = value;
}

DEVICE uint32_t sharedAddress(const void *p) {
  return emulator::sharedOffset(p);
}
DEVICE void waitPreviousKernel() {}
DEVICE void launchNextKernel() {}
template <int Registers>
DEVICE void raiseRegisters() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256,
                "expected a multiple of 8 from 24 to 256");
}
template <int Registers>
DEVICE void lowerRegisters() {
  raiseRegisters<Registers>();
}

} // namespace modelc

// clang-format off: these use the names above.
#include "nvidiaCopy.h"
#include "nvidiaMatrix.h"
#include "nvidiaTensor.h"
// clang-format on

#endif // TARGETS_EMULATOR_NVIDIA_H
