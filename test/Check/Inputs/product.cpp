// Runs a product of test/EmulatorNvidia, SOURCE, once on the emulator: ragged
// in all three sizes. THREADS, STORE_ROWS and PERSISTENT say how it is
// launched.
#include SOURCE

#include <random>

using emulator::Allocation;
using modelc::TensorMap;

namespace {

constexpr int kM = 200, kN = 136, kK = 264;

TensorMap mapOf(uint16_t *base, int rows, int columns, uint32_t boxRows) {
  TensorMap map;
  const uint64_t sizes[] = {uint64_t(columns), uint64_t(rows)};
  const uint64_t strides[] = {uint64_t(columns) * 2};
  const uint32_t box[] = {64, boxRows}, ones[] = {1, 1};
  if (emulator::nvidia::encodeTensorMap(&map, 9, 2, base, sizes, strides, box,
                                        ones, 0, 3, 2, 0)) {
    std::exit(4);
  }
  return map;
}

} // namespace

int main() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Allocation<uint16_t> a(kM * kK), b(kN * kK), c(kM * kN);
  for (Allocation<uint16_t> *x : {&a, &b}) {
    for (uint16_t &value : *x) {
      value = emulator::toBf16(normal(random));
    }
  }
  TensorMap mapA = mapOf(a.data(), kM, kK, 128),
            mapB = mapOf(b.data(), kN, kK, 128),
            mapC = mapOf(c.data(), kM, kN, STORE_ROWS);
  emulator::Device device{.waveSize = 32, .sharedBytes = 227 << 10};
  emulator::Shape shape{.kernel = "gemm",
                        .grid = {PERSISTENT ? 1 : 2, PERSISTENT ? 1 : 2},
                        .block = {THREADS},
                        .sharedBytes = 200 << 10};
#if PERSISTENT
  run(device, shape, modelc::gemm, mapA, mapB, mapC, kM, kN, kK);
#else
  run(device, shape, modelc::gemm, mapA, mapB, mapC, kK);
#endif
}
