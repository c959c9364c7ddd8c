//===- Steps.cpp - The steps that a workload takes ------------------------===//

#include "lib/Serve/Service.h"
#include <algorithm>
#include <set>

namespace modelc {

/// Chunks of a long prompt that are costed: what one takes grows along a line
/// with the keys behind it, but for the first, which a window may cut short of
/// these.
static std::set<int64_t> costedChunks(int64_t chunks) {
  std::set<int64_t> costed = {1, 2, (2 + chunks) / 2, chunks};
  costed.erase(costed.upper_bound(chunks), costed.end());
  return costed;
}

/// The chunks of each of `prompts` prompts; those between two that are costed
/// lie on the line between them.
static std::vector<CountedStep> stepsOfChunks(int64_t prompts, int64_t length,
                                              int64_t budget) {
  std::vector<CountedStep> steps;
  int64_t last = 0;
  for (int64_t chunk : costedChunks(length / budget)) {
    double between = double(prompts) * double(chunk - last - 1) / 2;
    if (!steps.empty()) {
      steps.back().times += between;
    }
    steps.push_back(
        {{{{1, budget, chunk * budget}}}, double(prompts) + between});
    last = chunk;
  }
  if (int64_t rest = length % budget) {
    steps.push_back({{{{1, rest, length}}}, double(prompts)});
  }
  return steps;
}

std::vector<CountedStep> prefillSteps(int64_t prompts, int64_t length,
                                      int64_t budget) {
  if (length > budget) {
    return stepsOfChunks(prompts, length, budget);
  }
  int64_t together = std::min(budget / length, prompts);
  return {{{{{together, length, length}}}, double(prompts) / double(together)}};
}

int64_t promptsTogether(int64_t sequences, int64_t inputTokens,
                        int64_t outputTokens, int64_t budget) {
  int64_t steps = std::max<int64_t>(outputTokens - 1, 1);
  int64_t most = std::max<int64_t>(budget / inputTokens, 1);
  return std::clamp<int64_t>(sequences / steps, 1, most);
}

} // namespace modelc
