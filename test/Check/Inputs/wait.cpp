// Runs the kernels of wait.hip that are right.
#include "wait.hip"

using namespace emulator;

int main() {
  constexpr int kBlocks = 40;
  Device device;
  Allocation<unsigned> count(2);
  Allocation<int> seen(kBlocks * 64);
  count[0] = count[1] = 0;
  run(device, {.kernel = "gridBarrier", .grid = {kBlocks}, .block = {64}},
      modelc::gridBarrier, count.data(), seen.data(), kBlocks);
  count[0] = 0;
  run(device, {.kernel = "poll", .grid = {kBlocks}, .block = {64}},
      modelc::poll, count.data(), seen.data(), kBlocks);
}
