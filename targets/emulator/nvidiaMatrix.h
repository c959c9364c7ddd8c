// Multiplication from registers (mma) and from shared memory into registers
// (wgmma). See targets/nvidia/matrix.cuh for the names and the layouts.
//
// A wgmma is done wave by wave: each of the four has its 16 rows and its own
// queue. In lazy mode the accumulators hold NaN from the issue to the wait, A
// fragments in registers and shared memory are read at the wait.
#ifndef TARGETS_EMULATOR_NVIDIAMATRIX_H
#define TARGETS_EMULATOR_NVIDIAMATRIX_H

#include "nvidiaOperand.h"

namespace emulator::nvidia {

constexpr int kFragmentRows = 16;

/// Element i of two or four in a register.
inline float elementOfWord(uint32_t word, int i, int elementBytes) {
  return elementBytes == 1 ? fromFp8(uint8_t(word >> 8 * i))
                           : fromBf16(uint16_t(word >> 16 * i));
}

/// A fragment of 16 rows: lane l has rows l / 4 and l / 4 + 8, the units of k
/// l % 4 (register 0, 1) and l % 4 + 4 (register 2, 3).
template <typename Registers>
void readFragmentA(Registers registers, int elementBytes, float *out) {
  const int perWord = 4 / elementBytes, depth = 8 * perWord;
  for (int lane = 0; lane < kWaveSize; ++lane) {
    for (int r = 0; r < 4; ++r) {
      int row = lane / 4 + r % 2 * 8, k = (lane % 4 + r / 2 * 4) * perWord;
      for (int i = 0; i < perWord; ++i) {
        out[row * depth + k + i] =
            elementOfWord(registers(lane)[r], i, elementBytes);
      }
    }
  }
}

/// Calls visit(lane, register, row, column) for the 16 x columns accumulator.
template <typename Visit>
void forEachAccumulator(int columns, Visit visit) {
  for (int lane = 0; lane < kWaveSize; ++lane) {
    for (int r = 0; r < columns / 2; ++r) {
      visit(lane, r, lane / 4 + r % 4 / 2 * 8,
            r / 4 * 8 + lane % 4 * 2 + r % 2);
    }
  }
}

/// d[16, 8] += a b of one wave.
struct MmaOperands {
  uint32_t a[4], b[2];
  float d[4];
};
struct MmaResult {
  float d[4];
};
inline MmaResult mma(const char *name, int elementBytes,
                     const MmaOperands &operands) {
  return collective<MmaResult>(name, operands, [=](auto in, auto out) {
    const int perWord = 4 / elementBytes, depth = 8 * perWord;
    float a[kFragmentRows * 32], b[32 * 8], d[kFragmentRows * 8];
    readFragmentA([&](int lane) { return in[lane].a; }, elementBytes, a);
    for (int lane = 0; lane < kWaveSize; ++lane) {
      for (int i = 0; i < 2 * perWord; ++i) {
        int k = (lane % 4 + i / perWord * 4) * perWord + i % perWord;
        b[k * 8 + lane / 4] =
            elementOfWord(in[lane].b[i / perWord], i % perWord, elementBytes);
      }
    }
    forEachAccumulator(8, [&](int lane, int r, int row, int column) {
      d[row * 8 + column] = in[lane].d[r];
    });
    multiply(d, a, b, kFragmentRows, 8, depth);
    forEachAccumulator(8, [&](int lane, int r, int row, int column) {
      out[lane].d[r] = d[row * 8 + column];
    });
  });
}

/// Four 8 x 8 matrices of 16-bit elements whose rows the lanes name.
struct Words4 {
  uint32_t r[4];
};
inline Words4 loadMatrix4(const char *name, const void *row, bool transposed) {
  if (sharedOffset(row) % 16 != 0) {
    fail("%s: a row is not at a multiple of 16 bytes", name);
  }
  noteRead(row, 16);
  return collective<Words4>(name, row, [=](auto in, auto out) {
    for (int lane = 0; lane < kWaveSize; ++lane) {
      for (int i = 0; i < 4; ++i) {
        uint16_t pair[2];
        for (int half = 0; half < 2; ++half) {
          int r = lane / 4, c = lane % 4 * 2 + half;
          int from = transposed ? c : r, at = transposed ? r : c;
          const void *unit = in[i * 8 + from];
          pair[half] = static_cast<const uint16_t *>(unit)[at];
        }
        out[lane].r[i] = uint32_t(pair[0]) | uint32_t(pair[1]) << 16;
      }
    }
  });
}

/// d += a b for the 16 rows of one wave; `d` row-major.
inline void runWgmma(const Block &block, const Wgmma &op, float *d) {
  static float a[kFragmentRows * 32], b[32 * 256];
  if (op.registersA[0]) {
    readFragmentA([&](int lane) { return op.registersA[lane]; },
                  op.elementBytes, a);
  } else {
    readOperand(block, decodeHopper(op.a, op.majorA, op.elementBytes),
                op.firstRow, kFragmentRows, op.depth, a, op.depth, 1);
  }
  readOperand(block, decodeHopper(op.b, op.majorB, op.elementBytes), 0,
              op.columns, op.depth, b, 1, op.columns);
  if (!op.add) {
    std::fill(d, d + kFragmentRows * op.columns, 0.0f);
  }
  multiply(d, a, b, kFragmentRows, op.columns, op.depth);
}

/// The accumulator of an operation, moved out of the lanes' registers and
/// replaced there by NaN, unless an operation in flight has it already.
inline std::vector<float> &takeAccumulator(WaveState &wave, const Wgmma &op) {
  auto [found, isNew] = wave.accumulators.try_emplace(op.d[0]);
  std::vector<float> &d = found->second;
  if (isNew) {
    d.resize(size_t(kFragmentRows) * op.columns);
    forEachAccumulator(op.columns, [&](int lane, int r, int row, int column) {
      d[row * op.columns + column] = op.d[lane][r];
      op.d[lane][r] = std::bit_cast<float>(~0u);
    });
  }
  return d;
}

inline void giveAccumulator(WaveState &wave, const Wgmma &op) {
  auto found = wave.accumulators.find(op.d[0]);
  const std::vector<float> &d = found->second;
  forEachAccumulator(op.columns, [&](int lane, int r, int row, int column) {
    op.d[lane][r] = d[row * op.columns + column];
  });
  wave.accumulators.erase(found);
}

/// All four waves of a group must issue the same operations.
inline void compareWithGroup(WaveState &wave, const Wgmma &op) {
  std::vector<uint64_t> &log = blockState().issued[waveIndex() / 4];
  uint64_t hash = 0;
  for (uint64_t part :
       {op.a, op.b, uint64_t(op.columns), uint64_t(op.elementBytes),
        uint64_t(op.majorA), uint64_t(op.majorB), uint64_t(op.add)}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull + 1;
  }
  if (wave.issued == log.size()) {
    log.push_back(hash);
  } else if (log[wave.issued] != hash) {
    fail(
        "the waves of a group issue different wgmma (descriptors, shape, add)");
  }
  ++wave.issued;
}

/// What one lane brings to a wgmma.
struct WgmmaOperands {
  float *d;
  const uint32_t *a;
  uint64_t descriptorA, descriptorB;
  bool add;
};

inline void issueWgmma(Wgmma op, const WgmmaOperands &operands) {
  collective<char>("wgmma", operands, [&](auto in, auto) {
    Unseen unseen;
    WaveState &wave = waveState();
    for (int lane = 0; lane < kWaveSize; ++lane) {
      if (in[lane].descriptorA != in[0].descriptorA ||
          in[lane].descriptorB != in[0].descriptorB ||
          in[lane].add != in[0].add) {
        fail("wgmma: descriptors or add differ between lanes of a wave");
      }
      op.d[lane] = in[lane].d;
      op.registersA[lane] = in[lane].a;
    }
    if (!wave.fenced) {
      fail("wgmma without wgmmaFence since the last wait");
    }
    op.a = in[0].descriptorA;
    op.b = in[0].descriptorB;
    op.add = in[0].add;
    op.firstRow = waveIndex() % 4 * kFragmentRows;
    op.group = wave.group;
    compareWithGroup(wave, op);
    std::vector<float> &d = takeAccumulator(wave, op);
    if (lateMatrix()) {
      wave.wgmmas.push_back(op);
    } else {
      runWgmma(*self().block, op, d.data());
      giveAccumulator(wave, op);
    }
  });
}

/// Finishes all but `pending` groups of the wave.
inline void waitWgmma(uint32_t pending) {
  collective<char>("wgmmaWait", char(0), [=](auto, auto) {
    Unseen unseen;
    WaveState &wave = waveState();
    wave.fenced = false;
    while (!wave.wgmmas.empty() &&
           wave.wgmmas.front().group + pending < wave.group) {
      Wgmma op = wave.wgmmas.front();
      wave.wgmmas.pop_front();
      runWgmma(*self().block, op, wave.accumulators.at(op.d[0]).data());
      if (std::none_of(
              wave.wgmmas.begin(), wave.wgmmas.end(),
              [&](const Wgmma &other) { return other.d[0] == op.d[0]; })) {
        giveAccumulator(wave, op);
      }
    }
  });
}

/// What a wait names must not be an accumulator in flight any more.
inline void checkReadable(const void *array) {
  if (waveState().accumulators.count(array)) {
    fail("wgmmaWait names an accumulator that an operation still writes");
  }
}

} // namespace emulator::nvidia

