// Every instruction of tensor memory, and the words of all descriptors.
#include "check.h"

namespace modelc {

// As CuTe makes them: a K-major tile of 128-byte rows at 0x12340, and the
// instruction of 128 x 64 bf16.
static_assert(sharedDescriptorBlackwell(0x12340) == 0x4000404000011234);
static_assert(tensorInstructionBf16(128, 64) == 0x08100490);
static_assert(sharedDescriptorHopper(0x12340) == 0x4000004000011234);
// PTX ISA, .kind::mxf4: e2m1 = 1 in bits 7 and 10, N / 8 from 17, the type of
// scales in 23, M / 16 from 24, the first scale of B from 4, of A from 29.
static_assert(tensorInstructionFp4(128, 256, ScaleType::E4M3, 0) == 0x08400480);
static_assert(tensorInstructionFp4(128, 128, ScaleType::E8M0, 2) == 0x48A004A0);
// .kind::mxf8f6f4: e4m3 = 0 in bits 7 and 10, the others alike.
static_assert(tensorInstructionMx8(128, 128, 3) == 0x68A00030);

namespace {

struct Form {
  const char *name;
  int elementBytes;
  Major majorA, majorB;
  bool aInTensor;
};
constexpr Form kForms[] = {{"tensorMmaBf16", 2, Major::K, Major::K, false},
                           {"tensorMmaBf16, A transposed", 2, Major::MN, Major::K, false},
                           {"tensorMmaBf16, B transposed", 2, Major::K, Major::MN, false},
                           {"tensorMmaBf16FromTensor", 2, Major::K, Major::K, true},
                           {"tensorMmaFp8", 1, Major::K, Major::K, false},
                           {"tensorMmaFp8, B transposed", 1, Major::K, Major::MN, false},
                           {"tensorMmaFp8FromTensor", 1, Major::K, Major::K, true}};

struct Shared {
  Barrier done;
  uint32_t tensor;
};

/// Puts rows of `a`, 128 bytes each, into tensor memory: row = lane.
void placeInTensor(uint32_t tensor, const Matrix &a) {
  const int row = waveId() * 32 + laneId();
  uint32_t words[32];
  for (int i = 0; i < 32; ++i) {
    words[i] = a.word(row, i * 4 / a.elementBytes);
  }
  tensorStore(tensor + uint32_t(waveId() * 32 << 16), words);
  tensorWaitStores();
}

void issue(const Form &form, uint32_t tensor, uint32_t tensorA, const char *tileA, const char *tileB, int rows, int n,
           bool add) {
  const int depth = 32 / form.elementBytes, columns = 128 / form.elementBytes;
  const int stepA = form.majorA == Major::K ? 32 : depth * 128, stepB = form.majorB == Major::K ? 32 : depth * 128;
  auto descriptorOf = [&](const char *tile, Major major) {
    return sharedDescriptorBlackwell(sharedAddress(tile), 1024, major == Major::K ? 16u : uint32_t(columns * 128));
  };
  const uint64_t whereA = descriptorOf(tileA, form.majorA), whereB = descriptorOf(tileB, form.majorB);
  for (int step = 0; step < 4; ++step) {
    const uint64_t a = advanceDescriptor(whereA, uint32_t(step * stepA));
    const uint64_t b = advanceDescriptor(whereB, uint32_t(step * stepB));
    if (form.elementBytes == 1) {
      const uint32_t instruction = tensorInstructionFp8(uint32_t(rows), uint32_t(n), form.majorA, form.majorB);
      if (form.aInTensor) {
        tensorMmaFp8FromTensor(tensor, tensorA + uint32_t(step * 8), b, instruction, add || step > 0);
      } else {
        tensorMmaFp8(tensor, a, b, instruction, add || step > 0);
      }
    } else {
      const uint32_t instruction = tensorInstructionBf16(uint32_t(rows), uint32_t(n), form.majorA, form.majorB);
      if (form.aInTensor) {
        tensorMmaBf16FromTensor(tensor, tensorA + uint32_t(step * 8), b, instruction, add || step > 0);
      } else {
        tensorMmaBf16(tensor, a, b, instruction, add || step > 0);
      }
    }
  }
}

/// Each wave reads its lanes in chunks of Chunk columns.
template <int Chunk>
void readResult(uint32_t tensor, float *d, int rows, int n) {
  const int lane = laneId();
  for (int first = 0; first < n; first += Chunk) {
    float sums[Chunk];
    tensorLoad(sums, tensor + uint32_t(waveId() * 32 << 16) + uint32_t(first));
    tensorWaitLoads(sums);
    const int row = rows == 128 ? waveId() * 32 + lane : waveId() * 16 + lane;
    for (int i = 0; i < Chunk && (rows == 128 || lane < 16); ++i) {
      d[row * n + first + i] = sums[i];
    }
  }
}

template <int Chunk>
void multiplyBlock(const Form &form, const Matrix &a, const Matrix &b, float *d) {
  DYNAMIC_SHARED(memory);
  SHARED(Shared, shared, 1);
  char *tileA = memory, *tileB = memory + 32768;
  form.majorA == Major::K ? placeKMajor(tileA, a) : placeMnMajor(tileA, a);
  form.majorB == Major::K ? placeKMajor(tileB, b) : placeMnMajor(tileB, b);
  if (waveId() == 0) {
    tensorAlloc<512>(&shared[0].tensor);
    tensorRelinquish();
  }
  if (threadId() == 0) {
    initBarrier(shared[0].done, 1);
    fenceBarrierInit();
  }
  fenceAsyncShared();
  tensorFenceBefore();
  sync();
  tensorFenceAfter();
  const uint32_t tensor = shared[0].tensor, tensorA = tensor + 256;
  if (form.aInTensor) {
    placeInTensor(tensorA, a);
    tensorFenceBefore();
    sync();
    tensorFenceAfter();
  }
  if (waveId() == 0 && elect()) { // twice: 2 a b^T
    issue(form, tensor, tensorA, tileA, tileB, a.rows, b.rows, false);
    issue(form, tensor, tensorA, tileA, tileB, a.rows, b.rows, true);
    tensorCommit(shared[0].done);
  }
  syncWave();
  waitParity(shared[0].done, 0);
  tensorFenceAfter();
  readResult<Chunk>(tensor, d, a.rows, b.rows);
  tensorFenceBefore();
  sync();
  if (waveId() == 0) {
    tensorFree<512>(tensor);
  }
}

template <int Chunk>
void testTensor(const Form &form, int rows, int n) {
  Matrix a(rows, 128 / form.elementBytes, form.elementBytes), b(n, 128 / form.elementBytes, form.elementBytes);
  emulator::Allocation<float> d(size_t(rows) * n);
  runBlock(form.name, 128, [&] { multiplyBlock<Chunk>(form, a, b, d.data()); });
  for (float &sum : d) {
    sum /= 2;
  }
  check(std::string(form.name) + ", " + std::to_string(rows) + " x " + std::to_string(n), a, b, d, 0);
}

} // namespace
} // namespace modelc

int main() {
  using namespace modelc;
  for (const Form &form : kForms) {
    testTensor<16>(form, 128, 16);
    testTensor<8>(form, 128, 48);
    testTensor<64>(form, 128, 256);
    if (!form.aInTensor) {
      testTensor<8>(form, 64, 8);
      testTensor<32>(form, 64, 256);
    }
  }
  return failures != 0;
}
