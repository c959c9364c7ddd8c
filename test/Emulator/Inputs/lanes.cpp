// Runs lanes.hip and checks every result against its definition.
#include "lanes.hip"

#include "compare.h"

using namespace emulator;

static Device device;

static Shape oneWave(const char *name) {
  return {.kernel = name, .grid = {}, .block = {64}};
}

static void testShuffles() {
  Allocation<int> out(640);
  Allocation<double> wide(64);
  run(device, oneWave("shuffles"), modelc::shuffles, out.data(), wide.data());
  std::vector<double> expected, expectedWide;
  for (int l = 0; l < 64; ++l) {
    for (int mask : {1, 3, 4, 6, 8, 16, 32, 63}) {
      expected.push_back(l ^ mask);
    }
    expected.push_back(l * 5 % 64);
    expected.push_back(100);
    expectedWide.push_back((l ^ 33) + 0.5);
  }
  compare("shuffles", out, expected, 0);
  compare("wide shuffle", wide, expectedWide, 0);
}

static void testRagged() {
  constexpr int kBytes = 64 * modelc::kCopyBytes, kStart = 16;
  for (int inside : {kBytes, 32 * modelc::kCopyBytes, 0}) {
    Allocation<uint8_t> from(kStart + inside), to(kBytes + 160);
    for (uint8_t &byte : from) {
      byte = uint8_t(randomBelow(255) + 1);
    }
    run(device, oneWave("ragged"), modelc::ragged, from.data(), to.data(),
        kStart, kStart + inside);
    std::vector<double> expected(kBytes + 160);
    for (int i = 0; i < inside; ++i) {
      expected[i] = from[kStart + i];
    }
    for (int i = 0; i < std::min(inside, 160); ++i) {
      expected[kBytes + i] = from[kStart + i];
    }
    compare("ragged", to, expected, 0);
  }
}

#if MODELC_CHIP >= 950
static void testTransposed() {
  Allocation<uint16_t> from(256), to(256);
  std::vector<double> expected(256);
  for (int i = 0; i < 256; ++i) {
    from[i] = uint16_t(i);
    int lane = i / 4, row = lane / 16 * 4 + i % 4;
    expected[i] = row * 16 + lane % 16;
  }
  run(device, oneWave("transposed"), modelc::transposed, from.data(),
      to.data());
  compare("transposed", to, expected, 0);
}

static void testTransposed8() {
  Allocation<uint8_t> from(512), to(512);
  std::vector<double> expected(512);
  for (int i = 0; i < 512; ++i) {
    from[i] = uint8_t(i * 7 + i / 256);
  }
  for (int i = 0; i < 512; ++i) {
    int lane = i / 8, row = lane / 16 * 8 + i % 8;
    expected[i] = from[row * 16 + lane % 16];
  }
  run(device, oneWave("transposed8"), modelc::transposed8, from.data(),
      to.data());
  compare("transposed8", to, expected, 0);
}
#endif

static void testConversions() {
  constexpr bool kNew = MODELC_CHIP >= 950;
  Allocation<float> x(256), back(1024);
  Allocation<uint32_t> packed(256);
  for (int i = 0; i < 256; ++i) {
    x[i] = std::ldexp(randomNormal(), int(randomBelow(24)) - 8);
  }
  x[0] = 1e30f;
  x[1] = -1e30f;
  run(device, oneWave("conversions"), modelc::conversions, x.data(),
      packed.data(), back.data());
  std::vector<double> fp8, bf8, fp4, bf16, gotFp8, gotBf8, gotFp4, gotBf16;
  for (int l = 0; l < 64; ++l) {
    for (int i = 0; i < 4; ++i) {
      const Format &small = kNew ? kE4M3 : kE4M3Fnuz;
      const Format &wide = kNew ? kE5M2 : kE5M2Fnuz;
      float v = x[l * 4 + i];
      fp8.push_back(decode(small, encode(small, v, Overflow::Saturate)));
      bf8.push_back(decode(wide, encode(wide, v, Overflow::Saturate)));
      fp4.push_back(kNew ? 4.0f * decode(kE2M1, encode(kE2M1, -v / 4.0f))
                         : 0.0f);
      gotFp8.push_back(back[l * 16 + i]);
      gotBf8.push_back(back[l * 16 + 4 + i]);
      gotFp4.push_back(back[l * 16 + 8 + i]);
    }
    for (int i = 0; i < 2; ++i) {
      bf16.push_back(fromBf16(emulator::toBf16(x[l * 4 + i])));
      gotBf16.push_back(back[l * 16 + 12 + i]);
    }
  }
  compare("fp8", gotFp8, fp8, 0);
  compare("bf8", gotBf8, bf8, 0);
  compare("fp4", gotFp4, fp4, 0);
  compare("bf16", gotBf16, bf16, 0);
  std::printf("largest fp8: %g\n", double(back[0]));
}

static void testCounting() {
  Allocation<float> sum(1);
  Allocation<unsigned> count(1);
  Allocation<uint64_t> largest(1);
  Allocation<uint32_t> pair(1);
  sum[0] = 0;
  count[0] = 0;
  largest[0] = 0;
  pair[0] = 0;
  run(device, {.kernel = "counting", .grid = {1}, .block = {128}},
      modelc::counting, sum.data(), count.data(), largest.data(), pair.data());
  std::vector<double> got = {sum[0], double(count[0]), double(largest[0]),
                             fromBf16(uint16_t(pair[0])),
                             fromBf16(uint16_t(pair[0] >> 16))};
  compare("counting", got, {64, 128, 127, 128, 256}, 0);
}

int main() {
  testShuffles();
  testRagged();
#if MODELC_CHIP >= 950
  testTransposed();
  testTransposed8();
#endif
  testConversions();
  testCounting();
  return wrongResults;
}
