//===- Lower.cpp - A graph of the model dialect becomes plan and kernels --===//
//
// Every tensor of a step becomes a buffer, every op one launch or a few. The
// values that layers hand on live in one buffer each: what a layer yields is
// written over what it was given, which its last reader must have read before.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/Model.h"
#include "lib/Kernels/Graph/GraphLowering.h"
#include "lib/Kernels/Kernels.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

LogicalResult modelc::lowerToSchedule(ModuleOp module, const Target &target,
                                      const KernelOptions &options) {
  SmallVector<model::GraphOp> graphs(module.getOps<model::GraphOp>());
  module->setAttr("schedule.target",
                  StringAttr::get(module.getContext(), target.identity.name));
  Library library(module, target, options);
  SmallVector<func::FuncOp> plans;
  for (model::GraphOp graph : graphs) {
    if (!graph.getPhase()) {
      return graph.emitError(
          "expected a graph of one phase, got one of none; try model-bind");
    }
    GraphLowering lowering(graph, library);
    if (failed(lowering.run())) {
      return failure();
    }
    plans.push_back(lowering.getPlan());
  }
  for (func::FuncOp plan : plans) {
    plan->moveBefore(module.getBody(), module.getBody()->end());
  }
  for (model::GraphOp graph : graphs) {
    graph.erase();
  }
  return success();
}
