// Some devices add their parts and a residual, and norm the sum, several calls
// in a row on the same staging buffers. IN_TWO: in two steps. RESULT: bits of a
// number of the result.
#include "peers.h"

EMULATOR_KERNEL(modelc, norm)

constexpr int kRows = 3, kColumns = COLUMNS, kStagingRows = 5, kCalls = 3;
#ifdef IN_TWO
constexpr int kWidth = TILE_COLUMNS / RANKS;
#else
constexpr int kWidth = kColumns;
#endif

#if RESULT == 4
#include "normBlocks.h"
using Number = modelc::f4x2;
using Stored = modelc::bf16x2;
constexpr int kScales = kGroup * kWords * int(sizeof(Word));
constexpr int kNumbers = kRows * kColumns / 2;
#else
using Stored = bf16;
#if RESULT == 8
using Number = f8;
#else
using Number = bf16;
#endif
constexpr int kScales = kRows * int(sizeof(float));
constexpr int kNumbers = kRows * kColumns;
#endif

/// What a call is given and makes on one device.
struct Call {
  bf16 *x = allocate<bf16>(kRows * kColumns);
  bf16 *residual = allocate<bf16>(kRows * kColumns);
  bf16 *sum = allocate<bf16>(kRows * kColumns);
  Number *out = allocate<Number>(kNumbers);
  uint8_t *scales = allocate<uint8_t>(kScales);
};

/// Whether a row is what the norm of `sums` in double is.
static bool isRight(const Call &call, int row, const std::vector<double> &sums,
                    const bf16 *weight) {
  double squares = 0;
  for (double sum : sums) {
    squares += sum * sum;
  }
  std::vector<double> values;
  for (int i = 0; i < kColumns; ++i) {
    values.push_back(sums[i] * asDouble(weight[i]) /
                     std::sqrt(squares / kColumns + 1e-5));
  }
  bool right = true;
#if RESULT == 4
  for (int block = 0; block < kBlocks; ++block) {
    right &= isRight(&values[block * BLOCK], call.scales[scaleByte(row, block)],
                     &call.out[(row * kColumns + block * BLOCK) / 2]);
  }
#else
  double scale = RESULT == 8 ? ((const float *)call.scales)[row] : 1;
  double most = RESULT == 8 ? scale : 0;
  for (int i = 0; i < kColumns; ++i) {
    double error = asDouble(call.out[row * kColumns + i]) * scale - values[i];
    double allowed = std::fabs(values[i]) * (RESULT == 8 ? 0.0626 : 0.004);
    right &= std::fabs(error) <= allowed + most * 0x1p-10;
  }
#endif
  return right;
}

static void check(const Call &call, const std::vector<double> &sums,
                  const bf16 *weight, const std::string &name) {
  int wrong = 0, wrongSums = 0;
  for (int row = 0; row < kRows; ++row) {
    auto first = sums.begin() + row * kColumns;
    std::vector<double> ofRow(first, first + kColumns);
    wrong += !isRight(call, row, ofRow, weight);
    for (int i = 0; i < kColumns; ++i) {
      wrongSums += asDouble(call.sum[row * kColumns + i]) != ofRow[i];
    }
  }
  std::printf("%s: %s, %d rows and %d sums off\n", name.c_str(),
              wrong || wrongSums ? "wrong" : "right", wrong, wrongSums);
  wrongResults += wrong + wrongSums;
}

int main() {
  emulatorOpen(RANKS, modelc::kWaveSize, 160 << 10);
  Shared<bf16> staging(size_t(2) * RANKS * kStagingRows * kWidth);
  Shared<bf16> sums(size_t(2) * kStagingRows * kColumns);
  Shared<int> flags(kRows * RANKS), ready(kRows * RANKS), epochs(kRows);
  bf16 *weight = allocate<bf16>(kColumns);
  for (int i = 0; i < kColumns; ++i) {
    weight[i] = asBf16(randomNormal());
  }
  float *tensorScale = allocate<float>(1);
#if RESULT == 4
  tensorScale[0] = TENSOR_SCALE;
#endif
  Call calls[kCalls][RANKS];
  std::vector<double> expected[kCalls];
  for (int c = 0; c < kCalls; ++c) {
    // Sums of these are exact in f32.
    for (int i = 0; i < kRows * kColumns; ++i) {
      float residual = float(i * 7 % 23) / 8, sum = residual;
      for (int d = 0; d < RANKS; ++d) {
        float part = float((i * (d + 3) + c) % 31) / 16 - 1;
        calls[c][d].x[i] = asBf16(part);
        calls[c][d].residual[i] = asBf16(residual);
        sum += part;
      }
      expected[c].push_back(asDouble(asBf16(sum)));
    }
  }
  for (auto &call : calls) {
    for (int d = 0; d < RANKS; ++d) {
      start("norm", d, kRows, (const Stored *)call[d].x, (const Stored *)weight,
            (const Stored *)call[d].residual,
#ifdef TENSOR_SCALE_ARGUMENT
            (const float *)tensorScale,
#endif
            (Stored *)staging.own[d], (Stored *const *)staging.peers,
#ifdef IN_TWO
            (Stored *)sums.own[d], (Stored *const *)sums.peers,
#endif
            flags.own[d], (int *const *)flags.peers,
#ifdef IN_TWO
            ready.own[d], (int *const *)ready.peers,
#endif
            epochs.own[d], call[d].out,
#if RESULT < 16
            call[d].scales,
#endif
            (Stored *)call[d].sum, d, kRows);
    }
  }
  emulatorSynchronize();
  for (int c = 0; c < kCalls; ++c) {
    for (int d = 0; d < RANKS; ++d) {
      check(calls[c][d], expected[c], weight,
            "call " + std::to_string(c) + " on device " + std::to_string(d));
    }
  }
  return wrongResults != 0;
}
