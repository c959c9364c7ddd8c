// Rows to six bits with a scale for each block of 32, as OCP MX says: scale =
// 2^(floor(log2(largest)) - kEmax), numbers to nearest even, saturating. Of x
// exactly; with SWIGLU or NORM within what rounding in single precision gives.
#include "matrix6.h"

using modelc::bf16x32;

constexpr int kColumns = 640, kRows = 300, kBlocksOfRow = kColumns / 32;
constexpr int kScaleWords = kColumns / 128, kRoom = (kColumns + 255) / 256 * 8;
#ifdef E3M2
constexpr int kEmax = 4;
#else
constexpr int kEmax = 2;
#endif
#if SWIGLU || defined(NORM)
constexpr double kNear = 3e-6;
#else
constexpr double kNear = 0;
#endif

/// Numbers whose blocks differ by many powers of two; a block of zeros, one of
/// the smallest numbers, and one that ends at ties and beyond the largest.
static void fill(Allocation<bf16> &x) {
  std::uniform_int_distribution<int> power(-20, 20);
  for (int block = 0; block < kRows * kBlocksOfRow; ++block) {
    int exponent = power(generator);
    for (int i = 0; i < 32; ++i) {
      double value = std::ldexp(randomNormal(), exponent);
      value = block == 1 ? 0 : block == 2 ? std::ldexp(i, -130) : value;
      value = block == 3 ? i / 16.0 : value;
      x[block * 32 + i] = asBf16(float(value));
    }
  }
}

static const bf16x32 *blocksOf(Allocation<bf16> &x) {
  return (const bf16x32 *)x.data();
}

/// Whether a block has the scale and the bits of its numbers, or of neighbours
/// of them that are as near as `kNear`.
static bool isRight(const double *values, int scale, const uint8_t *row,
                    int block) {
  double largest = 0;
  for (int i = 0; i < 32; ++i) {
    largest = std::max(largest, std::fabs(values[i]));
  }
  bool right = false;
  for (double side : {1 - kNear, 1 + kNear}) {
    int exponent = largest == 0
                       ? -127
                       : std::max(std::ilogb(largest * side) - kEmax, -127);
    right |= scale == exponent;
  }
  for (int i = 0; i < 32; ++i) {
    uint32_t bits = sixBits(row, block, i, kRoom);
    bool near = false;
    for (double side : {1 - kNear, 1 + kNear}) {
      double over = std::ldexp(values[i] * side, -scale);
      near |= bits == emulator::encode(kSixBits, float(over));
    }
    right &= near;
  }
  return right;
}

int main() {
  Allocation<bf16> x(kRows * kColumns), other(kRows * kColumns);
  Allocation<i64x2> out(kRows * kRoom * 24 / 16);
  auto *tails = (int64_t *)out.data();
  Allocation<e8m0x4> scales((kRows + kGroup - 1) / kGroup * kScaleWords *
                            kGroup);
#ifdef NORM
  fillRandom(x);
#else
  fill(x);
#endif
  fillRandom(other);
  constexpr int kPieces = (kScaleWords * 128 + TILE_N - 1) / TILE_N;
#ifdef NORM
  launch("norm", kRows, modelc::norm, blocksOf(x), blocksOf(other), out.data(),
         tails, scales.data(), kRows);
#elif SWIGLU
  launch("quantise", kRows * kPieces, modelc::quantise, blocksOf(x),
         blocksOf(other), out.data(), tails, scales.data(), kRows);
#else
  launch("quantise", kRows * kPieces, modelc::quantise, blocksOf(x), out.data(),
         tails, scales.data(), kRows);
#endif
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> values;
    double squares = 0;
    for (int i = 0; i < kColumns; ++i) {
      double value = asDouble(x[row * kColumns + i]);
      squares += value * value;
#if SWIGLU
      value *= asDouble(other[row * kColumns + i]) / (1 + std::exp(-value));
#endif
      values.push_back(value);
    }
#ifdef NORM
    for (int i = 0; i < kColumns; ++i) {
      values[i] *= asDouble(other[i]) / std::sqrt(squares / kColumns + 1e-5);
    }
#endif
    auto *bytes = (const uint8_t *)out.data() + row * kRoom * 24;
    for (int block = 0; block < kBlocksOfRow; ++block) {
      int at = (row / kGroup * kScaleWords + block / 4) * kGroup + row % kGroup;
      int scale = int(scales[at].bits >> (8 * (block % 4)) & 0xFF) - 127;
      wrong += !isRight(&values[block * 32], scale, bytes, block);
    }
  }
  std::printf("blocks: %d of %d wrong\n", wrong, kRows * kBlocksOfRow);
  return wrong != 0;
}
