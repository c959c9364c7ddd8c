// A kernel without work: launched behind all others, then to start early.
#include "nvidia/instructions.cuh"

static void idle() {}

int main() {
  emulator::Device device{.waveSize = 32};
  emulator::run(device, {.kernel = "late", .block = {32}}, idle);
  std::printf("late: ended\n");
  emulator::run(device, {.kernel = "early", .block = {32}, .startsEarly = true},
                idle);
}
