#include "lib/Serve/Rates.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static Views lineAt(const Views &a, const Views &b, double part) {
  return each([&](double x, double y) { return x + part * (y - x); }, a, b);
}

/// The step at one context, on the line through the two points around it.
static StepPoint stepAt(llvm::ArrayRef<StepPoint> points, double context) {
  if (points.size() == 1) {
    return points.front();
  }
  size_t right = 1;
  while (right + 1 < points.size() && points[right].context < context) {
    ++right;
  }
  const StepPoint &a = points[right - 1], &b = points[right];
  assert(a.context < b.context && "points ascend");
  double part = (context - a.context) / (b.context - a.context);
  return {context, lineAt(a.seconds, b.seconds, part),
          lineAt(a.joules, b.joules, part)};
}

StepPoint meanStep(llvm::ArrayRef<StepPoint> points, double first,
                   double last) {
  // The mean of a broken line: trapezoids between its corners.
  std::vector<double> corners = {first};
  for (const StepPoint &point : points) {
    if (point.context > first && point.context < last) {
      corners.push_back(point.context);
    }
  }
  corners.push_back(last);
  if (last <= first) {
    return stepAt(points, first);
  }
  StepPoint mean;
  mean.context = (first + last) / 2;
  for (size_t i = 1; i < corners.size(); ++i) {
    StepPoint a = stepAt(points, corners[i - 1]);
    StepPoint b = stepAt(points, corners[i]);
    double weight = (corners[i] - corners[i - 1]) / (last - first) / 2;
    auto add = [&](double sum, double x, double y) {
      return sum + weight * (x + y);
    };
    mean.seconds = each(add, mean.seconds, a.seconds, b.seconds);
    mean.joules = each(add, mean.joules, a.joules, b.joules);
  }
  return mean;
}

/// All prompts at once, then one step for each further token: the prefill makes
/// the first.
static Service serveStatic(const ServeInput &input,
                           const std::optional<StepPoint> &decode,
                           const Target &target, double dollarsPerHour) {
  const Workload &load = input.workload;
  double steps = load.outputTokens - 1;
  auto sum = [&](double prefill, double step) {
    return prefill + steps * step;
  };
  Service service;
  service.batching = Batching::Static;
  if (decode) {
    service.tpot = decode->seconds;
  }
  StepPoint step = decode.value_or(StepPoint());
  Production made{each(sum, input.prefillAll.seconds, step.seconds),
                  each(sum, input.prefillAll.joules, step.joules),
                  load.sequences * load.outputTokens,
                  load.sequences * (load.inputTokens + load.outputTokens)};
  service.requestSeconds = made.seconds;
  fillRates(service, made, {load, double(input.gpus), dollarsPerHour}, target);
  return service;
}

/// While a request takes its decode steps, each other sequence ends once and
/// its place takes a new prompt: their prefills, but for the one in which its
/// own was read, hold the request up. In the time of a request the deployment
/// answers as many as it has sequences.
static Service serveInFlight(const ServeInput &input,
                             const std::optional<StepPoint> &decode,
                             const Target &target, double dollarsPerHour) {
  const Workload &load = input.workload;
  double steps = load.outputTokens - 1;
  double prefills = load.sequences / input.promptsTogether;
  auto sum = [&](double prefill, double step) {
    return prefills * prefill + steps * step;
  };
  StepPoint step = decode.value_or(StepPoint());
  const StepPoint &prefill = input.prefillInFlight;
  Production made{each(sum, prefill.seconds, step.seconds),
                  each(sum, prefill.joules, step.joules),
                  load.sequences * load.outputTokens,
                  load.sequences * (load.inputTokens + load.outputTokens)};
  Service service;
  service.batching = Batching::InFlight;
  service.requestSeconds = made.seconds;
  if (decode) {
    service.tpot = each(
        [&](double prefill, double step) {
          return step + (prefills - 1) / steps * prefill;
        },
        prefill.seconds, decode->seconds);
  }
  fillRates(service, made, {load, double(input.gpus), dollarsPerHour}, target);
  return service;
}

static llvm::FailureOr<double> priceOf(const ServeInput &input,
                                       const Target &target,
                                       llvm::raw_ostream &errors) {
  auto found = target.price.perHour.find(input.priceBasis);
  if (found != target.price.perHour.end()) {
    return found->second;
  }
  std::vector<llvm::StringRef> known;
  for (const auto &[basis, dollars] : target.price.perHour) {
    known.push_back(basis);
  }
  sayError(errors) << "expected a price basis of target \""
                   << target.identity.name << "\" (" << listWords(known)
                   << "), got \"" << input.priceBasis << "\""
                   << didYouMean(input.priceBasis, known) << "\n";
  return llvm::failure();
}

static double ratio(double a, double b) { return a / b; }

static void addPrefill(const ServeInput &input, ServeResult &result) {
  const Workload &load = input.workload;
  const StepPoint &all = input.prefillAll;
  double tokens = load.sequences * load.inputTokens;
  result.prefillAllSeconds = all.seconds;
  result.ttftSeconds = input.prefillOne.seconds;
  result.prefillWatts = each(ratio, all.joules, all.seconds);
  result.inputPerSecond =
      each([&](double s) { return tokens / s; }, all.seconds);
  result.joulesPerInput = each(
      [&](double j) { return j * double(input.gpus) / tokens; }, all.joules);
}

static void addDecode(const ServeInput &input, ServeResult &result) {
  const Workload &load = input.workload;
  StepPoint step = meanStep(input.decode, load.inputTokens,
                            load.inputTokens + load.outputTokens);
  result.decodePoints = input.decode;
  result.decode = step;
  result.decodeSeconds = step.seconds;
  result.decodeWatts = each(ratio, step.joules, step.seconds);
  result.joulesPerOutput =
      each([&](double j) { return j * double(input.gpus) / load.sequences; },
           step.joules);
}

llvm::FailureOr<ServeResult> serve(const ServeInput &input,
                                   const Target &target,
                                   llvm::raw_ostream &errors) {
  assert(input.decode.empty() == (input.workload.outputTokens <= 1) &&
         "a decode step makes each token behind the first");
  llvm::FailureOr<double> price = priceOf(input, target, errors);
  if (failed(price)) {
    return llvm::failure();
  }
  const Workload &load = input.workload;
  ServeResult result;
  result.workload = load;
  result.gpus = input.gpus;
  result.prefillAll = input.prefillAll;
  result.prefillOne = input.prefillOne;
  result.prefillInFlight = input.prefillInFlight;
  result.promptsTogether = input.promptsTogether;
  addPrefill(input, result);
  if (!input.decode.empty()) {
    addDecode(input, result);
  }
  result.fixed = serveStatic(input, result.decode, target, *price);
  result.inFlight = serveInFlight(input, result.decode, target, *price);
  result.priceBasis = input.priceBasis;
  result.dollarsPerHour = *price;
  result.priceDate = target.price.date;
  const Fact *fact = target.fact("price.per_hour." + input.priceBasis);
  result.priceSource = fact ? fact->source : "no source";
  return result;
}

} // namespace modelc