namespace modelc {

/// The emulator computes in the order of the text.
DEV void holdBack(float) {}
DEV void makeHere(uint32_t &) {}
DEV void makeHere(float &) {}

DEV void loadMatrix4(uint32_t (&r)[4], const void *row) {
  auto words = emulator::nvidia::loadMatrix4("loadMatrix4", row, false);
  std::memcpy(r, words.r, sizeof r);
}
DEV void loadMatrix4Transposed(uint32_t (&r)[4], const void *row) {
  auto words =
      emulator::nvidia::loadMatrix4("loadMatrix4Transposed", row, true);
  std::memcpy(r, words.r, sizeof r);
}
DEV void mmaBf16(float (&d)[4], const uint32_t (&a)[4],
                 const uint32_t (&b)[2]) {
  auto result = emulator::nvidia::mma(
      "mmaBf16", 2,
      {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {d[0], d[1], d[2], d[3]}});
  std::memcpy(d, result.d, sizeof d);
}
DEV void mmaFp8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  auto result = emulator::nvidia::mma(
      "mmaFp8", 1,
      {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {d[0], d[1], d[2], d[3]}});
  std::memcpy(d, result.d, sizeof d);
}

DEV void wgmmaFence() {
  emulator::collective<char>("wgmmaFence", char(0), [](auto, auto) {
    emulator::nvidia::waveState().fenced = true;
  });
}
DEV void wgmmaCommit() {
  emulator::collective<char>("wgmmaCommit", char(0), [](auto, auto) {
    ++emulator::nvidia::waveState().group;
  });
}
template <int Pending, class... Arrays>
DEV void wgmmaWait(Arrays &...arrays) {
  emulator::nvidia::waitWgmma(Pending);
  if (emulator::self().lane == 0) {
    (emulator::nvidia::checkReadable(arrays), ...);
  }
}

