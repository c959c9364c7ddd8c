//===- Experts.cpp - Routers and experts in a config.json -----------------===//
//
// Files name the same things differently, and leave out what their classes have
// by default. How scores become weights is the class's own and in no file.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Experts.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kTopK = "num_experts_per_tok";

/// A tensor of each expert for gate, up and down, by other names.
static void nameByNumber(ExpertsShape &experts) {
  experts.prefix = "block_sparse_moe.";
  experts.gateUp = {"experts.{expert}.w1.weight", "experts.{expert}.w3.weight"};
  experts.down = "experts.{expert}.w2.weight";
}

void modelc::markExperts(DecoderShape &shape,
                         llvm::function_ref<bool(int64_t)> has) {
  for (auto [i, kind] : llvm::enumerate(shape.kinds)) {
    kind.hasExperts = has(i);
  }
}

ExpertsShape modelc::readCounts(TableReader &config, StringRef countKey,
                                const Architecture &architecture) {
  const StringRef why = architecture.defaults.why;
  const ExpertDefaults &defaults = architecture.experts;
  ExpertsShape experts;
  experts.count = config.positiveOr(countKey, {defaults.count, "", why});
  experts.route.topK = config.positiveOr(kTopK, {defaults.topK, "", why});
  if (experts.route.topK > experts.count) {
    config.error(kTopK, "expected \"" + kTopK + "\" of at most the " +
                            Twine(experts.count) + " experts, got " +
                            Twine(experts.route.topK));
  }
  return experts;
}

static void readWidth(TableReader &config, const Architecture &architecture,
                      ExpertsShape &experts) {
  experts.width = config.positiveOr(
      "moe_intermediate_size",
      {architecture.experts.width, "", architecture.defaults.why});
}

/// Whether weights are divided by their sum, to which the class adds `added`.
static void readRenormalisation(TableReader &config,
                                const Architecture &architecture, double added,
                                ExpertsShape &experts) {
  if (config.booleanOr("norm_topk_prob", {architecture.experts.renormalises, "",
                                          architecture.defaults.why})) {
    experts.route.renormalised = added;
  }
}

void modelc::readMixtral(TableReader &config, const Architecture &architecture,
                         DecoderShape &shape) {
  ExpertsShape experts = readCounts(config, "num_local_experts", architecture);
  experts.width = shape.ffn;
  experts.route.renormalised = 0;
  nameByNumber(experts);
  shape.experts = experts;
  config.know("router_jitter_noise"); // only in training
  markExperts(shape, [](int64_t) { return true; });
}

/// Which layers a Qwen gives experts: each `step`-th that is not in a list.
static void readSparseLayers(TableReader &config, DecoderShape &shape) {
  const int64_t step = config.positive("decoder_sparse_step").value_or(1);
  llvm::SmallDenseSet<int64_t> dense;
  if (const Node *list = config.array("mlp_only_layers")) {
    for (const Node &item : list->items) {
      if (!item.isInteger()) {
        config.getSource().error(item.place,
                                 "expected the number of a layer, got " +
                                     item.kindName());
        return;
      }
      dense.insert(item.integer);
    }
  }
  markExperts(shape, [&](int64_t layer) {
    return !dense.contains(layer) && (layer + 1) % step == 0;
  });
}

void modelc::readQwenExperts(TableReader &config,
                             const Architecture &architecture,
                             DecoderShape &shape) {
  // transformers 5 saves the count by the name that other families have.
  const StringRef saved = "num_local_experts";
  ExpertsShape experts = readCounts(
      config, config.has(saved) ? saved : "num_experts", architecture);
  readWidth(config, architecture, experts);
  readRenormalisation(config, architecture, 0, experts);
  if (architecture.experts.shared > 0) {
    experts.sharedWidth = config.positiveOr(
        "shared_expert_intermediate_size",
        {architecture.experts.shared, "", architecture.defaults.why});
    experts.shared = "shared_expert.";
    experts.sharedGate = "shared_expert_gate";
  }
  shape.experts = experts;
  readSparseLayers(config, shape);
}

