//===- ServeTest.cpp - Prints service, fit and reports of round numbers ---===//
//
// serve-test TARGETS text|json|csv|figures|explain [name] [tokens out]
//   a report of made-up steps
// serve-test TARGETS fit key=value ...
//   GB on one GPU of 100 GB
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Figures.h"
#include "lib/Report/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc;

static StepCost step(std::string label, double count, double seconds,
                     double joules, std::string limit) {
  StepCost step;
  step.label = std::move(label);
  step.count = count;
  step.cost.name = step.label + "_kernel";
  step.cost.bound = {seconds / 2, joules / 2, 1e9, limit};
  step.cost.expectation = {seconds, joules, 1e9, limit};
  step.cost.traffic.read = 1e6;
  step.cost.matrixFlop = 2e6;
  step.cost.time = {"time", seconds, "s", "made up", {"launch.gap"}, {}};
  step.cost.energy = {"energy", joules, "J", "made up", {"power.idle"}, {}};
  return step;
}

static PlanCost plan(std::string name, double scale) {
  PlanCost plan;
  plan.name = std::move(name);
  plan.steps = {step("qkv", 4, 1e-3 * scale, 0.5 * scale, "device memory"),
                step("sum, all", 4, 5e-4 * scale, 0.25 * scale, "links"),
                step("qkv", 1, 1e-3 * scale, 0.5 * scale, "device memory")};
  plan.expectation = {8e-3 * scale, 3.6 * scale, 1e9, "device memory"};
  plan.bound = {3.5e-3 * scale, 1.75 * scale, 1e9, "device memory"};
  plan.launches = 9;
  return plan;
}

/// Prefill of one prompt 10 ms, of 8 of them 60 ms; decode 1 ms at a context of
/// 0, 3 ms at 2000. 500 W and 200 W.
static ServeInput roundNumbers(double outputTokens) {
  ServeInput input;
  input.workload = {1000, outputTokens, 8};
  input.gpus = 2;
  auto point = [](double context, double seconds, double watts) {
    return StepPoint{context,
                     {seconds / 2, seconds},
                     {seconds / 2 * watts, seconds * watts}};
  };
  input.prefillOne = point(1000, 10e-3, 500);
  input.prefillAll = point(1000, 60e-3, 500);
  if (outputTokens > 1) {
    input.decode = {point(0, 1e-3, 200), point(2000, 3e-3, 200)};
  }
  return input;
}

/// Figures whose sums do not give their numbers.
static int printFigures(const Report &report, const Target &target) {
  unsigned wrong = 0;
  FigureList list = figures(report, target);
  for (const Figure &figure : list.all()) {
    if (!figure.value) {
      llvm::outs() << figure.name << ": none, " << figure.reason << "\n";
      continue;
    }
    double value = figure.value->expectation;
    if (std::abs(figure.term.value - value) > 1e-6 * std::abs(value)) {
      llvm::outs() << figure.name << ": " << figure.term.value << ", not "
                   << value << "\n";
      ++wrong;
    }
  }
  llvm::outs() << list.all().size() << " figures, " << wrong
               << " that their sums do not give\n";
  return wrong > 0;
}

static int printReport(const Target &target, llvm::StringRef mode,
                       llvm::StringRef op, double outputTokens) {
  llvm::FailureOr<ServeResult> service =
      serve(roundNumbers(outputTokens), target, llvm::errs());
  if (failed(service)) {
    return 1;
  }
  Report report;
  report.model = "little";
  report.precision = report.cachePrecision = "bf16";
  report.tensorParallel = 2;
  report.service = *service;
  report.memory = fit({20e9, 1e6, 0, 1e9, 0}, service->workload, {}, target);
  report.prefill = plan("prefill", 7.5);
  report.prefill.storage.tensors = {
      {"[\"norm\"]", 0.5e9, 4},
      {"[\"q\" split 0 of 2, \"k\" "
       "copies 2]",
       2e9, 4},
      {"[\"mlp\" split 1 of 2] channel_scale", 2.5e9, 4}};
  report.prefillOne = plan("prefill", 1.25);
  report.decode.name = "decode";
  if (outputTokens > 1) {
    report.decode = plan("decode", 1);
    report.decodeContext = 2000;
  }
  if (mode == "text") {
    printText(report, target, llvm::outs());
  } else if (mode == "json") {
    printJson(report, target, llvm::outs());
  } else if (mode == "figures") {
    return printFigures(report, target);
  } else if (mode == "csv") {
    printCsv(report, llvm::outs());
  } else {
    return failed(
        explainItem(report, op, "decode", target, llvm::outs(), llvm::errs()));
  }
  return 0;
}

static int printFit(const Target &target, llvm::ArrayRef<char *> words) {
  MemoryNeeds needs;
  Workload load{1000, 1000, 10};
  FitChoices choices;
  std::map<std::string, double> values = {
      {"weights", 0},      {"workspace", 0},  {"token", 0},
      {"sequences", 10},   {"max_tp", 1},     {"shards", 1},
      {"weight_bits", 16}, {"cache_bits", 16}};
  for (llvm::StringRef word : words) {
    auto [key, value] = word.split('=');
    if (!values.count(key.str()) || !llvm::to_float(value, values[key.str()])) {
      llvm::errs() << "expected key=number, got " << word << "\n";
      return 2;
    }
  }
  needs.weights = values["weights"] * 1e9;
  needs.workspace = values["workspace"] * 1e9;
  needs.cachePerToken = values["token"] * 1e9;
  load.sequences = values["sequences"];
  choices.maxTensorParallel = int64_t(values["max_tp"]);
  choices.cacheShards = int64_t(values["shards"]);
  choices.weightBits = int64_t(values["weight_bits"]);
  choices.cacheBits = int64_t(values["cache_bits"]);
  FitResult result = fit(needs, load, choices, target);
  llvm::outs() << (result.fits ? "fits" : fitMessage(result, load)) << "\n"
               << "max sequences " << result.maxSequences << "\n";
  return result.fits ? 0 : 3;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: serve-test TARGETS MODE ...\n";
    return 2;
  }
  llvm::FailureOr<Target> target =
      loadTarget("toy", {}, {argv[1]}, llvm::errs());
  if (failed(target)) {
    return 1;
  }
  llvm::StringRef mode = argv[2];
  if (mode == "fit") {
    return printFit(*target, llvm::ArrayRef(argv + 3, argc - 3));
  }
  double outputTokens = 100;
  if (argc > 4 && !llvm::to_float(argv[4], outputTokens)) {
    llvm::errs() << "expected a number of tokens, got " << argv[4] << "\n";
    return 2;
  }
  return printReport(*target, mode, argc > 3 ? argv[3] : "", outputTokens);
}
