// Runs every variant of a kernel (see plant.py) against a double-precision
// reference, each in a process of its own, with copies and matrix operations
// late and at once. Prints a line for each; VARIANTS names the file, THREADS
// the size.
#include "instructions.cuh"

#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using emulator::Allocation;
using modelc::TensorMap;

constexpr int kM = 200, kN = 136, kK = 264; // ragged in all three

struct Arguments {
  TensorMap a, b, c;
};
using Body = void (*)(const Arguments &);
struct Variant {
  const char *name;
  std::function<void(const Arguments &)> body;
};

[[maybe_unused]] std::function<void(const Arguments &)> asBody(void (*kernel)(TensorMap, TensorMap, TensorMap, int)) {
  return [=](const Arguments &x) { kernel(x.a, x.b, x.c, kK); };
}
[[maybe_unused]] std::function<void(const Arguments &)> asBody(void (*kernel)(TensorMap, TensorMap, TensorMap, int, int,
                                                                              int)) {
  return [=](const Arguments &x) { kernel(x.a, x.b, x.c, kM, kN, kK); };
}

TensorMap mapOf(uint16_t *base, int rows, int columns, uint32_t boxRows) {
  TensorMap map;
  const uint64_t sizes[] = {uint64_t(columns), uint64_t(rows)};
  const uint64_t strides[] = {uint64_t(columns) * 2};
  const uint32_t box[] = {64, boxRows}, ones[] = {1, 1};
  if (emulator::nvidia::encodeTensorMap(&map, 9, 2, base, sizes, strides, box, ones, 0, 3, 2, 0)) {
    std::exit(4);
  }
  return map;
}

/// The largest error, in units of what rounding to bf16 allows; NaN counts 1e9.
double worstError(const Allocation<uint16_t> &a, const Allocation<uint16_t> &b, const Allocation<uint16_t> &c) {
  using emulator::fromBf16;
  auto at = [](const Allocation<uint16_t> &x, int i) {
    return double(fromBf16(const_cast<Allocation<uint16_t> &>(x)[size_t(i)]));
  };
  double worst = 0;
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      double sum = 0, absolute = 0;
      for (int k = 0; k < kK; ++k) {
        double product = at(a, i * kK + k) * at(b, j * kK + k);
        sum += product;
        absolute += std::fabs(product);
      }
      double error = std::fabs(at(c, i * kN + j) - sum) / (std::fabs(sum) / 256 + absolute * 1e-6);
      worst = std::max(worst, error == error ? error : 1e9);
    }
  }
  return worst;
}

} // namespace

#include VARIANTS

namespace {

int runVariant(const Variant &variant) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Allocation<uint16_t> a(kM * kK), b(kN * kK), c(kM * kN);
  for (Allocation<uint16_t> *x : {&a, &b}) {
    for (uint16_t &value : *x) {
      value = emulator::toBf16(normal(random));
    }
  }
  Arguments arguments{mapOf(a.data(), kM, kK, 128), mapOf(b.data(), kN, kK, 128), mapOf(c.data(), kM, kN, STORE_ROWS)};
  emulator::Device device{.waveSize = 32, .sharedBytes = 227 << 10};
  emulator::launchBody(device,
                       {.kernel = variant.name,
                        .grid = {PERSISTENT ? 1 : 2, PERSISTENT ? 1 : 2},
                        .block = {THREADS},
                        .sharedBytes = 200 << 10},
                       [&] { variant.body(arguments); });
  emulator::synchronize();
  double worst = worstError(a, b, c);
  std::printf("%s\n", worst <= 1 ? "right" : "wrong result");
  std::fflush(stdout);
  return worst <= 1 ? 0 : 1;
}

} // namespace

int main() {
  for (const Variant &variant : kVariants) {
    for (bool lateCopies : {true, false}) {
      for (bool lateMatrix : {true, false}) {
        std::printf("%s, copies %s, matrix %s: ", variant.name, lateCopies ? "late" : "at once",
                    lateMatrix ? "late" : "at once");
        std::fflush(stdout);
        if (pid_t child = fork()) {
          waitpid(child, nullptr, 0);
          continue;
        }
        dup2(1, 2); // errors of the emulator belong to the line
        emulator::state.options.lazy = lateCopies;
        emulator::nvidia::matrixIsLate = lateMatrix;
        _exit(runVariant(variant));
      }
    }
  }
}
