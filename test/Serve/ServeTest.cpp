//===- ServeTest.cpp - Prints service, fit and reports of round numbers ---===//
//
// serve-test TARGETS text|json|csv|figures|explain [name] [tokens out]
//                    [prompts together] [tokens of a step]
//   a report of made-up steps
// serve-test TARGETS steps PROMPTS LENGTH BUDGET
//   the steps that read prompts
// serve-test TARGETS together SEQUENCES IN OUT BUDGET
//   how many prompts an in-flight batch reads in one step
// serve-test TARGETS steady USERS IN OUT BUDGET
//   where a scheduler settles that mixes prompts into decode steps
// serve-test TARGETS curve text|json|csv IN OUT BUDGET MEMORY USERS...
//   a curve where a step takes 1 ms and 10 us for each new token, at 100 W
// serve-test TARGETS compare ...
//   that beside one with 2 ms and 2 us
// serve-test TARGETS fit key=value ...
//   GB on one GPU of 100 GB
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Figures.h"
#include "lib/Report/Report.h"
#include "lib/Support/Support.h"
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

/// What may differ from one report to the next.
struct Asked {
  double outputTokens = 100, promptsTogether = 1, stepTokens = 16384;
};

/// Prefill of one prompt 10 ms, of several together 8 ms each, of 8 of them 60
/// ms; decode 1 ms at a context of 0, 3 ms at 2000. 500 W and 200 W.
static ServeInput roundNumbers(const Asked &asked) {
  double outputTokens = asked.outputTokens, together = asked.promptsTogether;
  ServeInput input;
  input.workload = {1000, outputTokens, 8, asked.stepTokens};
  input.gpus = 2;
  auto point = [](double context, double seconds, double watts) {
    return StepPoint{context,
                     {seconds / 2, seconds},
                     {seconds / 2 * watts, seconds * watts}};
  };
  input.prefillOne = input.prefillInFlight = point(1000, 10e-3, 500);
  if (together > 1) {
    input.prefillInFlight = point(1000, 8e-3 * together, 500);
    input.promptsTogether = together;
  }
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
                       llvm::StringRef op, const Asked &asked) {
  llvm::FailureOr<ServeResult> service =
      serve(roundNumbers(asked), target, llvm::errs());
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
  report.prefillOne = report.prefillInFlight = plan("prefill", 1.25);
  if (asked.promptsTogether > 1) {
    report.prefillInFlight = plan("prefill", asked.promptsTogether);
  }
  report.decode.name = "decode";
  if (asked.outputTokens > 1) {
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

static int printSteps(llvm::ArrayRef<int64_t> sizes) {
  for (const CountedStep &counted :
       prefillSteps(sizes[0], sizes[1], sizes[2])) {
    const StepGroup &group = counted.step.groups.front();
    llvm::outs() << formatQuantity(counted.times, "") << " x "
                 << group.sequences << " x " << group.newTokens << " at "
                 << group.context << "\n";
  }
  return 0;
}

static int printCounts(llvm::StringRef mode, llvm::ArrayRef<char *> words) {
  llvm::SmallVector<int64_t> sizes(4, 1);
  for (auto [word, size] : llvm::zip(words, sizes)) {
    if (!llvm::to_integer(word, size)) {
      llvm::errs() << "expected numbers, got " << word << "\n";
      return 2;
    }
  }
  if (mode == "steps") {
    return printSteps(sizes);
  }
  llvm::outs() << promptsTogether(sizes[0], sizes[1], sizes[2], sizes[3])
               << "\n";
  return 0;
}

static void printGroups(const StepShape &step) {
  llvm::interleave(
      step.groups, llvm::outs(),
      [](const StepGroup &group) {
        llvm::outs() << group.sequences << " x " << group.newTokens << " at "
                     << group.context;
      },
      " + ");
  llvm::outs() << "\n";
}

static int printSteady(llvm::ArrayRef<double> sizes) {
  SteadyState state =
      steadyState({sizes[1], sizes[2], /*sequences=*/sizes[0], sizes[3]});
  llvm::outs() << "prompt: " << formatQuantity(state.ownSteps, "")
               << " steps behind " << formatQuantity(state.waitSteps, "")
               << ", others in " << formatQuantity(state.mixedByOthers, "")
               << " of " << formatQuantity(state.decodeSteps, "") << ", filled "
               << formatQuantity(state.fill, "") << "\n";
  for (const CountedStep &counted : state.mixed) {
    llvm::outs() << formatQuantity(counted.times, "") << " x ";
    printGroups(counted.step);
  }
  if (state.decode) {
    llvm::outs() << "decode: ";
    printGroups(*state.decode);
  }
  return 0;
}

/// A curve where a step takes `start` and `token` for each new token, at 100 W.
static CurveReport curveWith(const Target &target, double start, double token,
                             llvm::ArrayRef<double> sizes) {
  CurveReport report;
  report.model = "little";
  report.machine = target.identity.name;
  report.product = target.identity.product;
  report.priceDate = target.price.date;
  report.precision = report.cachePrecision = "bf16";
  report.priceBasis = "hyperscaler";
  report.tensorParallel = 2;
  report.input = {{sizes[0], sizes[1], 1, sizes[2]}, 2, 1, sizes[3],
                  sizes.drop_front(4).vec(),         {}};
  report.points =
      *curveOf(report.input, target,
               [=](const StepShape &step) -> llvm::FailureOr<StepPoint> {
                 double seconds = start + token * double(step.tokens());
                 return StepPoint{0,
                                  {seconds / 2, seconds},
                                  {seconds * 50, seconds * 100},
                                  "device memory"};
               });
  return report;
}

static ReportFormat formatOf(llvm::StringRef mode) {
  return mode == "json"  ? ReportFormat::Json
         : mode == "csv" ? ReportFormat::Csv
                         : ReportFormat::Table;
}

static int printCurves(const Target &target, bool isCompared,
                       llvm::StringRef format, llvm::ArrayRef<double> sizes) {
  CurveReport report = curveWith(target, 1e-3, 1e-5, sizes);
  if (!isCompared) {
    printCurve(report, formatOf(format), llvm::outs());
    return 0;
  }
  CurveReport steady = curveWith(target, 2e-3, 2e-6, sizes);
  steady.machine = "steady";
  printComparison({{report.machine, {report}}, {steady.machine, {steady}}},
                  formatOf(format), llvm::outs());
  return 0;
}

/// The numbers among the words; none if one is no number.
static std::vector<double> numbers(llvm::ArrayRef<char *> words) {
  std::vector<double> sizes(words.size());
  for (auto [word, size] : llvm::zip(words, sizes)) {
    if (!llvm::to_float(word, size)) {
      llvm::errs() << "expected numbers, got " << word << "\n";
      return {};
    }
  }
  return sizes;
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
  if (mode == "steady") {
    std::vector<double> sizes = numbers(llvm::ArrayRef(argv + 3, argc - 3));
    return sizes.size() == 4 ? printSteady(sizes) : 2;
  }
  bool isCompared = mode == "compare";
  if ((mode == "curve" || isCompared) && argc > 4) {
    std::vector<double> sizes = numbers(llvm::ArrayRef(argv + 4, argc - 4));
    return sizes.size() > 4 ? printCurves(*target, isCompared, argv[3], sizes)
                            : 2;
  }
  if (mode == "steps" || mode == "together") {
    return printCounts(mode, llvm::ArrayRef(argv + 3, argc - 3));
  }
  Asked asked;
  double *numbers[] = {&asked.outputTokens, &asked.promptsTogether,
                       &asked.stepTokens};
  for (auto [word, number] : llvm::zip(
           llvm::ArrayRef(argv, argc).drop_front(std::min(argc, 4)), numbers)) {
    if (!llvm::to_float(word, *number)) {
      llvm::errs() << "expected a number, got " << word << "\n";
      return 2;
    }
  }
  return printReport(*target, mode, argc > 3 ? argv[3] : "", asked);
}
