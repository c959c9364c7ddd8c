// What a host of the emulated library needs: memory of the devices, tensors in
// it, and bf16.
#ifndef TEST_ENDTOEND_INPUTS_DEVICE_H
#define TEST_ENDTOEND_INPUTS_DEVICE_H

#include "modelc_kernels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

extern "C" {
void emulatorOpen(int count, int waveSize, size_t sharedBytes);
void *emulatorAllocate(size_t bytes);
void emulatorFree(void *memory);
void emulatorSynchronize();
void modelcSetDevice(int device);
}

inline float fromBf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

/// Rounded to nearest even.
inline uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline size_t bytesOf(int32_t type) {
  switch (type) {
  case MC_F8E4M3FN:
  case MC_F8E4M3FNUZ:
  case MC_F4E2M1FNX2:
    return 1;
  case MC_BF16:
  case MC_F16:
    return 2;
  case MC_I64:
    return 8;
  case MC_F6E2M3FNX32:
    return 24;
  default:
    return 4;
  }
}

/// A tensor in new memory of a device, poisoned.
inline mc_tensor makeTensor(int32_t type, const std::vector<int64_t> &shape) {
  mc_tensor tensor = {};
  size_t bytes = bytesOf(type);
  for (int64_t extent : shape) {
    tensor.shape[tensor.rank++] = extent;
    bytes *= size_t(extent);
  }
  tensor.type = type;
  tensor.data = emulatorAllocate(bytes ? bytes : 1);
  return tensor;
}

inline size_t elementsOf(const mc_tensor &tensor) {
  size_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    count *= size_t(tensor.shape[i]);
  }
  return count;
}

/// Ends the program where a call of the library fails.
inline void require(int status) {
  if (status) {
    std::fprintf(stderr, "error %d: %s\n", status, modelc_last_error());
    std::exit(1);
  }
}

#endif // TEST_ENDTOEND_INPUTS_DEVICE_H
