// Runs the plan of chain.mlir on the emulator and compares with the same sums
// in double precision, rounded to bf16 between the products as the plan does.
#include "device.h"

#include <cmath>
#include <random>

namespace {

constexpr int kSide = 256, kLayers = 3;
using Matrix = std::vector<double>;

/// Random numbers in bf16, and the same in a tensor.
Matrix fillRandom(const mc_tensor &tensor, double scale, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<double> normal(0, scale);
  Matrix values(elementsOf(tensor));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = toBf16(float(normal(random)));
    static_cast<uint16_t *>(tensor.data)[i] = bits;
    values[i] = fromBf16(bits);
  }
  return values;
}

Matrix multiply(const Matrix &a, const Matrix &w, int rows) {
  Matrix d(size_t(rows) * kSide);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < kSide; ++j) {
      double sum = 0;
      for (int k = 0; k < kSide; ++k) {
        sum += a[size_t(i * kSide + k)] * w[size_t(j * kSide + k)];
      }
      d[size_t(i * kSide + j)] = fromBf16(toBf16(float(sum)));
    }
  }
  return d;
}

/// The largest difference, in units of the last place of the largest result:
/// a sum that lies at the middle of two numbers may round either way, and what
/// follows carries that on.
double worstError(const Matrix &expected, const mc_tensor &got) {
  double largest = 0, worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double value = fromBf16(static_cast<const uint16_t *>(got.data)[i]);
    double error = std::fabs(value - expected[i]);
    worst = error <= worst ? worst : error; // NaN is the worst
    largest = std::max(largest, std::fabs(expected[i]));
  }
  return worst / (largest / 256);
}

} // namespace

int main() {
  emulatorOpen(1, WAVE_SIZE, size_t(SHARED_KIB) << 10);
  require(modelc_open("."));
  const int tokens = 77;
  std::vector<mc_tensor> tensors = {makeTensor(MC_BF16, {tokens, kSide}),
                                    makeTensor(MC_BF16, {tokens, kSide})};
  Matrix x = fillRandom(tensors[0], 1, 1);
  std::vector<Matrix> weights;
  for (int i = 0; i <= kLayers; ++i) {
    tensors.push_back(makeTensor(MC_BF16, {kSide, kSide}));
    weights.push_back(fillRandom(tensors.back(), 1.0 / 16, 2 + i));
  }
  const int64_t sizes[] = {tokens};
  const mc_tensor workspace =
      makeTensor(MC_BF16, {modelc_workspace_bytes_prefill(sizes) / 2});
  require(modelc_prefill(tensors.data(), int(tensors.size()), sizes, 1,
                         workspace.data, nullptr));
  emulatorSynchronize();

  x = multiply(x, weights[0], tokens);
  for (int i = 1; i <= kLayers; ++i) {
    x = multiply(multiply(x, weights[size_t(i)], tokens), weights[size_t(i)],
                 tokens);
  }
  x = multiply(multiply(x, weights[0], tokens), weights[0], tokens);
  const double error = worstError(x, tensors[1]);
  std::printf("%s\n", error < 2 ? "right" : "wrong");
  if (!(error < 2)) {
    std::printf("error %g\n", error);
  }

  // Mistakes are said, not run.
  auto tell = [&](int status) {
    std::printf("%d %s\n", status, status ? modelc_last_error() : "");
  };
  const int64_t none[] = {0};
  tell(modelc_prefill(tensors.data(), 3, sizes, 1, workspace.data, nullptr));
  tell(modelc_prefill(tensors.data(), int(tensors.size()), none, 1,
                      workspace.data, nullptr));
  std::vector<mc_tensor> wrong = tensors;
  wrong[3].shape[1] = 128;
  tell(modelc_prefill(wrong.data(), int(wrong.size()), sizes, 1, workspace.data,
                      nullptr));
  modelcSetDevice(1);
  tell(modelc_prefill(tensors.data(), int(tensors.size()), sizes, 1,
                      workspace.data, nullptr));
  return error < 2 ? 0 : 1;
}
