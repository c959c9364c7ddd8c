//===- Serve.cpp - modelc serve: the curve of one deployment --------------===//

#include "lib/Driver/Serving/Serving.h"

#include "lib/Driver/Usage.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using llvm::raw_ostream;

/// Requests that run at once at most where nobody says how many: what vLLM
/// takes on GPUs of this size (`max_num_seqs` in vllm/engine/arg_utils.py).
static constexpr double kMostUsers = 1024;
/// Points of a curve at most, and users of one: more are a slip of the finger.
static constexpr size_t kMostPoints = 1000;
static constexpr int64_t kMostOfOnePoint = 1 << 20;

static FailureOr<std::vector<double>> readUsers(StringRef text,
                                                raw_ostream &errors) {
  std::vector<double> users;
  if (text == "auto") {
    return users;
  }
  SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words) {
    int64_t number = 0;
    if (!llvm::to_integer(word, number, 10) || number < 1 ||
        number > kMostOfOnePoint || users.size() == kMostPoints) {
      sayError(errors) << "expected --concurrency=auto or up to " << kMostPoints
                       << " numbers from 1 to " << kMostOfOnePoint
                       << " with commas, got \"" << word << "\"\n";
      return failure();
    }
    users.push_back(static_cast<double>(number));
  }
  llvm::sort(users);
  users.erase(llvm::unique(users), users.end());
  return users;
}

/// What the files of engines say of the steps of `name`; none of our own.
static FailureOr<std::optional<EngineStep>>
readEngine(StringRef name, StringRef directory, raw_ostream &errors) {
  if (name == CurveReport().engine) {
    return std::optional<EngineStep>();
  }
  FailureOr<Engines> engines = loadEngines(directory, errors);
  if (failed(engines)) {
    return failure();
  }
  std::vector<StringRef> known = {"modelc"};
  for (const EngineStep &step : engines->steps) {
    if (step.scope.holds(name, "", "")) {
      return std::optional(step);
    }
    known.insert(known.end(), step.scope.engines.begin(),
                 step.scope.engines.end());
  }
  sayError(errors) << "expected --engine of " << listWords(known) << ", got \""
                   << name << "\"" << didYouMean(name, known) << "\n";
  return failure();
}

FailureOr<AskedOfCurve> modelc::readAsked(const ServeOptions &asked,
                                          const CompileOptions &options,
                                          raw_ostream &errors) {
  int64_t stepTokens = options.workload.maxBatchedTokens;
  FailureOr<std::vector<double>> users = readUsers(asked.users, errors);
  FailureOr<std::vector<Objective>> objectives =
      readObjectives(asked.objectives, errors);
  auto engine = readEngine(asked.engine, options.targetsDirectory, errors);
  if (failed(users) || failed(objectives) || failed(engine)) {
    return failure();
  }
  auto most = static_cast<int64_t>(users->empty() ? kMostUsers : users->back());
  if (users->empty()) {
    most = std::min(most, stepTokens);
  }
  if (most > stepTokens) {
    sayError(errors) << "expected --max-batched-tokens of at least " << most
                     << ", a token of each user of --concurrency, got "
                     << stepTokens << "\n";
    return failure();
  }
  return AskedOfCurve{std::move(*users), std::move(*objectives), asked.engine,
                      std::move(*engine), most};
}

/// Powers of two up to `most`, and that.
static std::vector<double> usersUpTo(double most) {
  std::vector<double> users;
  for (double next = 1; next < most; next *= 2) {
    users.push_back(next);
  }
  users.push_back(most);
  return users;
}

/// What a curve says of its plan.
static void describe(const Compiled &compiled, CurveReport &report) {
  const CompileOptions &options = compiled.options;
  const Target &target = compiled.target;
  ModuleOp module = compiled.module;
  report.model = module.getSymName().value_or("model").str();
  report.machine = target.identity.name;
  report.product = target.identity.product;
  report.precision = options.weights;
  report.activations = options.activations;
  report.cachePrecision = options.cache;
  report.queryPrecision = options.queries;
  report.tensorParallel = options.tensorParallel;
  report.priceBasis = options.priceBasis;
  report.priceDate = target.price.date;
  report.input.workload = served(options.workload);
  report.input.gpus = options.tensorParallel;
  report.input.dollarsPerHour = target.price.perHour.at(options.priceBasis);
}

/// What our own engine does for the same users.
static int addOwn(const Compiled &compiled, Deployment &deployment,
                  CurveReport &report) {
  deployment.setEngine(nullptr);
  FailureOr<FitResult> room = deployment.fits();
  if (failed(room)) {
    return kExitInternal;
  }
  CurveInput input = report.input;
  input.mostRunning = room->maxSequences;
  input.objectives.clear();
  input.users.clear();
  for (const CurvePoint &point : report.points) {
    input.users.push_back(point.users);
  }
  FailureOr<std::vector<CurvePoint>> points =
      curveOf(input, compiled.target,
              [&](const StepShape &step) { return deployment.time(step); });
  if (failed(points)) {
    return kExitInternal;
  }
  report.own = std::move(*points);
  return kExitOk;
}

/// The curve of a compiled model.
static int makeCurve(const Compiled &compiled, const AskedOfCurve &asked,
                     CurveReport &report, raw_ostream &errors) {
  Deployment deployment(compiled, asked.engine ? &*asked.engine : nullptr);
  FailureOr<FitResult> room = deployment.fits();
  if (failed(room)) {
    return kExitInternal;
  }
  if (!room->fits) {
    Workload one = served(compiled.options.workload);
    one.sequences = 1;
    sayError(errors) << fitMessage(*room, one) << "\n";
    return kExitInfeasible;
  }
  describe(compiled, report);
  report.engine = asked.engineName;
  CurveInput &input = report.input;
  input.objectives = asked.objectives;
  input.mostRunning = room->maxSequences;
  input.users =
      asked.users.empty()
          ? usersUpTo(std::min(room->maxSequences, double(asked.most)))
          : asked.users;
  auto time = [&](const StepShape &step) { return deployment.time(step); };
  FailureOr<std::vector<CurvePoint>> points =
      curveOf(input, compiled.target, time);
  if (failed(points)) {
    return kExitInternal;
  }
  report.points = std::move(*points);
  return asked.engine ? addOwn(compiled, deployment, report) : int(kExitOk);
}

int modelc::makeCurve(const CompileOptions &options, const AskedOfCurve &asked,
                      CurveReport &report, raw_ostream &errors) {
  CompileOptions any = options;
  any.emit = Stage::Estimate;
  any.output.clear();
  any.wantsAnyStep = true;
  any.workload.batch = asked.most;
  return compileFor(
      any,
      [&](const Compiled &compiled) {
        return ::makeCurve(compiled, asked, report, errors);
      },
      errors);
}

int modelc::serveModel(const CompileOptions &options, const ServeOptions &asked,
                       raw_ostream &out, raw_ostream &errors) {
  FailureOr<AskedOfCurve> read = readAsked(asked, options, errors);
  if (failed(read)) {
    return kExitUsage;
  }
  CurveReport report;
  int code = makeCurve(options, *read, report, errors);
  if (code != kExitOk) {
    return code;
  }
  return writeText(
      options.output,
      [&](raw_ostream &os) { printCurve(report, options.format, os); }, out,
      errors);
}
