//===- MemoryFigures.cpp - What lies in the memory of one GPU -------------===//

#include "lib/Report/Figures.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace modelc {

static std::string text(double value, llvm::StringRef unit = "") {
  return formatQuantity(value, unit, 4);
}

static Term bytesTerm(std::string name, double bytes, std::string formula,
                      std::vector<std::string> facts = {}) {
  return {std::move(name),  bytes, "B", std::move(formula),
          std::move(facts), {}};
}

//===----------------------------------------------------------------------===//
// Weights, by tensor
//===----------------------------------------------------------------------===//

/// The number behind a word of a cut: "of" in ` split 0 of 4 copies 2`.
static int64_t numberBehind(llvm::StringRef cut, llvm::StringRef word) {
  int64_t number = 1;
  cut.split(word).second.consumeInteger(10, number);
  return number;
}

/// Which devices hold a tensor that is cut so.
static std::string holders(llvm::StringRef cut, int64_t devices) {
  int64_t parts = numberBehind(cut, " of ");
  if (parts == 1) {
    return "every GPU holds a copy";
  }
  std::string all = "cut over " + text(double(devices)) + " GPUs";
  return parts == devices
             ? all
             : all + " in " + text(double(parts)) + " parts, so that " +
                   text(double(devices) / double(parts)) +
                   " hold a copy of each";
}

namespace {
/// `["a.weight" split 0 of 2, "b.weight"] channel_scale` in words.
struct WeightWords {
  std::string names; // "a.weight, b.weight channel_scale"
  std::string held;  // "a.weight: cut over 2 GPUs, b.weight: every GPU ..."
};
} // namespace

static WeightWords wordsOf(llvm::StringRef source, int64_t devices) {
  auto [list, what] = source.rsplit(']');
  std::vector<std::pair<std::string, std::string>> tensors;
  while (list.contains('"')) {
    auto [name, rest] = list.split('"').second.split('"');
    tensors.push_back({name.str(), holders(rest.split('"').first, devices)});
    list = rest;
  }
  bool areAlike = llvm::all_of(tensors, [&](const auto &tensor) {
    return tensor.second == tensors.front().second;
  });
  WeightWords words;
  for (const auto &[name, held] : tensors) {
    llvm::StringRef comma = words.names.empty() ? "" : ", ";
    words.names += comma.str() + name;
    words.held += areAlike ? "" : comma.str() + name + ": " + held;
  }
  words.names += what.str();
  words.held =
      areAlike && !tensors.empty() ? tensors.front().second : words.held;
  return words;
}

static Term weightsTerm(const Report &report) {
  Term term =
      bytesTerm("", 0, "weights of the graph on one GPU, " + report.precision);
  for (const StoredWeight &tensor : report.prefill.storage.tensors) {
    WeightWords words = wordsOf(tensor.source, report.tensorParallel);
    std::string formula = text(tensor.count) + " x " + text(tensor.bytes, "B");
    formula += report.tensorParallel > 1 ? ", " + words.held : "";
    term.children.push_back(bytesTerm(words.names, tensor.count * tensor.bytes,
                                      std::move(formula)));
    term.value += term.children.back().value;
  }
  llvm::sort(term.children, [](const Term &a, const Term &b) {
    return std::pair(-a.value, a.name) < std::pair(-b.value, b.name);
  });
  return term;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static Term cacheOfOneTerm(const Report &report) {
  const Workload &load = report.service.workload;
  double bytes = report.memory.perSequence;
  double longest = load.inputTokens + load.outputTokens;
  return bytesTerm("cache of one sequence", bytes,
                   text(bytes / longest, "B") + " a token x " + text(longest) +
                       " tokens in and out");
}

void addMemoryFigures(const Report &report, FigureList &list) {
  const FitResult &memory = report.memory;
  double sequences = report.service.workload.sequences;
  Term one = cacheOfOneTerm(report), weights = weightsTerm(report);
  Term cache =
      bytesTerm("cache", sequences * one.value,
                text(sequences) + " sequences x " + text(one.value, "B"));
  cache.children = {one};
  Term workspace = bytesTerm("workspace", memory.workspace,
                             "buffers between kernels, the larger of both "
                             "steps");
  Term reserved = bytesTerm("reserved", memory.reserved, "by the runtime");
  Term capacity =
      bytesTerm("capacity", memory.capacity, "", {"memory.capacity"});
  double beside = memory.weights + memory.workspace + memory.reserved;
  Term left = bytesTerm("", memory.capacity - beside - cache.value,
                        "capacity - weights - workspace - reserved - cache");
  left.children = {capacity,
                   bytesTerm("weights", memory.weights, weights.formula),
                   workspace, reserved, cache};
  left.children.back().children.clear();
  Term fit{
      "",
      std::floor((memory.capacity - beside) / one.value),
      "",
      "what weights, workspace and reserved leave / " + text(one.value, "B"),
      {},
      left.children};
  auto bytes = [&](std::string name, std::string key, double value, Term term) {
    list.add(std::move(name), std::move(key), {value, value}, std::move(term));
  };
  bytes("memory", "left_bytes", memory.left, std::move(left));
  bytes("capacity", "capacity_bytes", memory.capacity, std::move(capacity));
  bytes("weights", "weight_bytes", memory.weights, std::move(weights));
  bytes("cache", "cache_bytes", memory.cache, std::move(cache));
  bytes("cache_per_sequence", "cache_bytes_per_sequence", memory.perSequence,
        std::move(one));
  bytes("workspace", "workspace_bytes", memory.workspace, std::move(workspace));
  bytes("reserved", "reserved_bytes", memory.reserved, std::move(reserved));
  if (memory.perSequence > 0) {
    bytes("max_sequences", "max_sequences", memory.maxSequences,
          std::move(fit));
  } else {
    list.addAbsent("max_sequences", "max_sequences",
                   "a sequence takes no cache");
  }
}

} // namespace modelc
