// Runs alu.hip with random numbers.
#include "alu.hip"

#include <random>

using namespace emulator;

static std::mt19937 generator(11);
static Device device;

template <typename T>
static void fillIntegers(T &to) {
  for (auto &x : to) {
    unsigned bits = generator() % 32;
    x = int(generator()) >> bits;
  }
}
template <typename T>
static void fillFloats(T &to) {
  for (auto &x : to) {
    x = std::normal_distribution<float>()(generator) *
        std::ldexp(1.0f, int(generator() % 17) - 8);
  }
}

int main() {
  Allocation<float> x(1000), y(1000), z(1000);
  fillFloats(x);
  fillFloats(y);
  run(device, {.kernel = "add", .grid = {4}, .block = {256}}, modelc::add,
      x.data(), y.data(), z.data(), 1000);
  Allocation<int> a(512), b(256 * 24);
  fillIntegers(a);
  run(device, {.kernel = "integers", .grid = {4}, .block = {64}},
      modelc::integers, a.data(), b.data(), -37, int64_t(-987654321987),
      uint64_t(0xFEDCBA9876543210));
  Allocation<float> c(512), d(256 * 24);
  fillFloats(c);
  run(device, {.kernel = "floats", .grid = {4}, .block = {64}}, modelc::floats,
      c.data(), d.data());
  Allocation<float> e(1000), f(1001);
  fillFloats(e);
  run(device, {.kernel = "softmax", .grid = {}, .block = {256}},
      modelc::softmax, e.data(), f.data(), 1000, 0.03f);
  Allocation<int> g(64 * 12), h(64);
  fillIntegers(g);
  run(device, {.kernel = "privateArray", .grid = {}, .block = {64}},
      modelc::privateArray, g.data(), h.data());
  Allocation<int> i(256);
  fillIntegers(i);
  run(device, {.kernel = "anywhere", .grid = {}, .block = {128}},
      modelc::anywhere, i.data(), 1);
}
