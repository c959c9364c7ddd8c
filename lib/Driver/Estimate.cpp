//===- Estimate.cpp - From final schedules to a report --------------------===//

#include "lib/Cost/ExpertLoad.h"
#include "lib/Driver/Stages.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace modelc;

namespace {
/// Costs the plans of one module at the steps of a workload.
class Estimator {
public:
  Estimator(ModuleOp module, const RequestShape &workload, int64_t pageSize,
            const Target &target, Explanations explanations);

  FailureOr<PlanCost> cost(const StepShape &step);
  /// Steps of prompts that follow one another.
  FailureOr<PlanCost> prefill(ArrayRef<CountedStep> steps);

private:
  ModuleOp module;
  PlanCoster plans;
  Bindings symbols;
  CostOptions options;
};
} // namespace

Bindings modelc::workloadSymbols(const RequestShape &workload,
                                 int64_t pageSize) {
  int64_t last = workload.inputLength + workload.outputLength;
  // A model without attention keeps nothing of its tokens.
  int64_t pages = pageSize > 0 ? llvm::divideCeil(last, pageSize) : 0;
  Bindings symbols = {{"pages_per_sequence", pages},
                      {"cache_rows", pages * pageSize * workload.batch},
                      {"rank", 0}};
  symbols.merge(ExpertLoad::parse(workload.expertLoad)->symbols());
  return symbols;
}

Estimator::Estimator(ModuleOp module, const RequestShape &workload,
                     int64_t pageSize, const Target &target,
                     Explanations explanations)
    : module(module), plans(module, target),
      symbols(workloadSymbols(workload, pageSize)) {
  options.explain = explanations == Explanations::Sums;
  options.evidence = explanations == Explanations::Evidence;
}

FailureOr<PlanCost> Estimator::cost(const StepShape &step) {
  StringRef plan = step.isDecode() ? "decode" : "prefill";
  auto function = module.lookupSymbol<func::FuncOp>(plan);
  if (!function) {
    return module.emitError("expected a plan '") << plan << "', found none";
  }
  return plans.cost(function, step, symbols, options);
}

Bindings modelc::lastDecodeStep(const RequestShape &workload,
                                int64_t pageSize) {
  Bindings sizes =
      decodeStep(workload, workload.inputLength + workload.outputLength)
          .sizes();
  sizes.merge(workloadSymbols(workload, pageSize));
  return sizes;
}

/// "prefill, 16384 tokens at a context of 32768"
static std::string nameOf(const StepShape &step) {
  return ("prefill, " + Twine(step.tokens()) + " tokens at a context of " +
          Twine(step.groups.front().context))
      .str();
}

FailureOr<PlanCost> Estimator::prefill(ArrayRef<CountedStep> steps) {
  std::vector<PlanCost> parts;
  for (const CountedStep &counted : steps) {
    FailureOr<PlanCost> one = cost(counted.step);
    if (failed(one)) {
      return failure();
    }
    parts.push_back(repeated(std::move(*one), counted.times));
    parts.back().name = steps.size() > 1 ? nameOf(counted.step) : "prefill";
  }
  return inTurn("prefill", std::move(parts));
}

StepPoint modelc::pointOf(const PlanCost &plan, double context) {
  StepPoint point;
  point.context = context;
  point.seconds = {plan.bound.seconds, plan.expectation.seconds};
  point.joules = {plan.bound.joules, plan.expectation.joules};
  point.limit = plan.expectation.limit;
  return point;
}

Workload modelc::served(const RequestShape &workload) {
  return {static_cast<double>(workload.inputLength),
          static_cast<double>(workload.outputLength),
          static_cast<double>(workload.batch),
          static_cast<double>(workload.maxBatchedTokens)};
}

ModelFacts modelc::modelFacts(model::GraphOp graph, ModuleOp phases,
                              const Target &target) {
  ModelFacts facts;
  facts.parameters = summarise(graph).parameters;
  SmallVector<int64_t> ranks =
      possibleRanks(graph, std::max<int64_t>(target.link.domain, 1));
  facts.maxTensorParallel = ranks.empty() ? 1 : ranks.back();
  for (model::GraphOp phase : phases.getOps<model::GraphOp>()) {
    ModelSummary onOneRank = summarise(phase);
    facts.weightBytes = onOneRank.weightBytes();
    facts.cacheBytesPerToken = onOneRank.cacheBytesPerToken;
    phase.walk([&](model::CacheOp cache) {
      facts.pageSize = cache.getType().getPage();
    });
  }
  return facts;
}

