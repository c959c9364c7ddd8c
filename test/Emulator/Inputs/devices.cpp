// Drives devices.hip through the C interface. The argument chooses the case.
#include "devices.hip"

#include "emulator/driver.h"

#include "compare.h"

#include <string>

EMULATOR_KERNEL(modelc, allReduce)
EMULATOR_KERNEL(modelc, step)
EMULATOR_KERNEL(modelc, gridBarrier)
EMULATOR_KERNEL(modelc, unordered)
EMULATOR_KERNEL(modelc, lastBlock)

template <typename... Arguments>
static int launch(int device, const char *kernel, unsigned blocks,
                  Arguments... arguments) {
  unsigned grid[3] = {blocks, 1, 1}, block[3] = {64, 1, 1};
  unsigned cluster[3] = {1, 1, 1};
  void *pointers[] = {&arguments...};
  return emulatorLaunch(device, kernel, grid, block, cluster, 0, pointers);
}

template <typename T>
static T *allocate(size_t count, T value) {
  T *memory = static_cast<T *>(emulatorAllocate(count * sizeof(T)));
  std::fill(memory, memory + count, value);
  return memory;
}

static void testAllReduce(bool bothDevices) {
  constexpr int kBlocks = 12, kSize = kBlocks * 64;
  float *data[2], *sum[2];
  uint32_t *flags[2];
  std::vector<double> expected(kSize);
  for (int device = 0; device < 2; ++device) {
    data[device] = allocate<float>(kSize, 0);
    sum[device] = allocate<float>(kSize, 0);
    flags[device] = allocate<uint32_t>(kBlocks, 0);
    for (int i = 0; i < kSize; ++i) {
      data[device][i] = randomNormal();
      expected[i] += 2.0 * data[device][i] + 1;
    }
  }
  for (int device = 0; device < (bothDevices ? 2 : 1); ++device) {
    launch(device, "step", kBlocks, data[device]);
    launch(device, "allReduce", kBlocks, (const float *)data[device],
           (const float *)data[1 - device], sum[device], flags[device],
           (const uint32_t *)flags[1 - device], 1u);
  }
  emulatorSynchronize();
  compare("first device", sum[0], expected, 1e-6);
  compare("second device", sum[1], expected, 1e-6);
}

static void testOrder() {
  float *x = allocate<float>(128, 0.0f), y[128];
  for (int i = 0; i < 5; ++i) {
    launch(0, "step", 2, x);
  }
  emulatorCopy(y, x, sizeof y);
  compare("order of launches", y, std::vector<double>(128, 31), 0);
  emulatorFree(x);
}

static void testGridBarrier(unsigned blocks) {
  unsigned *count = allocate<unsigned>(1, 0);
  int *seen = allocate<int>(blocks * 64, 0);
  launch(1, "gridBarrier", blocks, count, seen);
  emulatorSynchronize();
  compare("barrier of the grid", seen, std::vector<double>(blocks * 64, blocks),
          0);
}

static void testLastBlock(int fences) {
  float *parts = allocate<float>(640, 0), *sum = allocate<float>(64, 0);
  launch(0, "lastBlock", 10, allocate<unsigned>(1, 0), parts, sum, fences);
  emulatorSynchronize();
  std::vector<double> expected;
  for (int i = 0; i < 64; ++i) {
    expected.push_back(45 + 10 * i);
  }
  compare("last block", sum, expected, 0);
}

int main(int, char **arguments) {
  std::string chosen = arguments[1];
  emulatorOpen(2, 64, 65536);
  if (chosen == "all-reduce") {
    testAllReduce(true);
  } else if (chosen == "peer-missing") {
    testAllReduce(false);
  } else if (chosen == "order") {
    testOrder();
  } else if (chosen == "grid") {
    testGridBarrier(40);
  } else if (chosen == "grid-too-large") {
    testGridBarrier(300);
  } else if (chosen == "last-block" || chosen == "last-block-unfenced") {
    testLastBlock(chosen == "last-block");
  } else if (chosen == "unordered") {
    launch(0, "unordered", 4, allocate<float>(64, 0.0f));
    emulatorSynchronize();
  }
  std::printf("unknown kernel: %d, unknown device: %d\n",
              launch(0, "absent", 1, 0), launch(7, "step", 1, 0));
  return wrongResults;
}
