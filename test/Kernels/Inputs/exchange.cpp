// Some devices reduce between themselves, several calls in a row on the same
// staging buffers. IN_TWO: in two steps.
#include "peers.h"

EMULATOR_KERNEL(modelc, exchange)

constexpr int kRows = 3, kColumns = COLUMNS, kStagingRows = 5, kCalls = 3;
#ifdef IN_TWO
constexpr int kWidth = kColumns / RANKS;
#else
constexpr int kWidth = kColumns;
#endif

int main() {
  emulatorOpen(RANKS, modelc::kWaveSize, 160 << 10);
  int tiles = kRows * (kColumns / TILE_COLUMNS);
  Shared<bf16> staging(size_t(2) * RANKS * kStagingRows * kWidth);
  Shared<bf16> sums(size_t(2) * kStagingRows * kColumns);
  Shared<int> flags(tiles * RANKS), ready(tiles * RANKS), epochs(tiles);
  bf16 *x[RANKS][kCalls], *out[RANKS][kCalls];
  std::vector<double> expected[kCalls];
  for (int call = 0; call < kCalls; ++call) {
    for (int d = 0; d < RANKS; ++d) {
      x[d][call] = allocate<bf16>(kRows * kColumns);
      out[d][call] = allocate<bf16>(kRows * kColumns);
      for (int i = 0; i < kRows * kColumns; ++i) {
        x[d][call][i] = asBf16(float(i % 7 + d * call));
      }
    }
    for (int i = 0; i < kRows * kColumns; ++i) {
      double sum = 0;
      for (int d = 0; d < RANKS; ++d) {
        sum += asDouble(x[d][call][i]);
      }
      expected[call].push_back(asDouble(asBf16(float(sum))));
    }
  }
  for (int call = 0; call < kCalls; ++call) {
    for (int d = 0; d < RANKS; ++d) {
#ifdef IN_TWO
      start("exchange", d, tiles, (const bf16 *)x[d][call], staging.own[d],
            (bf16 *const *)staging.peers, sums.own[d],
            (bf16 *const *)sums.peers, flags.own[d], (int *const *)flags.peers,
            ready.own[d], (int *const *)ready.peers, epochs.own[d],
            out[d][call], d, kRows);
#else
      start("exchange", d, tiles, (const bf16 *)x[d][call], staging.own[d],
            (bf16 *const *)staging.peers, flags.own[d],
            (int *const *)flags.peers, epochs.own[d], out[d][call], d, kRows);
#endif
    }
  }
  emulatorSynchronize();
  for (int call = 0; call < kCalls; ++call) {
    for (int d = 0; d < RANKS; ++d) {
      std::vector<double> results;
      for (int i = 0; i < kRows * kColumns; ++i) {
        results.push_back(asDouble(out[d][call][i]));
      }
      std::string name =
          "call " + std::to_string(call) + " on device " + std::to_string(d);
      compare(name.c_str(), results, expected[call], 0);
    }
  }
  return wrongResults;
}
