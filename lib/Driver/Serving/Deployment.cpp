#include "lib/Driver/Serving/Deployment.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace modelc;

Deployment::Deployment(const Compiled &compiled, const EngineStep *engine)
    : compiled(compiled), engine(engine),
      plans(compiled.module, compiled.target) {}

FailureOr<PlanCost> Deployment::cost(StringRef phase, const StepShape &step) {
  ModuleOp module = compiled.module;
  auto plan = module.lookupSymbol<func::FuncOp>(phase);
  if (!plan) {
    return module.emitError("expected a plan '") << phase << "', found none";
  }
  RequestShape load = compiled.options.workload;
  load.batch = step.sequences();
  return plans.cost(plan, step, workloadSymbols(load, compiled.facts.pageSize));
}

FailureOr<StepPoint> Deployment::kernelsOf(const StepShape &step) {
  auto [place, isNew] = known.try_emplace(step.groups);
  if (isNew) {
    FailureOr<PlanCost> plan =
        cost(step.isDecode() ? "decode" : "prefill", step);
    if (failed(plan)) {
      return failure();
    }
    place->second = pointOf(*plan, step.sizes().at("context"));
  }
  return place->second;
}

FailureOr<StepPoint> Deployment::inOneStep(const StepShape &step) {
  FailureOr<StepPoint> point = kernelsOf(step);
  if (succeeded(point) && engine) {
    // The board waits at what it draws without work.
    double host = engine->host +
                  engine->hostSequence * static_cast<double>(step.sequences());
    point->seconds.expectation += host;
    point->joules.expectation += host * compiled.target.power.idle;
  }
  return point;
}

FailureOr<StepPoint> Deployment::time(const StepShape &step) {
  FailureOr<StepPoint> mixed = inOneStep(step);
  StepShape prompts, decodes;
  for (const StepGroup &group : step.groups) {
    (group.newTokens > 1 ? prompts : decodes).groups.push_back(group);
  }
  if (failed(mixed) || prompts.groups.empty() || decodes.groups.empty()) {
    return mixed;
  }
  FailureOr<StepPoint> first = inOneStep(prompts), second = inOneStep(decodes);
  if (failed(first) || failed(second)) {
    return failure();
  }
  StepPoint apart = inTurn(*first, *second);
  bool isMixed = mixed->seconds.expectation <= apart.seconds.expectation;
  return isMixed ? *mixed : apart;
}

FailureOr<FitResult> Deployment::fits() {
  const RequestShape &load = compiled.options.workload;
  // As engines do, room is left for the fullest step.
  int64_t prompts = llvm::divideCeil(load.maxBatchedTokens, load.inputLength);
  StepShape fullest =
      prefillSteps(prompts, load.inputLength, load.maxBatchedTokens)
          .front()
          .step;
  FailureOr<PlanCost> plan = cost("prefill", fullest);
  if (failed(plan)) {
    return failure();
  }
  Workload one = served(load);
  one.sequences = 1;
  FitChoices choices = fitChoices(compiled.facts, compiled.options);
  MemoryNeeds needs = memoryNeeds(compiled.facts, plan->storage.workspace);
  if (engine) {
    needs.reserved = (1 - engine->memory) *
                     static_cast<double>(compiled.target.memory.capacityBytes);
  }
  return fit(needs, one, choices, compiled.target);
}
