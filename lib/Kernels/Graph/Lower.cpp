//===- Lower.cpp - A graph of the model dialect becomes plan and kernels --===//
//
// Every tensor of a step becomes a buffer, every op one launch or a few. The
// values that layers hand on live in one buffer each: what a layer yields is
// written over what it was given, which its last reader must have read before.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Graph/Lowering.h"
#include "lib/Kernels/Graph/Missing.h"
#include "lib/Kernels/Kernels.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

LogicalResult kernels::lowerOp(Lowering &in, Operation *op) {
  in.library.asker = in.plan.asker = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<model::AddOp, model::AllGatherOp, model::AllReduceOp,
            model::AppendOp, model::AttentionOp, model::CacheOp,
            model::ConcatOp, model::EmbedOp, model::ExpertsOp, model::GateOp,
            model::GatherRowsOp, model::JoinedOp, model::LastOp,
            model::LatentAppendOp, model::LatentAttentionOp, model::LayersOp,
            model::LinearOp, model::NormOp, model::QuantiseOp, model::ReturnOp,
            model::RopeAppendOp, model::RopeOp, model::RouteOp, model::SampleOp,
            model::ScatterRowsOp, model::SwigluOp, model::WeightOp,
            model::YieldOp, model::ZerosOp>(
          [&](auto known) { return lower(in, known); })
      .Default([](Operation *other) {
        return other->emitError("expected an op that a kernel computes, got '")
               << other->getName() << "'; try model-fuse";
      });
}

LogicalResult kernels::lowerBlock(Lowering &in, Block &block) {
  for (Operation &op : block) {
    if (failed(lowerOp(in, &op))) {
      return failure();
    }
    in.releaseOperands(&op);
  }
  return success();
}

/// Tokens come from the step, what a graph returns goes to its outputs.
static LogicalResult bindEnds(Lowering &in) {
  Block &body = in.graph.getBody().front();
  Value tokens = in.plan.sizes.tokens;
  for (BlockArgument argument : body.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor) {
      continue; // the batch
    }
    if (tensor.getRank() != 1 || !tensor.getElementType().isInteger(32)) {
      return in.graph.emitError("expected tokens and their batch as "
                                "arguments, got ")
             << tensor;
    }
    in.storage[argument] = {in.input("tokens", tensor.getElementType(),
                                     {ShapedType::kDynamic}, tokens),
                            tokens,
                            {}};
  }
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto tensor = cast<RankedTensorType>(value.getType());
    bool isToken = tensor.getElementType().isInteger(32);
    in.wanted[value] =
        in.plan.named({StorageRole::Output,
                       isToken ? "next_tokens" : "out" + std::to_string(i),
                       SmallVector<int64_t>(tensor.getShape()),
                       tensor.getElementType(),
                       {in.plan.sizes.sequences}});
  }
  return success();
}

/// How scales lie in memory follows from the format that their weight states.
static LogicalResult verifyStated(model::GraphOp graph) {
  auto isStated = [](Value value) {
    auto weight = value ? value.getDefiningOp<model::WeightOp>() : nullptr;
    return !weight || weight.getFormatAttr();
  };
  WalkResult walk = graph.walk([&](Operation *op) {
    auto linear = dyn_cast<model::LinearOp>(op);
    auto experts = dyn_cast<model::ExpertsOp>(op);
    auto cache = dyn_cast<model::CacheOp>(op);
    if ((!linear || isStated(linear.getWeightScale())) &&
        (!experts || (isStated(experts.getGateUpScale()) &&
                      isStated(experts.getDownScale()))) &&
        (!cache || isStated(cache.getKScale()))) {
      return WalkResult::advance();
    }
    op->emitError("expected scales that state the format of their numbers, got "
                  "none; try model-state-formats");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

/// The plan of a graph.
static FailureOr<func::FuncOp> planOf(model::GraphOp graph, Library &library) {
  if (!graph.getPhase()) {
    return graph.emitError(
        "expected a graph of one phase, got one of none; try model-bind");
  }
  if (failed(refuseMissing(graph)) || failed(verifyStated(graph))) {
    return failure();
  }
  Lowering in(graph, library);
  if (failed(bindEnds(in)) || failed(lowerBlock(in, graph.getBody().front()))) {
    return failure();
  }
  return in.plan.function;
}

/// That all launches bind what their kernels declare.
static LogicalResult verifyLaunches(func::FuncOp plan) {
  SymbolTableCollection symbols;
  WalkResult walk = plan.walk([&](schedule::LaunchOp launch) {
    return WalkResult(launch.verifySymbolUses(symbols));
  });
  return failure(walk.wasInterrupted());
}

LogicalResult modelc::lowerToSchedule(ModuleOp module, const Target &target,
                                      const KernelOptions &options) {
  SmallVector<model::GraphOp> graphs(module.getOps<model::GraphOp>());
  module->setAttr("schedule.target",
                  StringAttr::get(module.getContext(), target.identity.name));
  Library library(module, target, options);
  SmallVector<func::FuncOp> plans;
  for (model::GraphOp graph : graphs) {
    FailureOr<func::FuncOp> plan = planOf(graph, library);
    if (failed(plan)) {
      return failure();
    }
    plans.push_back(*plan);
  }
  for (func::FuncOp plan : plans) {
    plan->moveBefore(module.getBody(), module.getBody()->end());
    if (failed(verifyLaunches(plan))) {
      return failure();
    }
  }
  for (model::GraphOp graph : graphs) {
    graph.erase();
  }
  return success();
}
