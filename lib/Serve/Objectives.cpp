#include "lib/Serve/Objectives.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace modelc {

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

static const Metric kMetrics[] = {
    {"tokens_per_s_per_gpu", "tokens/s/GPU", "", true,
     [](const CurvePoint &p) {
       return p.service.outputPerSecondPerGpu.expectation;
     }},
    {"usd_per_mtok", "$/Mtoken", "$", false,
     [](const CurvePoint &p) {
       return p.service.dollarsPerMillionOutput.expectation;
     }},
    {"j_per_token", "J/token, boards", "J", false,
     [](const CurvePoint &p) {
       return p.service.boardJoulesPerOutput.expectation;
     }},
    {"tokens_per_s_per_mw", "tokens/s/MW, wall", "", true,
     [](const CurvePoint &p) {
       constexpr double kMega = 1e6; // W
       return kMega / p.service.wallJoulesPerOutput.expectation;
     }},
};

llvm::ArrayRef<Metric> metrics() { return kMetrics; }

const Metric *findMetric(llvm::StringRef name, llvm::raw_ostream &errors) {
  std::vector<llvm::StringRef> known;
  for (const Metric &metric : kMetrics) {
    if (metric.name == name) {
      return &metric;
    }
    known.push_back(metric.name);
  }
  sayError(errors) << "expected --objective of " << listWords(known)
                   << ", got \"" << name << "\"" << didYouMean(name, known)
                   << "\n";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Limits of what a user waits for
//===----------------------------------------------------------------------===//

namespace {
/// What a limit can be of.
struct Limited {
  llvm::StringLiteral name, unit;
  bool isMost;
  std::optional<Views> (*of)(const CurvePoint &point);
};
} // namespace

static const Limited kLimited[] = {
    {"tpot", "s", true, [](const CurvePoint &p) { return p.service.tpot; }},
    {"ttft", "s", true,
     [](const CurvePoint &p) { return std::optional(p.ttftSeconds); }},
    {"request", "s", true,
     [](const CurvePoint &p) {
       return std::optional(p.service.requestSeconds);
     }},
    {"tokens_per_s_per_user", "", false,
     [](const CurvePoint &p) { return p.service.outputPerSecondPerUser; }},
};

static llvm::StringRef comparison(bool isMost) { return isMost ? "<=" : ">="; }

/// One limit; `why` says what was expected.
static llvm::FailureOr<Objective> readObjective(llvm::StringRef text,
                                                std::string &why) {
  llvm::StringRef name =
      text.take_until([](char c) { return c == '<' || c == '>' || c == '='; });
  std::vector<llvm::StringRef> known;
  for (const Limited &one : kLimited) {
    known.push_back(one.name);
    llvm::StringRef rest = text.drop_front(name.size());
    if (one.name != name.trim()) {
      continue;
    }
    if (!rest.consume_front(comparison(one.isMost))) {
      why = ("expected \"" + name.trim() + comparison(one.isMost) + "\"").str();
      return llvm::failure();
    }
    llvm::FailureOr<double> limit = parseQuantityIn(rest.trim(), one.unit, why);
    if (failed(limit)) {
      return llvm::failure();
    }
    if (!(*limit > 0) || !std::isfinite(*limit)) {
      why = "expected a number above 0";
      return llvm::failure();
    }
    return Objective{one.name.str(), *limit, one.isMost, text.trim().str()};
  }
  why = "expected a limit of " + listWords(known) +
        didYouMean(name.trim(), known);
  return llvm::failure();
}

llvm::FailureOr<std::vector<Objective>>
readObjectives(llvm::StringRef text, llvm::raw_ostream &errors) {
  std::vector<Objective> objectives;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',');
  for (llvm::StringRef word : words) {
    if (text.empty()) {
      break;
    }
    std::string why;
    llvm::FailureOr<Objective> one = readObjective(word, why);
    if (failed(one)) {
      sayError(errors) << "--slo: " << why << ", got \"" << word
                       << "\"; an example: tpot<=20ms,ttft<=1s\n";
      return llvm::failure();
    }
    if (llvm::any_of(objectives, [&](const Objective &other) {
          return other.name == one->name;
        })) {
      sayError(errors) << "--slo: expected one limit of \"" << one->name
                       << "\", got two\n";
      return llvm::failure();
    }
    objectives.push_back(std::move(*one));
  }
  return objectives;
}

std::string missed(const CurvePoint &point,
                   llvm::ArrayRef<Objective> objectives) {
  for (const Objective &objective : objectives) {
    const Limited *of = llvm::find_if(kLimited, [&](const Limited &one) {
      return one.name == objective.name;
    });
    std::optional<Views> value = of->of(point);
    if (!value) {
      continue; // nobody waits for what there is none of
    }
    double got = value->expectation;
    if (objective.isMost ? got > objective.limit : got < objective.limit) {
      return objective.name + " " + formatQuantity(got, of->unit) + ", asked " +
             objective.said;
    }
  }
  return "";
}

} // namespace modelc
