// Runs every variant of an emitted product with scales (see plant.py) against a
// reference in double precision, each in a process of its own, with copies and
// matrix operations late and at once. Prints a line for each; VARIANTS names the
// file.
#include "../../Kernels/Inputs/matrixScaled.h"

#include <sys/wait.h>
#include <unistd.h>

namespace {

using Kernel = void (*)(bf16 *, int, TensorMap, TensorMap, TensorMap, TensorMap);
struct Variant {
  const char *name;
  Kernel kernel;
};
Kernel asBody(Kernel kernel) { return kernel; }

} // namespace

#include VARIANTS

namespace {

int runVariant(const Variant &variant) {
  Matrix a(kRows), w(kColumns);
  Allocation<bf16> d(kRows * kColumns);
  const int tiles = modelc::ceilDiv(kRows, TILE_M) * modelc::ceilDiv(kColumns, TILE_N);
  emulator::Device device{.waveSize = 32, .sharedBytes = 232448};
  emulator::launchBody(
      device, {.kernel = variant.name, .grid = {unsigned(tiles)}, .block = {128}, .sharedBytes = DYNAMIC_BYTES}, [&] {
        variant.kernel(d.data(), kRows, a.numbersMap(TILE_M), w.numbersMap(TILE_N), a.scalesMap(TILE_M),
                       w.scalesMap(TILE_N));
      });
  emulator::synchronize();
  double worst = 0;
  for (int i = 0; i < kRows * kColumns; ++i) {
    const Sum sum(a, i / kColumns, w, i % kColumns, 1);
    const double error = std::fabs(asDouble(d[i]) - sum.exact) / sum.magnitude;
    worst = std::max(worst, error == error ? error : 1e9);
  }
  std::printf("%s\n", worst <= 1.0 / 250 ? "right" : "wrong result");
  std::fflush(stdout);
  return worst <= 1.0 / 250 ? 0 : 1;
}

} // namespace

int main() {
  for (const Variant &variant : kVariants) {
    for (bool late : {true, false}) {
      std::printf("%s, %s: ", variant.name, late ? "late" : "at once");
      std::fflush(stdout);
      if (pid_t child = fork()) {
        waitpid(child, nullptr, 0);
        continue;
      }
      dup2(1, 2); // errors of the emulator belong to the line
      emulator::state.options.lazy = late;
      emulator::nvidia::matrixIsLate = late;
      _exit(runVariant(variant));
    }
  }
}
