//===- PtxMatrix.cpp - Multiplication by one wave from registers ----------===//

#include "lib/Check/Ptx/PtxOperand.h"
#include <cstring>

using namespace modelc::ptx;
using check::Format;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

/// {r...}, [address]: 8 x 8 matrices of 16 bits. Lane l names row l % 8 of
/// matrix l / 8 and gets elements (l / 4, 2 (l % 4)..) of each, or of its
/// transpose.
static void loadMatrix(Warp &warp, const Instruction &i) {
  const std::vector<Operand> &to = i.operands[0].parts;
  KernelRun &launch = *warp.block->launch;
  uint32_t starts[kLanes];
  uint16_t rows[kLanes][8];
  std::fill_n(starts, kLanes, check::kNowhere);
  for (unsigned lane = 0; lane < 8 * to.size(); ++lane) {
    if (!sharedAddress(warp, i.operands[1], lane, starts[lane])) {
      return;
    }
    if (starts[lane] % 16) {
      return warp.fail("a row of a matrix at byte " + Twine(starts[lane]) +
                       ", expected a multiple of 16");
    }
    const uint8_t *row =
        touchShared(warp, starts[lane], 16, {false, false, warp.now()});
    if (!row) {
      return;
    }
    std::memcpy(rows[lane], row, 16);
  }
  bool transposed = i.how;
  for (unsigned matrix = 0; matrix < to.size(); ++matrix) {
    auto *d = warp.row<uint32_t>(to[matrix]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t word = 0;
      for (unsigned half = 0; half < 2; ++half) {
        unsigned r = lane / 4, c = lane % 4 * 2 + half;
        uint32_t element =
            transposed ? rows[8 * matrix + c][r] : rows[8 * matrix + r][c];
        word |= element << 16 * half;
      }
      d[lane] = word;
    }
  }
  launch.counts.sharedReadBytes += 8 * to.size() * 16;
  countBanks(launch.counts, launch.target, "read", 16,
             ArrayRef<uint32_t>(starts, kLanes));
}

/// {d0..d3}, {a0..a3}, {b0, b1}, {c0..c3}: d = a b + c of 16 x 8.
static void multiplyFragments(Warp &warp, const Instruction &i) {
  unsigned bytes = i.shape[2] == 16 ? 2 : 1;
  unsigned perWord = 4 / bytes, depth = 8 * perWord;
  auto format = Format(i.how);
  const float *values = check::valuesOf(format);
  float a[kFragmentRows * 32], b[32 * 8], d[kFragmentRows * 8];
  readFragment(warp, i.operands[1].parts, format, bytes, a);
  uint32_t mask = bytes == 1 ? 0xFF : 0xFFFF;
  for (unsigned r = 0; r < 2; ++r) {
    const auto *words = warp.row<uint32_t>(i.operands[2].parts[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned n = 0; n < perWord; ++n) {
        unsigned k = (lane % 4 + r * 4) * perWord + n;
        b[k * 8 + lane / 4] = values[words[lane] >> 8 * bytes * n & mask];
      }
    }
  }
  auto each = [&](const Operand &registers, auto visit) {
    forAccumulator(8, [&](unsigned lane, unsigned r, unsigned row,
                          unsigned column) {
      visit(warp.row<uint32_t>(registers.parts[r])[lane], d[row * 8 + column]);
    });
  };
  each(i.operands[3],
       [](uint32_t &word, float &sum) { sum = std::bit_cast<float>(word); });
  multiply(d, a, b, kFragmentRows, 8, depth);
  each(i.operands[0],
       [](uint32_t &word, float &sum) { word = std::bit_cast<uint32_t>(sum); });
}

static bool decodeMultiply(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Matrix;
  i.convergent = true;
  // sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
  Format format = Format::F32, other = Format::F32;
  if (modifiers.size() != 9 || !formatNamed(modifiers[6], format) ||
      !formatNamed(modifiers[7], other) || format != other ||
      modifiers[5] != "f32" || modifiers[8] != "f32" || modifiers[3] != "row" ||
      modifiers[4] != "col" || i.operands.size() != 4) {
    return false;
  }
  i.how = uint8_t(format);
  i.shape[2] = check::bitsOf(format) == 16 ? 16 : 32;
  i.handler = multiplyFragments;
  return modifiers[2] == (i.shape[2] == 16 ? "m16n8k16" : "m16n8k32");
}

static bool decodeLoad(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.kind = check::Kind::Shared;
  i.convergent = true;
  i.how = has(modifiers, "trans");
  i.handler = loadMatrix;
  return has(modifiers, "m8n8") && has(modifiers, "b16") &&
         i.operands[0].place == Operand::Place::Tuple;
}

void modelc::ptx::addMatrix(Decoders &to) {
  to["mma"] = decodeMultiply;
  to["ldmatrix"] = decodeLoad;
}