/// Two names of one number must agree.
static void checkAlias(TableReader &config, StringRef key, int64_t value) {
  std::optional<int64_t> other = config.positive(key);
  if (other && *other != value) {
    config.error(key, "expected \"" + key + "\" to be " + Twine(value) +
                          ", as the file says elsewhere, got " + Twine(*other));
  }
}

void modelc::readGptOss(TableReader &config, const Architecture &architecture,
                        DecoderShape &shape) {
  ExpertsShape experts = readCounts(config, "num_local_experts", architecture);
  checkAlias(config, "experts_per_token", experts.route.topK);
  experts.width = shape.ffn;
  experts.route.scoring = model::Scoring::SoftmaxOfChosen;
  experts.router = "router";
  experts.hasRouterBias = experts.hasBiases = experts.interleaved = true;
  experts.gateUp = {"experts.gate_up_proj"};
  experts.down = "experts.down_proj";
  // Blocks lie as they are multiplied, numbers that are not quantised do not.
  experts.transposed = !config.has("quantization_config");
  experts.gating = {model::Gating::ClampedSilu,
                    config.number("swiglu_alpha").value_or(1.702),
                    config.number("swiglu_limit").value_or(7.0)};
  shape.experts = experts;
  shape.hasSinks = true;
  if (shape.yarn) {
    checkAlias(config, "initial_context_length", shape.yarn->originalContext);
  }
  markExperts(shape, [](int64_t) { return true; });
}

/// Which layers have experts: those behind the first, each `freq`-th, or as a
/// list says.
static void readFrequency(TableReader &config, const Architecture &architecture,
                          DecoderShape &shape) {
  constexpr StringRef kFrequency = "moe_layer_freq";
  const int64_t dense = config.natural("first_k_dense_replace")
                            .value_or(architecture.experts.dense);
  const Node *frequency = config.find(kFrequency);
  if (frequency && frequency->isArray()) {
    if (frequency->items.size() != shape.kinds.size()) {
      config.error(kFrequency, "expected one number for each of " +
                                   Twine(shape.kinds.size()) + " layers, got " +
                                   Twine(frequency->items.size()));
      return;
    }
    markExperts(shape, [&](int64_t layer) {
      return frequency->items[layer].integer != 0;
    });
    return;
  }
  const int64_t step = config.positive(kFrequency).value_or(1);
  markExperts(shape, [&](int64_t layer) {
    return layer >= dense && layer % step == 0;
  });
}

/// A feed-forward that all tokens go through, as wide as some experts.
static void readShared(TableReader &config, const Architecture &architecture,
                       ExpertsShape &experts) {
  std::optional<int64_t> shared = config.natural("n_shared_experts");
  experts.sharedWidth =
      experts.width * shared.value_or(config.states("n_shared_experts")
                                          ? 0
                                          : architecture.experts.shared);
}

static void readGroups(TableReader &config, const Architecture &architecture,
                       model::GroupScore score, model::GroupMask mask,
                       ExpertsShape &experts) {
  const ExpertDefaults &defaults = architecture.experts;
  auto read = [&](StringRef key, int64_t otherwise) {
    return config.states(key) ? config.positive(key).value_or(1) : otherwise;
  };
  const int64_t count = read("n_group", defaults.groups);
  const int64_t kept = read("topk_group", defaults.keptGroups);
  if (count == 1) {
    return;
  }
  if (experts.count % count != 0) {
    config.error("n_group", "expected \"n_group\" to divide " +
                                Twine(experts.count) + " experts, got " +
                                Twine(count));
    return;
  }
  experts.route.groups = {count, kept, score, mask};
}

static void readScale(TableReader &config, const Architecture &architecture,
                      ExpertsShape &experts) {
  constexpr StringRef kScale = "routed_scaling_factor";
  const double scale = config.numberOr(
      kScale, {architecture.experts.scale, "", architecture.defaults.why});
  if (scale != 1) {
    experts.route.scaled = scale;
  }
}

