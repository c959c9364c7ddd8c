//===- Fit.cpp - Does it fit into memory, and what would help -------------===//

#include "lib/Serve/Service.h"
#include "lib/Support/Support.h"
#include <algorithm>
#include <cmath>

namespace modelc {

static FitResult measure(const MemoryNeeds &needs, const Workload &load,
                         const Target &target) {
  FitResult result;
  result.capacity = double(target.memory.capacityBytes);
  result.weights = needs.weights;
  result.workspace = needs.workspace;
  result.reserved = needs.reserved;
  double longest = load.inputTokens + load.outputTokens;
  result.perSequence = needs.cachePerSequence + needs.cachePerToken * longest;
  result.cache = load.sequences * result.perSequence;
  double forCache =
      result.capacity - needs.weights - needs.workspace - needs.reserved;
  result.left = forCache - result.cache;
  result.fits = result.left >= 0;
  if (forCache > 0 && result.perSequence > 0) {
    result.maxSequences = std::floor(forCache / result.perSequence);
  }
  return result;
}

namespace {
/// One change of the plan and the memory it leaves.
struct Change {
  std::string option;
  MemoryNeeds needs;
  FitChoices choices;
};
} // namespace

static Change withEightBitCache(Change change) {
  double part = 8.0 / double(change.choices.cacheBits);
  change.needs.cachePerToken *= part;
  change.needs.cachePerSequence *= part;
  change.choices.cacheBits = 8;
  change.option += change.option.empty() ? "--kv=fp8" : " --kv=fp8";
  return change;
}

static Change withEightBitWeights(Change change) {
  change.needs.weights *= 8.0 / double(change.choices.weightBits);
  change.choices.weightBits = 8;
  change.option += change.option.empty() ? "--weights=fp8" : " --weights=fp8";
  return change;
}

static Change withTensorParallel(Change change, int64_t ways) {
  FitChoices &choices = change.choices;
  double more = double(ways) / double(choices.tensorParallel);
  double shardsNow =
      double(std::min(choices.tensorParallel, choices.cacheShards));
  double shardsThen = double(std::min(ways, choices.cacheShards));
  change.needs.weights /= more;
  change.needs.workspace /= more;
  change.needs.cachePerToken *= shardsNow / shardsThen;
  change.needs.cachePerSequence *= shardsNow / shardsThen;
  choices.tensorParallel = ways;
  change.option +=
      (change.option.empty() ? "--tp=" : " --tp=") + std::to_string(ways);
  return change;
}

/// Changes from small to large: precision of the cache, of the weights, both,
/// more GPUs, more GPUs with each of these.
static std::vector<Change> changes(const MemoryNeeds &needs,
                                   const FitChoices &choices) {
  Change none{"", needs, choices};
  std::vector<Change> precisions;
  bool cache = choices.cacheBits > 8, weights = choices.weightBits > 8;
  if (cache) {
    precisions.push_back(withEightBitCache(none));
  }
  if (weights) {
    precisions.push_back(withEightBitWeights(none));
  }
  if (cache && weights) {
    precisions.push_back(withEightBitCache(withEightBitWeights(none)));
  }
  std::vector<Change> all = precisions;
  for (int64_t ways = 2 * choices.tensorParallel;
       ways <= choices.maxTensorParallel; ways *= 2) {
    all.push_back(withTensorParallel(none, ways));
    for (const Change &precision : precisions) {
      all.push_back(withTensorParallel(precision, ways));
    }
  }
  return all;
}

FitResult fit(const MemoryNeeds &needs, const Workload &workload,
              const FitChoices &choices, const Target &target) {
  FitResult result = measure(needs, workload, target);
  if (result.fits) {
    return result;
  }
  double beside = result.weights + result.reserved;
  result.limit = beside > result.capacity                      ? "weights"
                 : beside + result.workspace > result.capacity ? "workspace"
                                                               : "cache";
  if (result.maxSequences >= 1) {
    result.remedy = "--batch=" + std::to_string(int64_t(result.maxSequences));
    return result;
  }
  for (const Change &change : changes(needs, choices)) {
    FitResult then = measure(change.needs, workload, target);
    if (then.fits) {
      result.remedy = change.option;
      return result;
    }
  }
  // Nothing serves all sequences: the first change that serves some.
  for (const Change &change : changes(needs, choices)) {
    FitResult then = measure(change.needs, workload, target);
    if (then.maxSequences >= 1) {
      result.remedy = change.option +
                      " --batch=" + std::to_string(int64_t(then.maxSequences));
      return result;
    }
  }
  // Not even one sequence: a shorter one.
  double left = result.capacity - beside - result.workspace;
  double tokens =
      needs.cachePerToken > 0
          ? std::floor((left - needs.cachePerSequence) / needs.cachePerToken) -
                workload.outputTokens
          : 0;
  if (tokens >= 1) {
    result.remedy = "--batch=1 --isl=" + std::to_string(int64_t(tokens));
  }
  return result;
}

std::string fitMessage(const FitResult &result, const Workload &workload) {
  if (result.fits) {
    return "";
  }
  std::string text = "does not fit: " + result.limit + " ";
  if (result.limit == "weights") {
    text += "take " + formatQuantity(result.weights, "B");
  } else if (result.limit == "workspace") {
    text += "takes " + formatQuantity(result.workspace, "B") + " beside " +
            formatQuantity(result.weights, "B") + " of weights";
  } else {
    text += "of " + formatQuantity(workload.sequences, "") +
            (workload.sequences == 1 ? " sequence" : " sequences") + " takes " +
            formatQuantity(result.cache, "B") + " beside " +
            formatQuantity(result.weights, "B") + " of weights and " +
            formatQuantity(result.workspace, "B") + " of workspace";
  }
  text += ", expected at most " + formatQuantity(result.capacity, "B") +
          " on a GPU";
  if (result.remedy.empty()) {
    return text +
           "; no batch, precision or tensor parallelism of this machine "
           "helps, try " +
           (result.limit == "weights" ? "" : "shorter requests or ") +
           "a machine with more memory";
  }
  return text + "; try " + result.remedy;
}

} // namespace modelc
