// 2^x on the vector units against double precision, at random and at the edges;
// and of each 8 elements of a lane the share that is computed so.
#include "nvidia/tiles.cuh"

#include <cmath>
#include <cstdio>
#include <random>

using namespace modelc;

constexpr int kThreads = 128, kEach = 4096;
constexpr double kBound = 8.6e-5;

void powers(const float *in, float *out) {
  for (int i = threadId() * kEach; i < (threadId() + 1) * kEach; ++i) {
    out[i] = exp2ByFma(in[i]);
  }
}

using Held =
    Layout<128, 16, Register<columns(1), columns(2), columns(4), columns(8)>,
           Lane<rows(1), rows(2), rows(4), rows(8), rows(16)>,
           Wave<rows(32), rows(64)>>;

/// Whether element `i` of a lane differs from the unit of exponentials.
template <int Share>
void shares(const float *in, int *out) {
  forEach<Held>([&](auto i, int row, int) INLINE {
    const float x = in[row];
    if (row == 0) {
      out[i.value] = exp2Split<Share, i.value>(x) != exp2(x);
    }
  });
}

template <class Kernel, class... Arguments>
void runKernel(Kernel kernel, Arguments... arguments) {
  static emulator::Device device{.waveSize = kWaveSize, .sharedBytes = 1 << 10};
  emulator::run(device, {.kernel = "exp2", .grid = {1}, .block = {kThreads}},
                kernel, arguments...);
}

template <int Share>
void countShare() {
  emulator::Allocation<float> in(kThreads);
  emulator::Allocation<int> out(16);
  for (int i = 0; i < kThreads; ++i) {
    in[i] = -0.3f;
  }
  runKernel(shares<Share>, (const float *)in.data(), out.data());
  int count[2] = {};
  for (int i = 0; i < 16; ++i) {
    count[i / 8] += out[i];
  }
  printf("%d of 8: %d and %d\n", Share, count[0], count[1]);
}

int main() {
  emulator::Allocation<float> in(kThreads * kEach), out(kThreads * kEach);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> wide(-126, 128), narrow(-8, 8);
  for (int i = 0; i < kThreads * kEach; ++i) {
    in[i] = i % 2 ? wide(random) : narrow(random);
  }
  const float edges[] = {-126,  -127,    -1e30f, -INFINITY,  0,
                         -0.0f, -1e-30f, 1,      127.99999f, NAN};
  std::copy(std::begin(edges), std::end(edges), in.data());
  runKernel(powers, (const float *)in.data(), out.data());
  double worst = 0;
  for (int i = 0; i < kThreads * kEach; ++i) {
    if (in[i] >= -126) {
      const double right = std::exp2((double)in[i]);
      worst = std::max(worst, std::abs(out[i] - right) / right);
    }
  }
  printf("%s\n", worst < kBound && worst > kBound / 2
                     ? "relative error: right"
                     : "relative error: wrong");
  printf("below: %g %g %g\n", out[1], out[2], out[3]);
  printf("whole: %g %g %g\n", out[4], out[5], out[7]);
  printf("none: %d\n", std::isnan(out[9]));
  countShare<1>();
  countShare<2>();
  countShare<3>();
  countShare<5>();
  countShare<8>();
}
