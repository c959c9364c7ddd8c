//===- ModelStage.cpp - The order of the model passes ---------------------===//

#include "lib/Driver/Stages.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace modelc;

static void buildModelPipeline(OpPassManager &manager, model::Phase phase,
                               const CompileOptions &options) {
  // Quantise before sharding: the scales of a weight are those of the whole
  // tensor, whichever part of it a rank holds.
  ModelQuantiseOptions quantise;
  quantise.weights = model::formatOf(options.weights);
  quantise.inputs = model::findFormat(options.activations);
  quantise.kv = model::formatOf(options.cache);
  quantise.queries = model::formatOf(options.queries);
  manager.addPass(createModelQuantise(quantise));
  // Pad before sharding: words that are added make equal parts.
  manager.addPass(createModelPad({options.tensorParallel}));
  // Shard before fusing: the all-reduce decides where a residual can go.
  manager.addPass(
      createModelShard({options.tensorParallel, /*ep=*/1, /*dp=*/1}));
  // Rotate between them: it moves the sums to where a norm can take them in.
  manager.addPass(createModelRotate());
  manager.addPass(createModelFuse());
  // Bind behind it: what is fused is the same in both phases.
  ModelBindOptions bind;
  bind.phase = phase;
  manager.addPass(createModelBind(bind));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Join behind bind: which pairs one kernel computes depends on the phase.
  manager.addPass(createModelJoin());
  // State formats last: weights are what they are read as then.
  manager.addPass(createModelStateFormats());
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::lowerModel(model::GraphOp graph, const CompileOptions &options) {
  // The graphs take the names of their phases, the module keeps the model's.
  OwningOpRef<ModuleOp> phases =
      ModuleOp::create(graph.getLoc(), graph.getSymName());
  for (model::Phase phase : {model::Phase::Prefill, model::Phase::Decode}) {
    auto bound = cast<model::GraphOp>(graph->clone());
    phases->push_back(bound);
    bound.setSymName(stringifyPhase(phase));
    PassManager manager(graph.getContext(), model::GraphOp::getOperationName());
    buildModelPipeline(manager, phase, options);
    if (failed(manager.run(bound))) {
      return failure();
    }
  }
  return phases;
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::boundPhases(ModuleOp input, const CompileOptions &options) {
  OwningOpRef<ModuleOp> phases = cast<ModuleOp>(input->clone());
  for (model::Phase phase : {model::Phase::Prefill, model::Phase::Decode}) {
    llvm::StringRef name = stringifyPhase(phase);
    auto graph = phases->lookupSymbol<model::GraphOp>(name);
    if (!graph || graph.getPhase() != phase) {
      return input.emitError("expected a graph of phase ")
             << name << " named @" << name
             << " beside the other phase's; 'modelc --emit=model' prints both";
    }
    if (graph.getRanks() != options.tensorParallel) {
      return emitError(model::placeOf(graph, model::Subject::Ranks),
                       "expected --tp=")
             << graph.getRanks() << ", the ranks of this graph, got --tp="
             << options.tensorParallel;
    }
  }
  return phases;
}
