// Runs an emitted product on the emulator against sums in double, with M that
// fills its tiles and M that does not. KERNEL names the source, THREADS, SIZE
// (of a tile) and SHARED_BYTES its launch, BOXES that operands come by tensor
// maps; COLUMNS of a tile, if not SIZE, and W_ROWS of a box of w; CLUSTER_SIZE
// workgroups start together. Of USED, if given, the kernel learns that it makes
// so many rows of tiles alone.
#include KERNEL

#include "../../Emulator/Inputs/compare.h"

#include <algorithm>
#include <cstdlib>

using namespace emulator;
using modelc::bf16;

#ifndef WORKGROUPS
#define WORKGROUPS 1 << 20
#endif
#ifndef COLUMNS
#define COLUMNS SIZE
#endif
#ifndef W_ROWS
#define W_ROWS COLUMNS
#endif
#ifndef CLUSTER_SIZE
#define CLUSTER_SIZE 1
#endif

namespace {

constexpr int kN = 256, kK = 256;

bf16 asBf16(float x) { return __builtin_bit_cast(bf16, toBf16(x)); }
double asDouble(bf16 x) { return fromBf16(__builtin_bit_cast(uint16_t, x)); }

#ifdef BOXES
modelc::TensorMap mapOf(bf16 *base, int rows, uint32_t boxRows) {
  modelc::TensorMap map;
  const uint64_t sizes[] = {kK, uint64_t(rows)}, strides[] = {kK * 2};
  const uint32_t box[] = {64, boxRows}, ones[] = {1, 1};
  if (nvidia::encodeTensorMap(&map, 9, 2, base, sizes, strides, box, ones, 0, 3,
                              2, 0)) {
    std::exit(4);
  }
  return map;
}
#endif

void runSize(int m) {
  Allocation<bf16> a(m * kK), w(kN * kK), d(m * kN);
  for (bf16 &x : a) {
    x = asBf16(randomNormal());
  }
  for (bf16 &x : w) {
    x = asBf16(randomNormal());
  }
  Device device{.waveSize = modelc::kWaveSize, .sharedBytes = SHARED_LIMIT};
  const int clusters = (m + CLUSTER_SIZE * SIZE - 1) / (CLUSTER_SIZE * SIZE);
  Shape shape{
      .kernel = "linear",
      .grid = {std::min(unsigned(clusters * CLUSTER_SIZE * (kN / COLUMNS)),
                        unsigned(WORKGROUPS))},
      .block = {THREADS},
      .cluster = {CLUSTER_SIZE},
      .sharedBytes = SHARED_BYTES};
#ifdef USED
  for (bf16 &x : d) {
    x = asBf16(0);
  }
  Allocation<int> used(1);
  used[0] = USED;
  run(device, shape, modelc::linear, d.data(), used.data(), m,
      mapOf(a.data(), m, SIZE), mapOf(w.data(), kN, W_ROWS));
#elif defined(BOXES)
  run(device, shape, modelc::linear, d.data(), m, mapOf(a.data(), m, SIZE),
      mapOf(w.data(), kN, W_ROWS));
#else
  run(device, shape, modelc::linear, a.data(), w.data(), d.data(), m);
#endif
  std::vector<double> reference(m * kN), values(m * kN);
  for (int i = 0; i < m * kN; ++i) {
#ifdef USED
    if (i / kN >= USED * SIZE) {
      values[i] = asDouble(d[i]);
      continue;
    }
#endif
    for (int k = 0; k < kK; ++k) {
      reference[i] +=
          asDouble(a[i / kN * kK + k]) * asDouble(w[i % kN * kK + k]);
    }
    values[i] = asDouble(d[i]);
  }
  compare(("m = " + std::to_string(m)).c_str(), values, reference, 1.0 / 256);
}

} // namespace

/// The sizes of the command line, or all.
int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i) {
    runSize(std::atoi(arguments[i]));
  }
  if (count == 1) {
    runSize(256);
    runSize(200);
    runSize(1);
  }
  return wrongResults;
}
