//===- Estimate.cpp - From final schedules to a report --------------------===//

#include "lib/Driver/Stages.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace modelc;

namespace {
/// Costs the plans of one module at the sizes of a workload.
class Estimator {
public:
  Estimator(ModuleOp module, const RequestShape &workload, int64_t pageSize,
            const Target &target, Explanations explanations)
      : module(module), plans(module, target), workload(workload),
        pageSize(pageSize), explanations(explanations) {}

  /// Whole prompts in one step.
  FailureOr<PlanCost> prefill(const StepOfRun &step);
  /// One token for each sequence after `context` tokens.
  FailureOr<PlanCost> decode(int64_t context);
  /// All prompts, as many in a step as fit.
  FailureOr<PlanCost> prefillAll();
  FailureOr<PlanCost> prefillOne() { return prefill(steps.prefillOne); }

private:
  FailureOr<PlanCost> cost(StringRef plan, Bindings bindings);

  ModuleOp module;
  PlanCoster plans;
  const RequestShape &workload;
  EstimatedSteps steps = estimatedSteps(workload);
  int64_t pageSize;
  Explanations explanations;
};
} // namespace

/// What every step of a workload binds alike.
static void addCacheSizes(const RequestShape &workload, int64_t pageSize,
                          Bindings &bindings) {
  int64_t last = workload.inputLength + workload.outputLength;
  int64_t pages = llvm::divideCeil(last, pageSize);
  bindings["pages_per_sequence"] = pages;
  bindings["cache_rows"] = pages * pageSize * workload.batch;
  bindings["rank"] = 0;
}

FailureOr<PlanCost> Estimator::cost(StringRef plan, Bindings bindings) {
  auto function = module.lookupSymbol<func::FuncOp>(plan);
  if (!function) {
    return module.emitError("expected a plan '") << plan << "', found none";
  }
  addCacheSizes(workload, pageSize, bindings);
  CostOptions options;
  options.explain = explanations == Explanations::Sums;
  options.evidence = explanations == Explanations::Evidence;
  return plans.cost(function, bindings, options);
}

/// What any step binds.
static Bindings sizesOf(const StepOfRun &step, int64_t context) {
  return {{"tokens", static_cast<double>(step.tokens)},
          {"sequences", static_cast<double>(step.sequences)},
          {"context", static_cast<double>(context)}};
}

Bindings modelc::lastDecodeStep(const RequestShape &workload,
                                int64_t pageSize) {
  Bindings sizes = sizesOf(estimatedSteps(workload).decode,
                           workload.inputLength + workload.outputLength);
  sizes["longest"] = 1;
  addCacheSizes(workload, pageSize, sizes);
  return sizes;
}

FailureOr<PlanCost> Estimator::prefill(const StepOfRun &step) {
  Bindings sizes = sizesOf(step, workload.inputLength);
  sizes["longest"] = workload.inputLength;
  return cost("prefill", std::move(sizes));
}

FailureOr<PlanCost> Estimator::decode(int64_t context) {
  return cost("decode", sizesOf(steps.decode, context));
}

/// A plan that runs `times` as often.
static PlanCost repeated(PlanCost plan, double times) {
  for (StepCost &step : plan.steps) {
    step.count *= times;
  }
  for (Estimate *view : {&plan.bound, &plan.expectation}) {
    view->seconds *= times;
    view->joules *= times;
  }
  plan.launches *= times;
  plan.starts *= times;
  return plan;
}

FailureOr<PlanCost> Estimator::prefillAll() {
  FailureOr<PlanCost> step = prefill(steps.prefillAll);
  if (failed(step)) {
    return failure();
  }
  return repeated(std::move(*step), static_cast<double>(workload.batch) /
                                        steps.prefillAll.sequences);
}

static StepPoint pointOf(const PlanCost &plan, double context) {
  StepPoint point;
  point.context = context;
  point.seconds = {plan.bound.seconds, plan.expectation.seconds};
  point.joules = {plan.bound.joules, plan.expectation.joules};
  return point;
}

static Workload served(const RequestShape &workload) {
  return {static_cast<double>(workload.inputLength),
          static_cast<double>(workload.outputLength),
          static_cast<double>(workload.batch)};
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

static FitResult fitOf(const Report &report, const ModelFacts &model,
                       const Target &target, const CompileOptions &options) {
  MemoryNeeds needs;
  needs.weights = model.weightBytes;
  needs.cachePerToken = model.cacheBytesPerToken;
  needs.workspace = std::max(report.prefill.storage.workspace,
                             report.decode.storage.workspace);
  FitChoices choices;
  choices.tensorParallel = options.tensorParallel;
  choices.maxTensorParallel = model.maxTensorParallel;
  choices.cacheShards = choices.maxTensorParallel;
  choices.weightBits = model::formatOf(options.weights)->bits;
  choices.cacheBits = model::formatOf(options.cache)->bits;
  return fit(needs, served(options.workload), choices, target);
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
    FailureOr<PlanCost> plan = estimator.decode(context);
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

FailureOr<Report>
modelc::estimateModel(ModuleOp module, const ModelFacts &model,
                      const Target &target, const CompileOptions &options,
                      Explanations explanations, llvm::raw_ostream &errors) {
  const RequestShape &workload = options.workload;
  Estimator estimator(module, workload, model.pageSize, target, explanations);
  FailureOr<PlanCost> all = estimator.prefillAll();
  FailureOr<PlanCost> one = estimator.prefillOne();
  if (failed(all) || failed(one)) {
    return failure();
  }
  ServeInput input;
  input.workload = served(workload);
  input.gpus = options.tensorParallel;
  input.prefillAll = pointOf(*all, workload.inputLength);
  input.prefillOne = pointOf(*one, workload.inputLength);
  input.priceBasis = options.priceBasis;
  Report report;
  report.decode.name = "decode";
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
  report.prefill = std::move(*all);
  report.prefillOne = std::move(*one);
  report.memory = fitOf(report, model, target, options);
  return report;
}
