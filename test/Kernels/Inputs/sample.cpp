// Draws against sorting: top-k, top-p, then the drawn share of what is kept.
// Behind the words of a row lie PADDING logits, the largest of all; GREEDY
// draws nothing.
#include "run.h"

#ifndef PADDING
#define PADDING 0
#endif

constexpr int kVocabulary = 1000, kColumns = kVocabulary + PADDING, kRows = 6;

/// The token that sorting finds.
static int expected(const float *logits, double draw) {
  std::vector<std::pair<double, int>> order;
  for (int i = 0; i < kVocabulary; ++i) {
    order.push_back({-logits[i], i});
  }
  std::sort(order.begin(), order.end());
  if (TOP_K) {
    order.resize(TOP_K);
  }
  auto weight = [&](int i) {
    return std::exp((order[0].first - order[i].first) / TEMPERATURE);
  };
  double total = 0, kept = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    total += weight(i);
  }
  size_t count = 0;
  while (count < order.size() && kept < TOP_P * total) {
    kept += weight(count++);
  }
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += weight(i);
    if (sum > draw * kept) {
      return order[i].second;
    }
  }
  return order[count - 1].second;
}

int main() {
  Allocation<float> logits(kRows * kColumns), draws(kRows);
  Allocation<int> out(kRows);
  const float means[] = {0, -128, 128}; // of rows, in turns
  for (int i = 0; i < kRows * kColumns; ++i) {
    const bool isWord = i % kColumns < kVocabulary;
    logits[i] = isWord ? means[i / kColumns % 3] + 2 * randomNormal() : 1e9f;
  }
  const float chosen[] = {0, 0.999f, 0.31f, 0.5f, 0.77f, 0.1f};
  std::vector<double> reference;
  for (int r = 0; r < kRows; ++r) {
    draws[r] = chosen[r];
    reference.push_back(expected(&logits[r * kColumns], chosen[r]));
  }
#ifdef GREEDY
  launch("sample", kRows, modelc::sample, logits.data(), out.data(), kRows);
#else
  launch("sample", kRows, modelc::sample, logits.data(), draws.data(),
         out.data(), kRows);
#endif
  compare("tokens", out, reference, 0);
  return wrongResults;
}
