// Runs gemm.hip on 128 x 192 x 160 against sums in double. The first argument
// is the number of the bug to plant, the second another depth than 160.
#include "gemm.hip"

#include "compare.h"

#include <chrono>
#include <cstdlib>

using namespace emulator;

int main(int count, char **arguments) {
  bug = count > 1 ? std::atoi(arguments[1]) : None;
  int m = 128, n = 192, k = count > 2 ? std::atoi(arguments[2]) : 160;
  Allocation<__bf16> a(m * k), b(n * k);
  Allocation<float> c(m * n);
  for (__bf16 &x : a) {
    x = modelc::toBf16(randomNormal());
  }
  for (__bf16 &x : b) {
    x = modelc::toBf16(randomNormal());
  }
  Device device;
  auto start = std::chrono::steady_clock::now();
  run(device,
      {.kernel = "gemm",
       .grid = {unsigned(n) / 64, unsigned(m) / 64},
       .block = {256}},
      modelc::gemm, a.data(), b.data(), c.data(), n, k);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::vector<double> reference(m * n);
  for (int i = 0; i < m * n; ++i) {
    for (int e = 0; e < k; ++e) {
      reference[i] += double(modelc::toFloat(a[i / n * k + e])) *
                      modelc::toFloat(b[i % n * k + e]);
    }
  }
  compare("gemm", c, reference, 1e-6);
  std::fprintf(stderr, "%.0f million products a second\n",
               1e-6 * m * n * k / took.count());
  return wrongResults;
}
