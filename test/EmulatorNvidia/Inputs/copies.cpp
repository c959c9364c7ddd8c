// Copies, barriers, shuffles, atomics, flags and conversions of numbers.
#include "check.h"

#include <set>

namespace modelc {
namespace {

constexpr int kWidth = 40, kHeight = 20, kDepth = 3; // elements of 16 bits

TensorMap mapOf(uint16_t *base, int rank, uint32_t boxWidth, uint32_t boxHeight, int swizzle) {
  TensorMap map;
  const uint64_t sizes[] = {kWidth, kHeight, kDepth};
  const uint64_t strides[] = {kWidth * 2, kWidth * kHeight * 2};
  const uint32_t box[] = {boxWidth, boxHeight, 2}, ones[] = {1, 1, 1};
  if (emulator::nvidia::encodeTensorMap(&map, 1, uint32_t(rank), base, sizes, strides, box, ones, 0, swizzle, 0, 0)) {
    std::exit(4);
  }
  return map;
}

/// Where element (x, y) of a box lies in shared memory: rows of `span` bytes.
int elementByte(int x, int y, int span) {
  const int byte = y * span + x * 2, unit = byte / 16, row = byte / 128;
  return (span == 16 ? unit : unit ^ row % (span / 16)) * 16 + byte % 16;
}

/// Loads the box at (x, y, z), checks every element, and stores it elsewhere.
void testBox(int rank, int swizzle, int x, int y, int z) {
  const int span = swizzle == 0 ? 16 : 16 << swizzle, boxWidth = span / 2, boxHeight = 8, layers = rank == 3 ? 2 : 1;
  emulator::Allocation<uint16_t> from(kWidth * kHeight * kDepth), to(from.size()), seen(size_t(span * 8));
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = uint16_t(i + 1);
    to[i] = 0;
  }
  const TensorMap source = mapOf(from.data(), rank, uint32_t(boxWidth), uint32_t(boxHeight), swizzle);
  const TensorMap target = mapOf(to.data(), rank, uint32_t(boxWidth), uint32_t(boxHeight), swizzle);
  const int bytes = span * boxHeight * layers;
  runBlock("box", 32, [&] {
    DYNAMIC_SHARED(memory);
    SHARED(Barrier, full, 1);
    if (threadId() == 0) {
      initBarrier(full[0], 1);
      fenceBarrierInit();
      arriveExpect(full[0], bytes);
      rank == 2 ? loadBox(memory, source, x, y, full[0]) : loadBox(memory, source, x, y, z, full[0]);
    }
    syncWave();
    waitParity(full[0], 0);
    if (threadId() == 0) {
      std::memcpy(seen.data(), memory, size_t(bytes));
      rank == 2 ? storeBox(target, memory, x, y) : storeBox(target, memory, x, y, z);
      commitStores();
      waitStores<0>();
    }
  });
  bool right = true;
  auto inside = [&](int i, int j, int k) {
    return i >= 0 && i < kWidth && j >= 0 && j < kHeight && k >= 0 && k < (rank == 3 ? kDepth : 1);
  };
  std::set<int> written;
  for (int i = 0; i < boxWidth; ++i) {
    for (int j = 0; j < boxHeight * layers; ++j) {
      const int gx = x + i, gy = y + j % boxHeight, gz = (rank == 3 ? z : 0) + j / boxHeight;
      const int index = (gz * kHeight + gy) * kWidth + gx;
      const int expected = inside(gx, gy, gz) ? index + 1 : 0;
      right &= seen[size_t(elementByte(i, j, span) / 2)] == expected;
      if (expected) {
        written.insert(index);
      }
    }
  }
  for (size_t i = 0; i < to.size(); ++i) {
    right &= to[i] == (written.count(int(i)) ? from[i] : 0);
  }
  char what[80];
  std::snprintf(what, sizeof what, "box of rank %d, swizzle %d at (%d, %d, %d)", rank, swizzle, x, y, z);
  expect(what, right);
}

void testCopies() {
  emulator::Allocation<uint32_t> from(32 * 4), to(32 * 8);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = uint32_t(i * 7 + 1);
  }
  runBlock("copies", 32, [&] {
    DYNAMIC_SHARED(memory);
    SHARED(Barrier, barriers, 2);
    const int lane = laneId();
    if (lane == 0) {
      initBarrier(barriers[0], 32);
      initBarrier(barriers[1], 1);
      fenceBarrierInit();
    }
    syncWave();
    copyAsync16(memory + lane * 16, from.data() + lane * 4, lane % 2 == 0);
    commitCopies();
    copyAsync16(memory + 1024 + lane * 16, from.data() + lane * 4);
    commitCopies();
    waitCopies<1>();
    syncWave();
    storeNontemporal(reinterpret_cast<u32x4 *>(to.data()) + lane, *reinterpret_cast<u32x4 *>(memory + lane * 16));
    arriveAfterCopies(barriers[0]);
    waitParity(barriers[0], 0);
    bool right = std::memcmp(memory + 1024, from.data(), 512) == 0;
    if (lane == 0) {
      arriveExpect(barriers[1], 512);
      loadBulk(memory + 2048, from.data(), 512, barriers[1]);
    }
    syncWave();
    waitParity(barriers[1], 0);
    right &= std::memcmp(memory + 2048, from.data(), 512) == 0;
    to[size_t(128 + lane)] = right;
  });
  bool right = true;
  for (size_t i = 0; i < 128; ++i) {
    right &= to[i] == (i / 4 % 2 == 0 ? from[i] : 0) && to[128 + i / 4] == 1;
  }
  expect("copies of 16 bytes and bulk copies", right);
}