/// What DeepSeek's later models and those in their manner share.
static void readCorrected(TableReader &config, const Architecture &architecture,
                          DecoderShape &shape) {
  config.choice("scoring_func", {"sigmoid"});
  config.choice("topk_method", {"noaux_tc"});
  ExpertsShape experts = readCounts(config, "n_routed_experts", architecture);
  readWidth(config, architecture, experts);
  readShared(config, architecture, experts);
  experts.route.scoring = model::Scoring::Sigmoid;
  experts.routesInF32 = true;
  experts.correction = "gate.e_score_correction_bias";
  readRenormalisation(config, architecture, 1e-20, experts);
  readScale(config, architecture, experts);
  readGroups(config, architecture, model::GroupScore::TopTwo,
             model::GroupMask::MinusInfinity, experts);
  shape.experts = experts;
  readFrequency(config, architecture, shape);
  noteDrafts(config, "num_nextn_predict_layers");
}

void modelc::readDeepSeek3(TableReader &config,
                           const Architecture &architecture,
                           DecoderShape &shape) {
  readLatent(config, shape);
  readCorrected(config, architecture, shape);
}

void modelc::readDeepSeek2(TableReader &config,
                           const Architecture &architecture,
                           DecoderShape &shape) {
  readLatent(config, shape);
  config.choice("scoring_func", {"softmax"});
  std::optional<size_t> method =
      config.choice("topk_method", {"greedy", "group_limited_greedy"});
  if (config.boolean("norm_topk_prob") == true) {
    config.error("norm_topk_prob", "expected \"norm_topk_prob\" to be false, "
                                   "as its class scales weights instead");
  }
  ExpertsShape experts = readCounts(config, "n_routed_experts", architecture);
  readWidth(config, architecture, experts);
  readShared(config, architecture, experts);
  experts.routesInF32 = true;
  readScale(config, architecture, experts);
  readGroups(config, architecture, model::GroupScore::Max,
             model::GroupMask::Zero, experts);
  if (method != 1) {
    experts.route.groups = std::nullopt;
  }
  shape.experts = experts;
  readFrequency(config, architecture, shape);
}

void modelc::readGlm(TableReader &config, const Architecture &architecture,
                     DecoderShape &shape) {
  readCorrected(config, architecture, shape);
  if (!config.booleanOr("use_qk_norm",
                        {false, "", architecture.defaults.why})) {
    shape.qkNorm = QkNorm::None;
  }
}

/// Keys of a MiniMax for what its layers of other versions have.
static void checkMiniMax(TableReader &config,
                         const Architecture &architecture) {
  config.choice("scoring_func", {"sigmoid"});
  config.choice("qk_norm_type", {"per_layer"});
  for (StringRef key : {"use_routing_bias", "use_qk_norm"}) {
    if (config.boolean(key) == false) {
      config.error(key, "expected \"" + key + "\" to be true, as it is for a " +
                            architecture.name);
    }
  }
  if (config.natural("shared_intermediate_size").value_or(0) != 0) {
    config.error("shared_intermediate_size",
                 "expected no feed-forward beside experts, as a " +
                     architecture.name + " has none");
  }
  const Node *types = config.array("attn_type_list");
  for (const Node &type : types ? ArrayRef(types->items) : ArrayRef<Node>()) {
    if (!type.isInteger() || type.integer != 1) {
      return config.getSource().error(
          type.place, "unsupported type of attention " + type.print() +
                          "; supported: 1, of all keys");
    }
  }
}

void modelc::readMiniMax(TableReader &config, const Architecture &architecture,
                         DecoderShape &shape) {
  ExpertsShape experts = readCounts(config, "num_local_experts", architecture);
  checkMiniMax(config, architecture);
  experts.width = shape.ffn;
  experts.route.scoring = model::Scoring::Sigmoid;
  experts.route.renormalised = 0;
  experts.routesInF32 = true;
  nameByNumber(experts);
  experts.correction = "e_score_correction_bias";
  shape.experts = experts;
  config.know("router_jitter_noise");
  config.know("mtp_transformer_layers");
  config.know("use_mtp");
  noteDrafts(config, "num_mtp_modules");
  markExperts(shape, [](int64_t) { return true; });
}