template <int N>
constexpr void checkWgmmaColumns() {
  static_assert(N == 8 || N == 16 || N == 32 || N == 64 || N == 128 || N == 256,
                "expected 8, 16, 32, 64, 128 or 256 columns");
}
template <int N, Major MajorA = Major::K, Major MajorB = Major::K>
DEV void wgmmaBf16(float (&d)[N / 2], uint64_t a, uint64_t b, bool add) {
  checkWgmmaColumns<N>();
  emulator::nvidia::issueWgmma({.columns = N,
                                .depth = 16,
                                .elementBytes = 2,
                                .majorA = MajorA,
                                .majorB = MajorB},
                               {d, nullptr, a, b, add});
}
template <int N, Major MajorB = Major::K>
DEV void wgmmaBf16(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,
                   bool add) {
  checkWgmmaColumns<N>();
  emulator::nvidia::issueWgmma(
      {.columns = N, .depth = 16, .elementBytes = 2, .majorB = MajorB},
      {d, a, 0, b, add});
}
template <int N>
DEV void wgmmaFp8(float (&d)[N / 2], uint64_t a, uint64_t b, bool add) {
  checkWgmmaColumns<N>();
  emulator::nvidia::issueWgmma({.columns = N, .depth = 32, .elementBytes = 1},
                               {d, nullptr, a, b, add});
}
template <int N>
DEV void wgmmaFp8(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,
                  bool add) {
  checkWgmmaColumns<N>();
  emulator::nvidia::issueWgmma({.columns = N, .depth = 32, .elementBytes = 1},
                               {d, a, 0, b, add});
}

} // namespace modelc

#endif // TARGETS_EMULATOR_NVIDIAMATRIX_H
