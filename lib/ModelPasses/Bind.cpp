//===- Bind.cpp - The graph of one phase ----------------------------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Weights.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELBIND
#include "lib/ModelPasses/Passes.h.inc"

namespace {
struct Bind : public impl::ModelBindBase<Bind> {
  using ModelBindBase::ModelBindBase;

  void runOnOperation() override {
    model::GraphOp graph = getOperation();
    if (page < 1) {
      graph.emitError("expected a page of at least 1 token, got ")
          << int64_t(page);
      return signalPassFailure();
    }
    graph.setPhase(phase);
    graph.walk([&](model::CacheOp cache) {
      model::CacheType type = cache.getType();
      setCacheType(
          cache, model::CacheType::get(&getContext(), type.getKvHeads(),
                                       type.getHeadDim(), type.getElementType(),
                                       page, type.getLatent()));
    });
    // A decode step has few queries for all that it reads of a sequence.
    graph.walk([&](model::LatentAttentionOp attention) {
      attention.setAbsorbed(phase == model::Phase::Decode);
    });
    if (failed(phase == model::Phase::Decode ? bindDecode(graph)
                                             : bindPrefill(graph))) {
      signalPassFailure();
    }
  }

  /// The only token of a sequence is its last.
  LogicalResult bindDecode(model::GraphOp graph) {
    graph.walk([](model::LastOp last) {
      last.getOut().replaceAllUsesWith(last.getX());
      last->erase();
    });
    return success();
  }

  LogicalResult bindPrefill(model::GraphOp graph) {
    LogicalResult result = success();
    graph.walk([&](model::SampleOp sample) {
      if (graph.getOps<model::LastOp>().empty()) {
        result = sample.emitError(
            "expected 'model.last' before the head: a prefill samples one "
            "token for each sequence");
      }
    });
    return result;
  }
};
} // namespace
} // namespace modelc
