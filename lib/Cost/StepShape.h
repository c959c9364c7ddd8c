//===- StepShape.h - What one step of a model works on --------------------===//
//
// A step is a short list of groups of sequences that are alike. Prefill and
// decode are two values of it: 16 prompts of 1024 tokens are {16, 1024, 1024},
// a decode step behind them is {16, 1, 1025}, the second chunk of a long prompt
// {1, 16384, 32768}. A chunk beside decodes has a group of each; contexts that
// are distributed have a group for each of their values.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_STEPSHAPE_H
#define LIB_COST_STEPSHAPE_H

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace modelc {

/// Sizes of a run and symbols of its workload, by name: {"tokens", 64}.
using Bindings = std::map<std::string, double>;

/// Sequences of a step that are alike.
struct StepGroup {
  int64_t sequences = 1;
  int64_t newTokens = 1; ///< of each
  int64_t context = 1;   ///< positions of each, the new ones among them
  auto operator<=>(const StepGroup &) const = default;
};

/// One step of a model.
struct StepShape {
  std::vector<StepGroup> groups;

  int64_t tokens() const; ///< new ones, of all sequences
  int64_t sequences() const;
  int64_t longest() const; ///< most new tokens of a sequence
  /// Whether each sequence has one new token and a past: what a decode plan
  /// serves. Prefill plans serve any step.
  bool isDecode() const;
  /// What plans and kernels call these: `tokens`, `sequences`, `longest`, and
  /// `context`, the mean over the sequences.
  Bindings sizes() const;
};

} // namespace modelc

#endif // LIB_COST_STEPSHAPE_H
