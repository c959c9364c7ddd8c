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

FailureOr<std::vector<double>> modelc::readUsers(StringRef text,
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

/// Powers of two up to `most`, and that.
static std::vector<double> usersUpTo(double most) {
  std::vector<double> users;
  for (double next = 1; next < most; next *= 2) {
    users.push_back(next);
  }
  users.push_back(most);
  return users;
}

int modelc::makeCurve(const Compiled &compiled, ArrayRef<double> users,
                      CurveReport &report, raw_ostream &errors) {
  const CompileOptions &options = compiled.options;
  Deployment deployment(compiled);
  FailureOr<FitResult> room = deployment.fits();
  if (failed(room)) {
    return kExitInternal;
  }
  if (!room->fits) {
    Workload one = served(options.workload);
    one.sequences = 1;
    sayError(errors) << fitMessage(*room, one) << "\n";
    return kExitInfeasible;
  }
  ModuleOp module = compiled.module;
  report.model = module.getSymName().value_or("model").str();
  report.precision = options.weights;
  report.activations = options.activations;
  report.cachePrecision = options.cache;
  report.queryPrecision = options.queries;
  report.tensorParallel = options.tensorParallel;
  report.priceBasis = options.priceBasis;
  CurveInput &input = report.input;
  input.workload = served(options.workload);
  input.gpus = options.tensorParallel;
  input.dollarsPerHour = compiled.target.price.perHour.at(options.priceBasis);
  input.mostRunning = room->maxSequences;
  input.users = users.empty()
                    ? usersUpTo(std::min(room->maxSequences, kMostUsers))
                    : users.vec();
  FailureOr<std::vector<CurvePoint>> points =
      curveOf(input, compiled.target,
              [&](const StepShape &step) { return deployment.time(step); });
  if (failed(points)) {
    return kExitInternal;
  }
  report.points = std::move(*points);
  return kExitOk;
}

static void print(const CurveReport &report, const Target &target,
                  ReportFormat format, raw_ostream &os) {
  switch (format) {
  case ReportFormat::Table:
    return printCurveText(report, target, os);
  case ReportFormat::Json:
    return printCurveJson(report, target, os);
  case ReportFormat::Csv:
    return printCurveCsv(report, target, os);
  }
}

int modelc::serveModel(const CompileOptions &options, StringRef users,
                       raw_ostream &out, raw_ostream &errors) {
  FailureOr<std::vector<double>> asked = readUsers(users, errors);
  if (failed(asked)) {
    return kExitUsage;
  }
  if (!asked->empty() && options.workload.maxBatchedTokens < asked->back()) {
    sayError(errors) << "expected --max-batched-tokens of at least "
                     << int64_t(asked->back())
                     << ", a token of each user of --concurrency, got "
                     << options.workload.maxBatchedTokens << "\n";
    return kExitUsage;
  }
  CompileOptions any = options;
  any.emit = Stage::Estimate;
  any.output.clear();
  any.wantsAnyStep = true;
  any.workload.batch =
      static_cast<int64_t>(asked->empty() ? kMostUsers : asked->back());
  auto answer = [&](const Compiled &compiled) {
    CurveReport report;
    int code = makeCurve(compiled, *asked, report, errors);
    if (code != kExitOk) {
      return code;
    }
    return writeText(
        options.output,
        [&](raw_ostream &os) {
          print(report, compiled.target, options.format, os);
        },
        out, errors);
  };
  return compileFor(any, answer, errors);
}
