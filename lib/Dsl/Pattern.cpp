//===- Pattern.cpp - Layers that follow one another in turn ---------------===//

#include "lib/Dsl/Blocks.h"

using namespace modelc;

/// Kinds that take turns are few; more of them would be a list.
static constexpr int64_t kLongestPeriod = 12;

/// How often the first `period` kinds stand one behind the other.
static int64_t repeatsOf(llvm::ArrayRef<LayerKind> kinds, int64_t period) {
  llvm::ArrayRef<LayerKind> first = kinds.take_front(period);
  int64_t repeats = 0;
  while (kinds.size() >= first.size() && kinds.take_front(period) == first) {
    kinds = kinds.drop_front(period);
    ++repeats;
  }
  return repeats;
}

/// The run that makes the most layers; of those that make as many, that of the
/// fewest kinds.
static LayerRun longestRun(llvm::ArrayRef<LayerKind> kinds) {
  const int64_t count = kinds.size();
  LayerRun best = {1, repeatsOf(kinds, 1)};
  for (int64_t period = 2; period <= std::min(kLongestPeriod, count);
       ++period) {
    const int64_t repeats = repeatsOf(kinds, period);
    if (repeats > 1 && period * repeats > best.period * best.repeats) {
      best = {period, repeats};
    }
  }
  return best;
}

std::vector<LayerRun> modelc::findRuns(llvm::ArrayRef<LayerKind> kinds) {
  std::vector<LayerRun> runs;
  while (!kinds.empty()) {
    runs.push_back(longestRun(kinds));
    kinds = kinds.drop_front(runs.back().period * runs.back().repeats);
  }
  return runs;
}
