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

#include "nvidiaState.h"

#include "nvidia/descriptors.cuh"

#include <atomic>
#include <bit>
#include <type_traits>

// Not always_inline: it would hide these functions from tsan.ignore.
#define DEV [[maybe_unused]] static inline
#define KERNEL(threads, blocksPerUnit) extern "C" void
#define CLUSTER(workgroups)
#define GRID_CONSTANT const
#define SHARED(type, name, count)                                              \
  static char name##IsShared;                                                  \
  type(&name)[count] = *reinterpret_cast<type(*)[count]>(                      \
      ::emulator::sharedObject(&name##IsShared, sizeof(type[count])))
#define DYNAMIC_SHARED(name) char *const name = ::emulator::dynamicShared()

namespace modelc {

DEV uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }
DEV float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

DEV int threadId() { return emulator::self().id; }
DEV int laneId() { return emulator::self().lane; }
DEV int waveId() { return emulator::self().id / kWaveSize; }
DEV int uniformWaveId() { return waveId(); }
DEV unsigned alongAxis(const emulator::Dim3 &size, int axis) {
  return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}
template <int Axis = 0>
DEV int workgroupId() {
  return int(alongAxis(emulator::self().block->index, Axis));
}
template <int Axis = 0>
DEV int workgroupCount() {
  return int(alongAxis(emulator::self().block->launch->shape.grid, Axis));
}
DEV int clusterRank() { return emulator::self().block->rank; }

DEV void sync() { emulator::syncBlock(); }
template <int Id, int Threads>
DEV void syncGroup() {
  static_assert(Id >= 1 && Id <= 15 && Threads % kWaveSize == 0,
                "expected barrier 1 to 15 and whole waves");
  emulator::syncNamed(Id, Threads);
}
DEV void syncWave() { emulator::syncWave(); }
DEV void syncCluster() { emulator::syncCluster(); }
DEV bool elect() {
  return emulator::collective<bool>("elect", char(0), [](auto, auto out) {
    for (int lane = 0; lane < out.size(); ++lane) {
      out[lane] = lane == 0;
    }
  });
}
using emulator::anyLane;
template <class T>
DEV T shuffle(T value, int lane) {
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
DEV T shuffleXor(T value, int mask) {
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

template <int Mask, class T>
DEV T shuffleXor(T value) {
  return shuffleXor(value, Mask);
}
template <class T>
DEV T readFirstLane(T value) {
  return shuffle(value, 0);
}
template <class T>
DEV T uniform(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  emulator::noteUniform(bits);
  return value;
}

DEV float exp2(float x) {
  return emulator::nvidia::flush(std::exp2(emulator::nvidia::flush(x)));
}
DEV float log2(float x) { return std::log2(emulator::nvidia::flush(x)); }
DEV float rcp(float x) {
  return emulator::nvidia::flush(1.0f / emulator::nvidia::flush(x));
}
DEV float rsqrt(float x) {
  return 1.0f / std::sqrt(emulator::nvidia::flush(x));
}
DEV float sqrt(float x) { return std::sqrt(x); }
DEV float tanh(float x) { return std::tanh(x); }
DEV float fma(float x, float y, float z) { return std::fma(x, y, z); }

/// The sum to nearest less what it is too large by, which floats hold exactly.
DEV float addDown(float x, float y) {
  const float sum = x + y, part = sum - x;
  const float error = (x - (sum - part)) + (y - part);
  return error < 0 ? std::nextafter(sum, -INFINITY) : sum;
}
DEV float maxOrNaN(float x, float y) {
  return std::isnan(x) || std::isnan(y) ? NAN : std::fmax(x, y);
}

DEV float max(float x, float y) { return std::fmax(x, y); }
DEV float min(float x, float y) { return std::fmin(x, y); }
DEV float abs(float x) { return std::fabs(x); }
DEV int max(int x, int y) { return std::max(x, y); }
DEV int min(int x, int y) { return std::min(x, y); }

DEV bf16 toBf16(float value) { return {emulator::toBf16(value)}; }
DEV float toFloat(bf16 value) { return emulator::fromBf16(value.bits); }
DEV uint32_t packBf16(float first, float second) {
  return toBf16(first).bits | uint32_t(toBf16(second).bits) << 16;
}
DEV f32x2 unpackBf16(uint32_t word) {
  return {asFloat(word << 16), asFloat(word & 0xFFFF0000u)};
}
DEV uint16_t packFp8(float first, float second) {
  return uint16_t(emulator::nvidia::toFp8(first) |
                  emulator::nvidia::toFp8(second) << 8);
}
DEV uint32_t packFp8(f32x4 values) {
  return packFp8(values[0], values[1]) | uint32_t(packFp8(values[2], values[3]))
                                             << 16;
}
DEV uint8_t packFp4(float first, float second) {
  auto bits = [](float value) {
    return emulator::encode(emulator::kE2M1, value,
                            emulator::Overflow::Saturate);
  };
  return uint8_t(bits(first) | bits(second) << 4);
}
DEV f32x2 unpackFp8(uint16_t pair) {
  return {emulator::nvidia::fromFp8(uint8_t(pair)),
          emulator::nvidia::fromFp8(uint8_t(pair >> 8))};
}
DEV f32x4 unpackFp8(uint32_t word) {
  const f32x2 low = unpackFp8(uint16_t(word)),
              high = unpackFp8(uint16_t(word >> 16));
  return {low[0], low[1], high[0], high[1]};
}

/// What was at `p` before `change` made it new; one at a time, orders nothing.
template <class T, class Change>
DEV T atomically(T *p, Change change) {
  emulator::requireFollowed();
  emulator::Unseen unseen;
  T before = *p;
  *p = change(before);
  return before;
}
template <class T>
DEV T atomicAdd(T *p, T value) {
  static_assert(sizeof(T) == 4, "expected float, int or unsigned");
  return atomically(p, [=](T before) { return before + value; });
}
DEV uint64_t atomicMax(uint64_t *p, uint64_t value) {
  return atomically(p,
                    [=](uint64_t before) { return std::max(before, value); });
}
DEV void atomicAddBf16(uint32_t *pair, uint32_t packed) {
  atomically(pair, [=](uint32_t before) {
    const f32x2 x = unpackBf16(before), y = unpackBf16(packed);
    return packBf16(x[0] + y[0], x[1] + y[1]);
  });
}
DEV void fenceDevice() {
  emulator::release(emulator::self().block->launch);
  emulator::acquire(emulator::self().block->launch);
}
DEV void storeRelease(uint32_t *flag, uint32_t value) {
  emulator::requireFollowed();
  emulator::release(flag);
  std::atomic_ref(*flag).store(value, std::memory_order_relaxed);
  emulator::notify(flag);
}
/// Lets others run: kernels poll with it.
DEV uint32_t loadAcquire(const uint32_t *flag) {
  emulator::requireFollowed();
  emulator::poll();
  uint32_t value = std::atomic_ref(*const_cast<uint32_t *>(flag))
                       .load(std::memory_order_relaxed);
  emulator::acquire(flag);
  return value;
}

DEV void waitForFlag(const uint32_t *flag, uint32_t value) {
  emulator::requireFollowed();
  emulator::waitUntil(flag, "a flag in global memory",
                      [=] { return int(*flag - value) >= 0; });
  emulator::acquire(flag);
}

template <class T>
DEV T loadGlobal(const T *p) {
  emulator::requireFollowed();
  emulator::noteRead(p, sizeof(T));
  return *p;
}
template <class T>
DEV void storeGlobal(T *p, T value) {
  emulator::requireFollowed();
  emulator::noteWrite(p, sizeof(T));
  *p = value;
}
template <class T>
DEV T loadNontemporal(const T *p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "expected 4, 8 or 16 bytes");
  emulator::requireFollowed();
  emulator::noteRead(p, sizeof(T));
  return *p;
}
template <class T>
DEV void storeNontemporal(T *p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "expected 4, 8 or 16 bytes");
  emulator::requireFollowed();
  emulator::noteWrite(p, sizeof(T));
  *p = value;
}

DEV uint32_t sharedAddress(const void *p) { return emulator::sharedOffset(p); }
DEV void waitPreviousKernel() { emulator::followEarlier(); }
DEV void launchNextKernel() {}
/// Whether hosts launch kernels so that they may start before earlier ones end
/// (targets/host/driver_cuda.h).
constexpr bool kStartsEarly = true;
template <int Registers>
DEV void raiseRegisters() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256,
                "expected a multiple of 8 from 24 to 256");
}
template <int Registers>
DEV void lowerRegisters() {
  raiseRegisters<Registers>();
}

} // namespace modelc

// clang-format off: these use the names above.
#include "nvidiaCopy.h"
#include "nvidiaMatrix.h"
#include "nvidiaTensor.h"
// clang-format on

#endif // TARGETS_EMULATOR_NVIDIA_H
