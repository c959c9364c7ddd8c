// The names of targets/amd/instructions.hip.h on the emulator. Included by that
// header, after its types.
#ifndef TARGETS_EMULATOR_AMD_H
#define TARGETS_EMULATOR_AMD_H

// Operands are vectors of up to 64 bytes; all of it is one translation unit.
#pragma clang diagnostic ignored "-Wpsabi"

#include "emulator.h"
#include "numbers.h"

#define DEV static inline __attribute__((always_inline, unused))
#define KERNEL(threads, wavesPerSimd) extern "C" void
#define SHARED(type, name, ...)                                                \
  using name##Type = type;                                                     \
  using name##Object = name##Type __VA_OPT__([__VA_ARGS__]);                   \
  static char name##Key;                                                       \
  name##Object &name = *reinterpret_cast<name##Object *>(                      \
      emulator::sharedObject(&name##Key, sizeof(name##Object)))
#define DYNAMIC_SHARED(name) char *name = emulator::dynamicShared()

#include "amdMatrix.h"

namespace modelc {

/// Whether hosts launch kernels so that they may start before earlier ones end
/// (targets/host/driver_hip.h).
constexpr bool kStartsEarly = false;

DEV int laneId() { return emulator::self().lane; }
DEV int threadId() { return emulator::self().id; }
DEV int waveId() { return emulator::self().id / kWaveSize; }
DEV int uniformWaveId() { return waveId(); }

inline int axisOf(const emulator::Dim3 &d, int axis) {
  return int(axis == 0 ? d.x : axis == 1 ? d.y : d.z);
}
template <int Axis = 0>
DEV int workgroupId() {
  return axisOf(emulator::self().block->index, Axis);
}
template <int Axis = 0>
DEV int workgroupCount() {
  return axisOf(emulator::self().block->launch->shape.grid, Axis);
}

template <int N>
DEV void waitCopies() {
  static_assert(N >= 0 && N < 64, "vmcnt has six bits");
  emulator::waitCopies(N);
}
template <int N>
DEV void waitReads() {
  static_assert(N >= 0);
}
DEV void scheduleFence() {}
template <int Products, int Reads, int Copies>
DEV void interleave() {}
template <int P>
DEV void priority() {}
DEV void sync() { emulator::syncBlock(); }
DEV void syncOnly() { emulator::syncBlock(); }
DEV void syncWave() { emulator::syncWave(); }

template <typename T>
DEV T readFirstLane(T value) {
  return emulator::collective<T>("readFirstLane", value, [](auto in, auto out) {
    for (int i = 0; i < in.size(); ++i) {
      out[i] = in[0];
    }
  });
}
template <typename T>
DEV T uniform(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    emulator::noteUniform(__builtin_bit_cast(uint32_t, value));
  } else {
    emulator::noteUniform(__builtin_bit_cast(uint64_t, value));
  }
  return value;
}
using emulator::anyLane;
/// A lane that asks for one that is not there gets its own value.
template <typename T>
T shuffleFrom(const char *name, T value, int lane) {
  struct In {
    T value;
    int lane;
  };
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
  return emulator::collective<T>(
      name, In{value, lane & (kWaveSize - 1)}, [](auto in, auto out) {
        for (int i = 0; i < in.size(); ++i) {
          int from = in[i].lane < in.size() ? in[i].lane : i;
          out[i] = in[from].value;
        }
      });
}
template <typename T>
DEV T shuffle(T value, int lane) {
  return shuffleFrom("shuffle", value, lane);
}
template <typename T>
DEV T shuffleXor(T value, int mask) {
  return shuffleFrom("shuffleXor", value, laneId() ^ mask);
}
template <int Mask, typename T>
DEV T shuffleXor(T value) {
  static_assert(Mask > 0 && Mask < 64, "a mask of lanes");
  return shuffleFrom("shuffleXor", value, laneId() ^ Mask);
}

template <int Distance>
DEV i32x2 wordsOfPair(int word) {
  static_assert(Distance == 16 || Distance == 32, "rows or halves");
  return i32x2{shuffleFrom("wordsOfPair", word, laneId() & ~Distance),
               shuffleFrom("wordsOfPair", word, laneId() | Distance)};
}
inline int permuteBytes(int low, int high, int selector) {
  const uint64_t bytes = uint64_t(uint32_t(high)) << 32 | uint32_t(low);
  uint32_t result = 0;
  for (int i = 0; i < 32; i += 8) {
    result |= uint32_t(bytes >> (selector >> i & 7) * 8 & 0xFF) << i;
  }
  return int(result);
}

/// Starts the copy of this lane's bytes to its place behind `shared`.
inline void copyLane(const void *from, void *shared, uint32_t bytes) {
  emulator::noteUniform(reinterpret_cast<uintptr_t>(shared));
  if (reinterpret_cast<uintptr_t>(shared) % bytes) {
    emulator::fail("copy of %u bytes a lane to an address that is no multiple "
                   "of them",
                   bytes);
  }
  char *to = static_cast<char *>(shared) + size_t(laneId()) * bytes;
  emulator::startCopy(to, from, bytes);
}
template <int Bytes>
DEV void copyToShared(const void *global, void *shared) {
  static_assert(Bytes == 4 || Bytes == kCopyBytes, "no such copy");
  copyLane(global, shared, Bytes);
}

/// Global memory with bounds.
struct Buffer {
  char *start;
  uint32_t bytes;
};
DEV Buffer buffer(const void *global, uint32_t bytes) {
  return {static_cast<char *>(const_cast<void *>(global)), bytes};
}
/// Where an access is, null when it is out of bounds. Neither a negative offset
/// nor an access that is half inside is meant by anyone.
inline char *within(Buffer buffer, uint32_t laneOffset, uint32_t tileOffset,
                    uint32_t bytes) {
  uint32_t at = laneOffset + tileOffset;
  if (at >= buffer.bytes) {
    return nullptr;
  }
  if (buffer.bytes - at < bytes) {
    emulator::fail("%u bytes at offset %u straddle the end of a buffer of %u",
                   bytes, at, buffer.bytes);
  }
  return buffer.start + at;
}
template <int Bytes>
DEV void copyBufferToShared(Buffer from, void *shared, uint32_t laneOffset,
                            uint32_t tileOffset = 0) {
  static_assert(Bytes == 4 || Bytes == kCopyBytes, "no such copy");
  copyLane(within(from, laneOffset, tileOffset, Bytes), shared, Bytes);
}

/// Plain accesses, so that the sanitizers see them at their caller's line.
template <typename T>
DEV T loadGlobal(const T *from) {
  emulator::countOperation();
  emulator::noteRead(from, sizeof(T));
  return *from;
}
template <typename T>
DEV void storeGlobal(T *to, T value) {
  emulator::countOperation();
  emulator::noteWrite(to, sizeof(T));
  *to = value;
}
template <typename T>
DEV T loadConstant(const T *from) {
  return uniform(loadGlobal(from));
}
template <typename T>
DEV T loadNontemporal(const T *from) {
  return loadGlobal(from);
}
template <typename T>
DEV void storeNontemporal(T *to, T value) {
  storeGlobal(to, value);
}
template <typename T>
DEV T loadBuffer(Buffer from, uint32_t laneOffset, uint32_t tileOffset = 0) {
  char *at = within(from, laneOffset, tileOffset, sizeof(T));
  emulator::countOperation();
  T value = {};
  if (at) {
    emulator::noteRead(at, sizeof(T));
    __builtin_memcpy(&value, at, sizeof(T));
  }
  return value;
}
template <typename T>
DEV void storeBuffer(Buffer to, T value, uint32_t laneOffset,
                     uint32_t tileOffset = 0) {
  char *at = within(to, laneOffset, tileOffset, sizeof(T));
  emulator::countOperation();
  if (at) {
    emulator::noteWrite(at, sizeof(T));
    __builtin_memcpy(at, &value, sizeof(T));
  }
}
#if MODELC_CHIP >= 950
/// A row of 16 numbers of type T lies in 2 * sizeof(T) lanes.
template <typename T>
DEV i32x2 readTransposed(const char *name, const void *shared) {
  constexpr int kRows = 8 / sizeof(T);
  emulator::noteRead(shared, 8);
  std::array<T, kRows> mine;
  __builtin_memcpy(&mine, shared, 8);
  return emulator::collective<i32x2>(name, mine, [](auto in, auto out) {
    for (int lane = 0; lane < kWaveSize; ++lane) {
      std::array<T, kRows> column;
      for (int row = 0; row < kRows; ++row) {
        int from = row * (16 / kRows) + lane % 16 / kRows;
        column[row] = in[lane / 16 * 16 + from][lane % kRows];
      }
      out[lane] = __builtin_bit_cast(i32x2, column);
    }
  });
}
DEV i32x2 readTransposed16(const void *shared) {
  return readTransposed<int16_t>("readTransposed16", shared);
}
DEV i32x2 readTransposed8(const void *shared) {
  return readTransposed<int8_t>("readTransposed8", shared);
}
#endif

// Real atomics, so that the race detector knows them for what they are.
template <typename T>
DEV T atomicAdd(T *to, T value) {
  static_assert(sizeof(T) == 4, "float, int or unsigned");
  emulator::noteAtomic(to);
  T old = __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
  emulator::notify(to);
  return old;
}
DEV uint64_t atomicMax(uint64_t *to, uint64_t value) {
  emulator::noteAtomic(to);
  return __atomic_fetch_max(to, value, __ATOMIC_RELAXED);
}
DEV void atomicAddBf16(uint32_t *pair, uint32_t packed) {
  emulator::noteAtomic(pair);
  uint32_t old = __atomic_load_n(pair, __ATOMIC_RELAXED), sum = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    float x = emulator::fromBf16(uint16_t(old >> shift));
    float y = emulator::fromBf16(uint16_t(packed >> shift));
    sum |= uint32_t(emulator::toBf16(x + y)) << shift;
  }
  __atomic_store_n(pair, sum, __ATOMIC_RELAXED);
}
DEV void fenceDevice() { emulator::fence(); }
DEV void storeRelease(uint32_t *flag, uint32_t value) {
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
  emulator::notify(flag);
}
DEV uint32_t loadAcquire(const uint32_t *flag) {
  emulator::poll();
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}
DEV void waitForFlag(const uint32_t *flag, uint32_t value) {
  emulator::waitUntil(flag, "a flag in global memory",
                      [=] { return int(*flag - value) >= 0; });
  (void)__atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

DEV float exp2(float x) { return ::exp2f(x); }
DEV float log2(float x) { return ::log2f(x); }
DEV float rcp(float x) { return 1.0f / x; }
DEV float rsqrt(float x) { return 1.0f / ::sqrtf(x); }
DEV float sqrt(float x) { return ::sqrtf(x); }
DEV float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
DEV float max(float x, float y) { return ::fmaxf(x, y); }
DEV float min(float x, float y) { return ::fminf(x, y); }
DEV float abs(float x) { return ::fabsf(x); }

DEV bf16 toBf16(float x) {
  return __builtin_bit_cast(bf16, emulator::toBf16(x));
}
DEV float toFloat(bf16 x) { return element(x); }
DEV uint32_t packBf16(float first, float second) {
  return emulator::toBf16(first) | uint32_t(emulator::toBf16(second)) << 16;
}
DEV f32x2 unpackBf16(uint32_t pair) {
  return f32x2{emulator::fromBf16(uint16_t(pair)),
               emulator::fromBf16(uint16_t(pair >> 16))};
}

/// Four bytes of a format. Infinity saturates too.
inline uint32_t packBytes(const emulator::Format &format, f32x4 v) {
  uint32_t bytes = 0;
  for (int i = 0; i < 4; ++i) {
    bytes |= emulator::encode(format, v[i], emulator::Overflow::Saturate)
             << (8 * i);
  }
  return bytes;
}
inline f32x4 unpackBytes(const float *values, uint32_t v) {
  return f32x4{values[v & 0xFF], values[v >> 8 & 0xFF], values[v >> 16 & 0xFF],
               values[v >> 24]};
}
DEV uint32_t packFp8(f32x4 v) {
  return packBytes(MODELC_CHIP >= 950 ? emulator::kE4M3 : emulator::kE4M3Fnuz,
                   v);
}
DEV uint32_t packBf8(f32x4 v) {
  return packBytes(MODELC_CHIP >= 950 ? emulator::kE5M2 : emulator::kE5M2Fnuz,
                   v);
}
DEV f32x4 unpackFp8(uint32_t v) { return unpackBytes(valuesOf<kFp8>(), v); }
DEV f32x4 unpackBf8(uint32_t v) { return unpackBytes(valuesOf<kBf8>(), v); }
#if MODELC_CHIP >= 950
DEV uint32_t packFp4(float first, float second, float scale) {
  return emulator::encode(emulator::kE2M1, first / scale) |
         emulator::encode(emulator::kE2M1, second / scale) << 4;
}
DEV uint32_t packFp4(f32x4 first, f32x4 second, float scale) {
  uint32_t result = 0;
  for (int i = 0; i < 8; ++i) {
    float value = (i < 4 ? first[i] : second[i - 4]) / scale;
    result |= emulator::encode(emulator::kE2M1, value) << (4 * i);
  }
  return result;
}
DEV i32x6 packSix(const emulator::Format &format, f32x16 even, f32x16 odd) {
  uint32_t words[8] = {};
  for (int i = 0; i < 32; ++i) {
    float value = i % 2 ? odd[i / 2] : even[i / 2];
    uint64_t bits = uint64_t(emulator::encode(format, value)) << (6 * i % 32);
    words[6 * i / 32] |= uint32_t(bits);
    words[6 * i / 32 + 1] |= uint32_t(bits >> 32);
  }
  i32x6 result;
  for (int i = 0; i < 6; ++i) {
    result[i] = int(words[i]);
  }
  return result;
}
DEV i32x6 packFp6(f32x16 even, f32x16 odd) {
  return packSix(emulator::kE2M3, even, odd);
}
DEV i32x6 packBf6(f32x16 even, f32x16 odd) {
  return packSix(emulator::kE3M2, even, odd);
}
#endif
template <int Half>
DEV f32x4 unpackFp4(uint32_t v, float scale) {
  const float *values = emulator::kValues<emulator::kE2M1>.of;
  v >>= 16 * Half;
  return f32x4{values[v & 15], values[v >> 4 & 15], values[v >> 8 & 15],
               values[v >> 12 & 15]} *
         scale;
}

} // namespace modelc

#endif // TARGETS_EMULATOR_AMD_H
