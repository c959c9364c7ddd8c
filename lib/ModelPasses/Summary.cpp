//===- Summary.cpp - How many weights, how much cache ---------------------===//

#include "lib/ModelPasses/ModelPasses.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELSUMMARY
#include "lib/ModelPasses/Passes.h.inc"

/// How often an op runs in one step: once, or once for each layer around it.
static int64_t repeats(Operation *op) {
  auto layers = op->getParentOfType<model::LayersOp>();
  return layers ? static_cast<int64_t>(layers.getCount()) : 1;
}

/// The sum that a weight counts towards, by the op that reads it first.
static int64_t &classOf(model::WeightOp weight, ModelSummary &summary) {
  for (Operation *user : weight->getUsers()) {
    if (isa<model::EmbedOp>(user)) {
      return summary.embeddingBytes;
    }
    if (isa<model::CacheOp, model::AttentionOp, model::LatentAttentionOp>(
            user)) {
      return summary.attentionBytes;
    }
  }
  model::LinearOp linear;
  for (Operation *user : weight->getUsers()) {
    auto norm = dyn_cast<model::NormOp>(user);
    if (norm && norm.getWeight() == weight) {
      return summary.normBytes;
    }
    // What quantises an input reads its scale too.
    linear = linear ? linear : dyn_cast<model::LinearOp>(user);
  }
  if (!linear) {
    return summary.mlpBytes;
  }
  return linear.getRole() == model::Role::Vocabulary ? summary.headBytes
         : linear.getHeadDim()                       ? summary.attentionBytes
                                                     : summary.mlpBytes;
}

/// How many of a weight's numbers a token meets.
static int64_t activeOf(model::WeightOp weight, int64_t elements) {
  for (Operation *user : weight->getUsers()) {
    if (auto experts = dyn_cast<model::ExpertsOp>(user)) {
      return elements / experts.getCount() * experts.getTopK();
    }
  }
  return elements;
}

ModelSummary summarise(model::GraphOp graph) {
  ModelSummary summary;
  summary.ranks = graph.getRanks();
  graph.walk([&](model::LayersOp layers) {
    summary.layers += layers.getLayerCount();
  });
  graph.walk([&](model::WeightOp weight) {
    RankedTensorType type = weight.getType();
    int64_t elements = type.getNumElements() * repeats(weight);
    bool isScale = weight.getChannelScale() || weight.getBlockScale() ||
                   weight.getTensorScale();
    if (!isScale && !weight.getAbsent()) {
      summary.parameters += elements;
      summary.activeParameters += activeOf(weight, elements);
    }
    classOf(weight, summary) += elements * type.getElementTypeBitWidth() / 8;
  });
  graph.walk([&](model::CacheOp cache) {
    summary.cacheBytesPerToken +=
        cache.getType().getBytesPerToken() * repeats(cache);
  });
  return summary;
}

namespace {
struct PrintSummary : public impl::ModelSummaryBase<PrintSummary> {
  void runOnOperation() override {
    modelc::ModelSummary s = summarise(getOperation());
    getOperation().emitRemark()
        << s.layers << " layers, " << s.parameters << " parameters"
        << (s.activeParameters == s.parameters
                ? std::string()
                : " (" + std::to_string(s.activeParameters) + " active)")
        << " on each of " << s.ranks << " ranks; bytes on each: embedding "
        << s.embeddingBytes << ", attention " << s.attentionBytes << ", mlp "
        << s.mlpBytes << ", norm " << s.normBytes << ", head " << s.headBytes
        << ", all weights " << s.weightBytes() << "; cache per token "
        << s.cacheBytesPerToken;
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace modelc
