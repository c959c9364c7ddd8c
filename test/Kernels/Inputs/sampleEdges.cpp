// Greedy, top-k and top-p sampling of rows with ties, against sorting. The
// kernels' sources lie in a folder `sample` of the include path.
// Each kernel in a namespace of its own: they have names in common.
#include "sample/prelude.h"
#define modelc modelc::greedy
#include "sample/greedy.h"
#undef modelc
#define modelc modelc::one
#include "sample/one.h"
#undef modelc
#define modelc modelc::few
#include "sample/few.h"
#undef modelc
#define modelc modelc::tiny
#include "sample/tiny.h"
#undef modelc
#define modelc modelc::most
#include "sample/most.h"
#undef modelc
#define KERNEL "sample/prelude.h"
#include "run.h"

constexpr int kVocabulary = 500, kRows = 7;

/// What a kernel keeps of a row.
struct Kept {
  int topK = 0; // 0: all
  double topP = 1, temperature = 1;
};

/// The token that sorting finds: the first of equals first.
static int expected(const bf16 *logits, Kept rule, double draw) {
  std::vector<std::pair<double, int>> order;
  for (int i = 0; i < kVocabulary; ++i) {
    order.push_back({-asDouble(logits[i]), i});
  }
  std::sort(order.begin(), order.end());
  if (rule.topK) {
    order.resize(size_t(rule.topK));
  }
  auto weight = [&](size_t i) {
    return std::exp((order[0].first - order[i].first) / rule.temperature);
  };
  double total = 0, kept = 0, sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    total += weight(i);
  }
  size_t count = 0;
  while (count < order.size() && kept < rule.topP * total) {
    kept += weight(count++);
  }
  for (size_t i = 0; i < count; ++i) {
    sum += weight(i);
    if (sum > draw * kept) {
      return order[i].second;
    }
  }
  return order[count - 1].second;
}

/// Rows of few different values, near zero, -128 and 128; all alike; all but
/// one masked; two zeros.
static void fillRows(Allocation<bf16> &logits) {
  for (int i = 0; i < kRows * kVocabulary; ++i) {
    int row = i / kVocabulary, column = i % kVocabulary;
    float value = std::nearbyint(2 * randomNormal()) / 2;
    value = row == 1                    ? 3
            : row == 2                  ? column == 123 ? -5 : -INFINITY
            : row == 3 && column == 77  ? 9
            : row == 3 && column == 400 ? 9
            : row == 4                  ? column == 7   ? -0.0f
                                          : column == 9 ? 0.0f
                                                        : -8
            : row == 5                  ? value - 128
            : row == 6                  ? value + 128
                                        : value;
    logits[i] = asBf16(value);
  }
}

template <typename Kernel>
static void check(const char *name, Kernel kernel, Kept rule,
                  Allocation<bf16> &logits, bool isGreedy = false) {
  const float chosen[] = {0, 0.999f, 0.31f, 0.5f, 0.26f, 0.1f, 0.73f};
  Allocation<float> draws(kRows);
  Allocation<int> out(kRows);
  std::vector<double> reference;
  for (int r = 0; r < kRows; ++r) {
    draws[r] = chosen[r];
    reference.push_back(
        expected(&logits[r * kVocabulary], rule, isGreedy ? 0 : chosen[r]));
  }
  if constexpr (std::is_invocable_v<Kernel, const bf16 *, int *, int>) {
    launch(name, kRows, kernel, logits.data(), out.data(), kRows);
  } else {
    launch(name, kRows, kernel, logits.data(), draws.data(), out.data(), kRows);
  }
  compare(name, out, reference, 0);
}

int main() {
  Allocation<bf16> logits(kRows * kVocabulary);
  fillRows(logits);
  check("greedy", modelc::greedy::greedy, {1, 1}, logits, true);
  check("k = 1", modelc::one::one, {1, 1}, logits);
  check("k = 7", modelc::few::few, {7, 1}, logits);
  check("p = 1e-6", modelc::tiny::tiny, {0, 1e-6}, logits);
  check("p = 0.9, temperature 0.5", modelc::most::most, {0, 0.9, 0.5}, logits);
  return wrongResults;
}