MemoryNeeds modelc::memoryNeeds(const ModelFacts &model, double workspace) {
  MemoryNeeds needs;
  needs.weights = model.weightBytes;
  needs.cachePerToken = model.cacheBytesPerToken;
  needs.workspace = workspace;
  return needs;
}

FitChoices modelc::fitChoices(const ModelFacts &model,
                              const CompileOptions &options) {
  FitChoices choices;
  choices.tensorParallel = options.tensorParallel;
  choices.maxTensorParallel = model.maxTensorParallel;
  choices.cacheShards = choices.maxTensorParallel;
  choices.weightBits = model::formatOf(options.weights)->bits;
  choices.cacheBits = model::formatOf(options.cache)->bits;
  return choices;
}

static FitResult fitOf(const Report &report, const ModelFacts &model,
                       const Target &target, const CompileOptions &options) {
  MemoryNeeds needs =
      memoryNeeds(model, std::max(report.prefill.storage.workspace,
                                  report.decode.storage.workspace));
  return fit(needs, served(options.workload), fitChoices(model, options),
             target);
}

/// Costs decode at the first, the middle and the last context of a request, as
/// far as they differ.
static LogicalResult estimateDecode(Estimator &estimator,
                                    const RequestShape &workload,
                                    std::vector<StepPoint> &points,
                                    Report &report) {
  int64_t first = workload.inputLength + 1;
  int64_t last = workload.inputLength + workload.outputLength;
  int64_t middle = (first + last) / 2;
  for (int64_t context : std::set<int64_t>{first, middle, last}) {
    FailureOr<PlanCost> plan = estimator.cost(decodeStep(workload, context));
    if (failed(plan)) {
      return failure();
    }
    points.push_back(pointOf(*plan, static_cast<double>(context)));
    if (context == middle) {
      report.decode = std::move(*plan);
      report.decodeContext = static_cast<double>(middle);
    }
  }
  return success();
}

/// Costs the prompts: all, one, and those that an in-flight batch reads
/// together.
static LogicalResult estimatePrefill(Estimator &estimator,
                                     const RequestShape &workload,
                                     ServeInput &input, Report &report) {
  EstimatedSteps steps = estimatedSteps(workload);
  const std::tuple<ArrayRef<CountedStep>, PlanCost *, StepPoint *> phases[] = {
      {steps.prefillAll, &report.prefill, &input.prefillAll},
      {steps.prefillOne, &report.prefillOne, &input.prefillOne},
      {steps.prefillInFlight, &report.prefillInFlight, &input.prefillInFlight}};
  for (auto [counted, to, point] : phases) {
    FailureOr<PlanCost> plan = estimator.prefill(counted);
    if (failed(plan)) {
      return failure();
    }
    *point = pointOf(*plan, static_cast<double>(workload.inputLength));
    *to = std::move(*plan);
  }
  input.promptsTogether = static_cast<double>(steps.promptsTogether);
  return success();
}

FailureOr<Report>
modelc::estimateModel(ModuleOp module, const ModelFacts &model,
                      const Target &target, const CompileOptions &options,
                      Explanations explanations, llvm::raw_ostream &errors) {
  const RequestShape &workload = options.workload;
  Estimator estimator(module, workload, model.pageSize, target, explanations);
  ServeInput input;
  input.workload = served(workload);
  input.gpus = options.tensorParallel;
  input.priceBasis = options.priceBasis;
  Report report;
  report.decode.name = "decode";
  if (failed(estimatePrefill(estimator, workload, input, report))) {
    return failure();
  }
  // Prefill makes the first token out.
  if (workload.outputLength > 1 &&
      failed(estimateDecode(estimator, workload, input.decode, report))) {
    return failure();
  }
  FailureOr<ServeResult> service = serve(input, target, errors);
  if (failed(service)) {
    return failure();
  }
  report.model = module.getSymName().value_or("model").str();
  report.precision = options.weights;
  report.activations = options.activations;
  report.cachePrecision = options.cache;
  report.queryPrecision = options.queries;
  report.tensorParallel = options.tensorParallel;
  report.parameters = model.parameters;
  report.service = *service;
  report.memory = fitOf(report, model, target, options);
  return report;
}