void testLanes() {
  emulator::Allocation<uint32_t> sums(4), right(128);
  sums[0] = sums[1] = sums[2] = sums[3] = 0;
  runBlock("lanes", 128, [&] {
    const int lane = laneId(), thread = threadId();
    bool good = shuffleXor(thread, 5) == (thread ^ 5) && shuffleXor<9>(thread) == (thread ^ 9);
    good &= shuffle(double(thread), 31 - lane) == double(waveId() * 32 + 31 - lane);
    good &= readFirstLane(thread) == waveId() * 32 && uniform(waveId()) == waveId();
    good &= elect() == (lane == 0);
    atomicAdd(reinterpret_cast<float *>(sums.data()), 0.5f);
    atomicAdd(sums.data() + 1, 3u);
    atomicMax(reinterpret_cast<uint64_t *>(sums.data() + 2), uint64_t(thread) << 30);
    if (waveId() < 2) {
      syncGroup<1, 64>();
    }
    sync();
    right[size_t(thread)] = good && workgroupId() == 0 && workgroupCount() == 1;
  });
  uint64_t largest;
  std::memcpy(&largest, sums.data() + 2, 8);
  bool all = std::bit_cast<float>(sums[0]) == 64 && sums[1] == 384 && largest == uint64_t(127) << 30;
  for (uint32_t good : right) {
    all &= good == 1;
  }
  expect("lanes, atomics, named barriers", all);
}

/// Two devices that pass a value back and forth.
void testFlags() {
  static emulator::Device devices[2] = {{.waveSize = 32}, {.waveSize = 32}};
  emulator::Allocation<uint32_t> flags(2), values(2);
  flags[0] = flags[1] = values[0] = values[1] = 0;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    emulator::launchBody(devices[rank], {.kernel = "flags", .grid = {1}, .block = {32}}, [&, rank] {
      for (uint32_t round = 1; threadId() == 0 && round <= 5; ++round) {
        values[rank] += round * (rank + 1);
        storeRelease(flags.data() + rank, round * 2 - 1);
        waitForFlag(flags.data() + 1 - rank, round * 2 - 1);
        uint32_t other = values[1 - rank];
        storeRelease(flags.data() + rank, round * 2);
        waitForFlag(flags.data() + 1 - rank, round * 2);
        values[rank] += other;
      }
    });
  }
  emulator::synchronize();
  uint32_t expected[2] = {0, 0};
  for (uint32_t round = 1; round <= 5; ++round) {
    expected[0] += round, expected[1] += round * 2;
    expected[0] = expected[1] = expected[0] + expected[1];
  }
  expect("flags between devices", values[0] == expected[0] && values[1] == expected[1]);
}

/// The nearest of all codes by distance, ties to the even code.
template <typename Code, typename ToDouble>
Code nearest(double value, int codes, ToDouble toDouble) {
  Code best = 0;
  double distance = INFINITY;
  for (int code = 0; code < codes; ++code) {
    double d = std::fabs(toDouble(Code(code)) - value);
    if (d < distance || (d == distance && code % 2 == 0)) {
      distance = d;
      best = Code(code);
    }
  }
  return best;
}

void testNumbers() {
  Matrix codes(1, 256, 1);
  for (int i = 0; i < 256; ++i) {
    codes.bytes[size_t(i)] = uint8_t(i);
  }
  bool fp8 = true, bf = true;
  std::mt19937 random(3);
  auto exact = [&](uint8_t code) { return codes.at(0, code); };
  for (int i = 0; i < 127; ++i) { // every code, the middle to the next, and beside it
    const double low = exact(uint8_t(i)), high = i < 126 ? exact(uint8_t(i + 1)) : 480;
    fp8 &= double(unpackFp8(uint16_t(i | i << 8))[1]) == low;
    for (double x : {low, (low + high) / 2, (low + high) / 2 * 1.0001, (low + high) / 2 * 0.9999}) {
      const uint8_t expected = nearest<uint8_t>(double(float(x)), 127, exact);
      fp8 &= packFp8(float(x), -float(x)) == (expected | (expected | 0x80) << 8);
    }
  }
  fp8 &= packFp8(1e30f, -INFINITY) == 0xFE7E && (packFp8(NAN, 0.0f) & 0x7F) == 0x7F;
  for (int i = 0; i < 0x10000; ++i) {
    const float x = unpackBf16(uint32_t(i))[0];
    bf &= x != x || packBf16(x, -x) == (uint32_t(i) | uint32_t(i ^ 0x8000) << 16);
  }
  for (int i = 0; i < 100000; ++i) {
    const float x = std::bit_cast<float>(uint32_t(random()) % 0x7F000000);
    const float down = toFloat({uint16_t(asBits(x) >> 16)}), up = toFloat({uint16_t((asBits(x) >> 16) + 1)});
    const double below = double(x) - double(down), above = double(up) - double(x);
    const bool even = (asBits(x) >> 16) % 2 == 0;
    bf &= toFloat(toBf16(x)) == (below < above || (below == above && even) ? down : up);
  }
  expect("numbers of 8 bits", fp8);
  expect("numbers of 16 bits", bf);
}

} // namespace
} // namespace modelc

int main() {
  using namespace modelc;
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    testBox(2, swizzle, 0, 0, 0);
    testBox(2, swizzle, 35, 15, 0);
    testBox(2, swizzle, -3, -2, 0);
    testBox(3, swizzle, 8, 16, 1);
    testBox(3, swizzle, 8, 4, 2);
  }
  testCopies();
  testLanes();
  testFlags();
  testNumbers();
  return failures != 0;
}
