// Every matrix instruction that has its result in registers.
#include "check.h"

namespace modelc {
namespace {

/// d[16, 8] = 1 + a b^T by mma, fragments loaded with ldmatrix; b from rows of n,
/// or (Transposed) from rows of k.
template <bool Transposed>
void testMmaBf16() {
  Matrix a(16, 32, 2), b(8, 32, 2);
  emulator::Allocation<float> d(16 * 8);
  runBlock("mmaBf16", 32, [&] {
    DYNAMIC_SHARED(memory);
    const int lane = laneId(), row = lane / 4, column = lane % 4 * 2;
    for (int i = lane; i < 16 * 32 * 2; i += 32) {
      memory[i] = a.pointer()[i];
    }
    for (int i = lane; i < 8 * 32; i += 32) {
      const int n = i / 32, k = i % 32;
      std::memcpy(memory + 1024 + (Transposed ? k * 8 + n : n * 32 + k) * 2, b.unit(n, k), 2);
    }
    syncWave();
    float sum[4] = {1, 1, 1, 1};
    uint32_t fragmentA[4], fragmentsB[4];
    if (Transposed) { // 4 matrices of 8 k x 8 n
      loadMatrix4Transposed(fragmentsB, memory + 1024 + lane * 16);
    } else { // 4 matrices of 8 n x 8 k
      loadMatrix4(fragmentsB, memory + 1024 + lane % 8 * 64 + lane / 8 * 16);
    }
    for (int step = 0; step < 2; ++step) {
      loadMatrix4(fragmentA, memory + lane % 16 * 64 + step * 32 + lane / 16 * 16);
      const uint32_t fragmentB[2] = {fragmentsB[step * 2], fragmentsB[step * 2 + 1]};
      mmaBf16(sum, fragmentA, fragmentB);
    }
    for (int r = 0; r < 4; ++r) {
      d[(row + r / 2 * 8) * 8 + column + r % 2] = sum[r];
    }
  });
  check(Transposed ? "mmaBf16, loadMatrix4Transposed" : "mmaBf16, loadMatrix4", a, b, d, 1);
}

/// The registers of an A fragment of 16 rows x 32 bytes, after the PTX manual.
void fragmentOfA(uint32_t (&r)[4], const Matrix &a, int firstRow, int step) {
  const int lane = laneId(), perWord = 4 / a.elementBytes;
  for (int i = 0; i < 4; ++i) {
    r[i] = a.word(firstRow + lane / 4 + (i & 1 ? 8 : 0), (step * 8 + lane % 4 + (i & 2 ? 4 : 0)) * perWord);
  }
}

void testMmaFp8() {
  Matrix a(16, 32, 1), b(8, 32, 1);
  emulator::Allocation<float> d(16 * 8);
  runBlock("mmaFp8", 32, [&] {
    const int lane = laneId();
    float sum[4] = {1, 1, 1, 1};
    uint32_t fragmentA[4];
    fragmentOfA(fragmentA, a, 0, 0);
    const uint32_t fragmentB[2] = {b.word(lane / 4, lane % 4 * 4), b.word(lane / 4, 16 + lane % 4 * 4)};
    mmaFp8(sum, fragmentA, fragmentB);
    for (int r = 0; r < 4; ++r) {
      d[(lane / 4 + r / 2 * 8) * 8 + lane % 4 * 2 + r % 2] = sum[r];
    }
  });
  check("mmaFp8", a, b, d, 1);
}

/// Which operands stand where.
struct Form {
  const char *name;
  int elementBytes;
  Major majorA, majorB;
  bool aInRegisters;
};
constexpr Form kForms[] = {{"wgmmaBf16", 2, Major::K, Major::K, false},
                           {"wgmmaBf16, A transposed", 2, Major::MN, Major::K, false},
                           {"wgmmaBf16, B transposed", 2, Major::K, Major::MN, false},
                           {"wgmmaBf16, both transposed", 2, Major::MN, Major::MN, false},
                           {"wgmmaBf16, A in registers", 2, Major::K, Major::K, true},
                           {"wgmmaBf16, A in registers, B transposed", 2, Major::K, Major::MN, true},
                           {"wgmmaFp8", 1, Major::K, Major::K, false},
                           {"wgmmaFp8, A in registers", 1, Major::K, Major::K, true}};

uint64_t tileDescriptor(const char *tile, Major major) {
  return sharedDescriptorHopper(sharedAddress(tile), 1024, major == Major::K ? 16 : 64 * 128);
}

/// d[64, N] = start + a b^T over 128 bytes of k, by one group of four waves.
template <int N, int F>
void multiplyGroup(const Matrix &a, const Matrix &b, float *d, float start) {
  constexpr Form form = kForms[F];
  constexpr int stepA = form.majorA == Major::K ? 32 : 2048, stepB = form.majorB == Major::K ? 32 : 2048;
  DYNAMIC_SHARED(memory);
  char *tileA = memory, *tileB = memory + 16384;
  form.majorA == Major::K ? placeKMajor(tileA, a) : placeMnMajor(tileA, a);
  form.majorB == Major::K ? placeKMajor(tileB, b) : placeMnMajor(tileB, b);
  fenceAsyncShared();
  sync();
  const uint64_t whereA = tileDescriptor(tileA, form.majorA), whereB = tileDescriptor(tileB, form.majorB);
  float sum[N / 2];
  uint32_t fragment[4][4];
  for (int i = 0; i < N / 2; ++i) {
    sum[i] = start;
  }
  wgmmaFence();
  for (int step = 0; step < 4; ++step) {
    const uint64_t stepOfA = advanceDescriptor(whereA, uint32_t(step * stepA));
    const uint64_t stepOfB = advanceDescriptor(whereB, uint32_t(step * stepB));
    const bool add = step > 0 || start != 0;
    fragmentOfA(fragment[step], a, waveId() * 16, step);
    if constexpr (form.elementBytes == 1 && form.aInRegisters) {
      wgmmaFp8<N>(sum, fragment[step], stepOfB, add);
    } else if constexpr (form.elementBytes == 1) {
      wgmmaFp8<N>(sum, stepOfA, stepOfB, add);
    } else if constexpr (form.aInRegisters) {
      wgmmaBf16<N, form.majorB>(sum, fragment[step], stepOfB, add);
    } else {
      wgmmaBf16<N, form.majorA, form.majorB>(sum, stepOfA, stepOfB, add);
    }
  }
  wgmmaCommit();
  wgmmaWait<0>(sum);
  for (int i = 0; i < N / 2; ++i) {
    const int row = waveId() * 16 + laneId() / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + laneId() % 4 * 2 + i % 2;
    d[row * N + column] = sum[i];
  }
}

template <int N, int F>
void testWgmma() {
  Matrix a(64, 128 / kForms[F].elementBytes, kForms[F].elementBytes),
      b(N, 128 / kForms[F].elementBytes, kForms[F].elementBytes);
  emulator::Allocation<float> d(64 * N);
  for (float start : {0.0f, 0.5f}) {
    runBlock(kForms[F].name, 128, [&] { multiplyGroup<N, F>(a, b, d.data(), start); });
    check(std::string(kForms[F].name) + ", " + std::to_string(N) + (start != 0 ? " columns, added" : " columns"), a, b,
          d, start);
  }
}

template <int F>
void testForm() {
  testWgmma<8, F>();
  testWgmma<16, F>();
  testWgmma<32, F>();
  testWgmma<64, F>();
  testWgmma<128, F>();
  testWgmma<256, F>();
}

} // namespace
} // namespace modelc

int main() {
  using namespace modelc;
  testMmaBf16<false>();
  testMmaBf16<true>();
  testMmaFp8();
  testForm<0>();
  testForm<1>();
  testForm<2>();
  testForm<3>();
  testForm<4>();
  testForm<5>();
  testForm<6>();
  testForm<7>();
  return failures != 0;
}
