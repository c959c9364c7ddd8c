// Some devices run one kernel side by side.
#ifndef TEST_KERNELS_INPUTS_PEERS_H
#define TEST_KERNELS_INPUTS_PEERS_H

#include "run.h"

#include "emulator/driver.h"

template <typename T>
inline T *allocate(size_t count) {
  T *memory = static_cast<T *>(emulatorAllocate(count * sizeof(T)));
  std::memset((void *)memory, 0, count * sizeof(T));
  return memory;
}

/// What each device has for the others, and their addresses.
template <typename T>
struct Shared {
  T *own[RANKS];
  T **peers = allocate<T *>(RANKS);
  explicit Shared(size_t count) {
    for (int d = 0; d < RANKS; ++d) {
      peers[d] = own[d] = allocate<T>(count);
    }
  }
};

template <typename... Arguments>
void start(const char *kernel, int device, unsigned workgroups,
           Arguments... arguments) {
  unsigned grid[3] = {workgroups, 1, 1};
  unsigned block[3] = {THREADS, 1, 1}, cluster[3] = {1, 1, 1};
  void *pointers[] = {&arguments...};
  emulatorLaunch(device, kernel, grid, block, cluster, DYNAMIC_BYTES, pointers);
}

#endif // TEST_KERNELS_INPUTS_PEERS_H
