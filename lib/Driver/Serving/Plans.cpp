//===- Plans.cpp - A space of plans, each compiled ------------------------===//

#include "dialects/Model/NumberFormats.h"
#include "lib/Driver/Serving/Serving.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using llvm::raw_ostream;

/// More plans than anybody waits for.
static constexpr size_t kMostPlans = 1000;

std::string Plan::name() const {
  std::string text =
      std::to_string(options.tensorParallel) + " x " + options.target;
  text += options.weights.empty() ? "" : ", weights " + options.weights;
  return text + (options.cache.empty() ? "" : ", cache " + options.cache);
}

static SmallVector<StringRef> wordsOf(StringRef list) {
  SmallVector<StringRef> words;
  list.split(words, ',');
  return words;
}

/// Formats of a list; one that says nothing is as the checkpoint has it.
static FailureOr<std::vector<std::string>>
readFormats(StringRef flag, StringRef list, raw_ostream &errors) {
  std::vector<std::string> formats;
  for (StringRef word : wordsOf(list)) {
    if (!list.empty() && !model::findFormat(word)) {
      sayError(errors) << "expected number formats with commas behind --"
                       << flag << ", got \"" << word << "\"\n";
      return failure();
    }
    formats.push_back(word.str());
  }
  return formats;
}

static FailureOr<std::vector<int64_t>> readRanks(StringRef list,
                                                 raw_ostream &errors) {
  std::vector<int64_t> ranks;
  for (StringRef word : wordsOf(list)) {
    int64_t number = 0;
    if (!llvm::to_integer(word, number, 10) || number < 1 || number > 1024) {
      sayError(errors) << "expected --tp of numbers from 1 to 1024 with "
                          "commas, got \""
                       << word << "\"\n";
      return failure();
    }
    ranks.push_back(number);
  }
  return ranks;
}

/// All plans, in the order of the lists.
static FailureOr<std::vector<Plan>> readPlans(const CompileOptions &options,
                                              const ServeOptions &asked,
                                              raw_ostream &errors) {
  if (asked.targets.empty()) {
    sayError(errors) << "expected --targets, machines with commas; 'modelc "
                        "targets' lists them\n";
    return failure();
  }
  auto ranks = readRanks(asked.ranks, errors);
  auto weights = readFormats("weights", asked.weights, errors);
  auto caches = readFormats("kv", asked.caches, errors);
  if (failed(ranks) || failed(weights) || failed(caches)) {
    return failure();
  }
  std::vector<Plan> plans;
  for (StringRef target : wordsOf(asked.targets)) {
    for (const std::string &weight : *weights) {
      for (const std::string &cache : *caches) {
        for (int64_t rank : *ranks) {
          Plan plan{options, kExitOk, {}, ""};
          plan.options.target = target.str();
          plan.options.weights = weight;
          plan.options.cache = cache;
          plan.options.tensorParallel = rank;
          plans.push_back(std::move(plan));
        }
      }
    }
  }
  if (plans.size() > kMostPlans) {
    sayError(errors) << "expected at most " << kMostPlans << " plans, got "
                     << plans.size() << "; try fewer values in a list\n";
    return failure();
  }
  return plans;
}

/// The first line of a message, without who says it.
static std::string firstLine(StringRef said) {
  StringRef line = said.split('\n').first;
  size_t start = line.find("error: ");
  return line.drop_front(start == StringRef::npos ? 0 : start + 7).str();
}

int modelc::makePlans(const CompileOptions &options, const ServeOptions &asked,
                      std::vector<Plan> &plans, raw_ostream &errors) {
  FailureOr<AskedOfCurve> read = readAsked(asked, options, errors);
  if (failed(read)) {
    return kExitUsage;
  }
  FailureOr<std::vector<Plan>> all = readPlans(options, asked, errors);
  if (failed(all)) {
    return kExitUsage;
  }
  plans = std::move(*all);
  for (Plan &plan : plans) {
    std::string said;
    llvm::raw_string_ostream os(said);
    plan.code = makeCurve(plan.options, *read, plan.curve, os);
    plan.said = firstLine(said);
    // What is wrong with the model or the command line is so for all plans.
    if (plan.code == kExitUsage || plan.code == kExitInternal) {
      errors << said;
      return plan.code;
    }
  }
  if (llvm::none_of(plans,
                    [](const Plan &plan) { return plan.code == kExitOk; })) {
    for (const Plan &plan : plans) {
      sayError(errors) << plan.name() << ": " << plan.said << "\n";
    }
    return plans.front().code;
  }
  return kExitOk;
}
