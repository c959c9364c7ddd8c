//===- Matrix.cpp - Matrix instructions -----------------------------------===//
//
// c[M, M] += a[M, K] * b[M, K]^T over the lanes of a wave. Lane l holds of a
// and of b row l % M, and with g = l / M of K
//   without scales            K * M / 64 neighbours from g times as many,
//   with, 6 and 4 bits        32 neighbours from 32 * g,
//   with, 8 bits              16 from 16 * g, then 16 from K / 2 + 16 * g,
//   its scale                 row l % M and block g of 32;
// of c column l % M, register r being row 4 g + r (M = 16) or
// 8 (r / 4) + 4 g + r % 4 (M = 32). The order of the machine's sums is not
// documented: here it is that of K, each product and sum rounded to a float, as
// on the emulator.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Formats.h"
#include "lib/Check/Machine/Lanes.h"

using namespace modelc::check;

namespace {
/// Operands as plain matrices.
template <unsigned M, unsigned K>
struct Matrices {
  float a[M][K], b[K][M], c[M][M];
  float scaleA[M][K / 32 + 1], scaleB[M][K / 32 + 1];
};
} // namespace

/// Element `e` of a lane's packed elements of a register operand.
static uint32_t elementBits(const Source &source, unsigned lane, unsigned e,
                            unsigned bits) {
  unsigned at = e * bits;
  uint64_t word = source.word(lane, at / 32);
  if (at % 32 + bits > 32) {
    word |= uint64_t(source.word(lane, at / 32 + 1)) << 32;
  }
  return uint32_t(word >> at % 32) & uint32_t((uint64_t(1) << bits) - 1);
}

/// put(row, k, value) of each element of an operand.
template <unsigned M, unsigned K, typename Put>
static void unpack(const Source &source, Format format, bool halves, Put put) {
  constexpr unsigned kCount = M * K / kLanes;
  unsigned bits = bitsOf(format);
  const float *values = bits <= 16 ? valuesOf(format) : nullptr;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned row = lane % M, g = lane / M;
    for (unsigned e = 0; e < kCount; ++e) {
      unsigned k = halves ? e / 16 * (K / 2) + 16 * g + e % 16 : g * kCount + e;
      uint32_t pattern = elementBits(source, lane, e, bits);
      put(row, k, values ? values[pattern] : std::bit_cast<float>(pattern));
    }
  }
}

static constexpr unsigned accumulatorRow(unsigned m, unsigned g, unsigned r) {
  return m == 16 ? 4 * g + r : 8 * (r / 4) + 4 * g + r % 4;
}

template <unsigned M, unsigned K>
static void multiplyAdd(Matrices<M, K> &x) {
  for (unsigned i = 0; i < M; ++i) {
    float row[M];
    for (unsigned j = 0; j < M; ++j) {
      row[j] = x.c[i][j];
    }
    for (unsigned k = 0; k < K; ++k) {
      for (unsigned j = 0; j < M; ++j) {
        row[j] += x.a[i][k] * x.b[k][j];
      }
    }
    for (unsigned j = 0; j < M; ++j) {
      x.c[i][j] = row[j];
    }
  }
}

template <unsigned M, unsigned K>
static void multiply(Wave &wave, const Instruction &i, Matrices<M, K> &x) {
  if (wave.exec() != ~uint64_t(0)) {
    // The machine would compute with all lanes: nobody means that.
    return wave.fail("a matrix instruction with lanes that are not active");
  }
  Source c = sourceOf(wave, i.operands[3]);
  bool constant = i.operands[3].place == Operand::Place::Constant;
  uint32_t *to = wave.row(i.operands[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned r = 0; r < M * M / kLanes; ++r) {
      x.c[accumulatorRow(M, lane / M, r)][lane % M] =
          std::bit_cast<float>(c.word(lane, constant ? 0 : r));
    }
  }
  multiplyAdd(x);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned r = 0; r < M * M / kLanes; ++r) {
      to[r * kLanes + lane] = std::bit_cast<uint32_t>(
          x.c[accumulatorRow(M, lane / M, r)][lane % M]);
    }
  }
}

/// d, a, b, c
template <unsigned M, unsigned K, Format A, Format B>
static void plain(Wave &wave, const Instruction &i) {
  if (i.modifiers.formatA || i.modifiers.formatB || i.modifiers.broadcast) {
    return wave.fail(
        "broadcasts and permutations of operands are not modelled");
  }
  static thread_local Matrices<M, K> x;
  unpack<M, K>(sourceOf(wave, i.operands[1]), A, false,
               [](unsigned row, unsigned k, float v) { x.a[row][k] = v; });
  unpack<M, K>(sourceOf(wave, i.operands[2]), B, false,
               [](unsigned row, unsigned k, float v) { x.b[k][row] = v; });
  multiply(wave, i, x);
}

/// Scales of the rows of an operand: byte `which` of the lanes' words.
template <unsigned M, unsigned Blocks>
static void unpackScales(const Source &source, unsigned which,
                         float (&to)[M][Blocks]) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t byte = source.word(lane) >> 8 * which & 0xFF;
    to[lane % M][lane / M] =
        byte == 0xFF ? NAN : std::ldexp(1.0f, int(byte) - 127);
  }
}

/// d, a, b, c, [scale of a, scale of b]; cbsz and blgp say the formats.
template <unsigned M, unsigned K, bool Scaled>
static void narrow(Wave &wave, const Instruction &i) {
  const Modifiers &how = i.modifiers;
  if (how.formatA > 4 || how.formatB > 4) {
    return wave.fail("no such format of an operand");
  }
  static thread_local Matrices<M, K> x;
  Format formatA = Format(how.formatA), formatB = Format(how.formatB);
  unpack<M, K>(sourceOf(wave, i.operands[1]), formatA, bitsOf(formatA) == 8,
               [](unsigned row, unsigned k, float v) { x.a[row][k] = v; });
  unpack<M, K>(sourceOf(wave, i.operands[2]), formatB, bitsOf(formatB) == 8,
               [](unsigned row, unsigned k, float v) { x.b[k][row] = v; });
  if constexpr (Scaled) {
    auto byteOf = [&](unsigned s) {
      return (how.select >> s & 1u) | (how.selectHigh >> s & 1u) << 1;
    };
    unpackScales<M>(sourceOf(wave, i.operands[4]), byteOf(0), x.scaleA);
    unpackScales<M>(sourceOf(wave, i.operands[5]), byteOf(1), x.scaleB);
    for (unsigned row = 0; row < M; ++row) {
      for (unsigned k = 0; k < K; ++k) {
        x.a[row][k] *= x.scaleA[row][k / 32];
        x.b[k][row] *= x.scaleB[row][k / 32];
      }
    }
  }
  multiply(wave, i, x);
}

void modelc::check::addMatrixMeanings(Meanings &to) {
  auto add = [&](llvm::StringRef name, Handler run) {
    to[("v_mfma_" + name).str()] = {run, Kind::Matrix, {}};
  };
  using enum Format;
  add("f32_16x16x4_f32", plain<16, 4, F32, F32>);
  add("f32_32x32x2_f32", plain<32, 2, F32, F32>);
  add("f32_16x16x16_f16", plain<16, 16, F16, F16>);
  add("f32_16x16x16_bf16", plain<16, 16, Bf16, Bf16>);
  add("f32_32x32x8_f16", plain<32, 8, F16, F16>);
  add("f32_32x32x8_bf16", plain<32, 8, Bf16, Bf16>);
  add("f32_16x16x32_f16", plain<16, 32, F16, F16>);
  add("f32_16x16x32_bf16", plain<16, 32, Bf16, Bf16>);
  add("f32_32x32x16_f16", plain<32, 16, F16, F16>);
  add("f32_32x32x16_bf16", plain<32, 16, Bf16, Bf16>);
  add("f32_16x16x128_f8f6f4", narrow<16, 128, false>);
  add("f32_32x32x64_f8f6f4", narrow<32, 64, false>);
  add("scale_f32_16x16x128_f8f6f4", narrow<16, 128, true>);
  add("scale_f32_32x32x64_f8f6f4", narrow<32, 64, true>);
#define BYTES(suffix, a, b)                                                    \
  add("f32_16x16x32_" suffix, [](Wave &w, const Instruction &i) {              \
    w.group->launch->openFormats ? plain<16, 32, a, b>(w, i)                   \
                                 : plain<16, 32, a##Fnuz, b##Fnuz>(w, i);      \
  });                                                                          \
  add("f32_32x32x16_" suffix, [](Wave &w, const Instruction &i) {              \
    w.group->launch->openFormats ? plain<32, 16, a, b>(w, i)                   \
                                 : plain<32, 16, a##Fnuz, b##Fnuz>(w, i);      \
  })
  BYTES("fp8_fp8", E4M3, E4M3);
  BYTES("fp8_bf8", E4M3, E5M2);
  BYTES("bf8_fp8", E5M2, E4M3);
  BYTES("bf8_bf8", E5M2, E5M2);
#undef BYTES
}
