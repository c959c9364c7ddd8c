//===- Families.cpp - What some families have beside a Llama --------------===//

#include "lib/Import/Config/Experts.h"

#include <cmath>

using namespace mlir;
using namespace modelc;

void modelc::noteDrafts(TableReader &config, StringRef key) {
  std::optional<int64_t> layers = config.natural(key);
  Source &source = config.getSource();
  if (layers.value_or(0) > 0 && !source.failed) {
    source.file.note(source.notes, config.place(key),
                     "layers that draft tokens are left out; a step makes one "
                     "token of a sequence");
  }
}

void modelc::readLatent(TableReader &config, DecoderShape &shape) {
  LatentShape latent;
  latent.queryRank = config.positive("q_lora_rank").value_or(0);
  latent.rank = config.requirePositive("kv_lora_rank");
  latent.keyDim = config.requirePositive("qk_nope_head_dim");
  latent.ropeDim = config.requirePositive("qk_rope_head_dim");
  latent.valueDim = config.requirePositive("v_head_dim");
  config.know("num_key_value_heads"); // keys of a latent are of all heads
  config.know("qk_head_dim"); // transformers writes the sum of the two below
  config.know("head_dim");
  config.know("ep_size"); // how it was trained
  if (config.boolean("rope_interleave") == false) {
    shape.ropeInterleaved = false;
  }
  if (latent.ropeDim % 2 != 0) {
    config.error("qk_rope_head_dim", "expected an even \"qk_rope_head_dim\", "
                                     "got " +
                                         Twine(latent.ropeDim));
  }
  // Scores are flatter where frequencies are stretched, by the square of what
  // the file says of all columns.
  const double head = double(latent.keyDim + latent.ropeDim);
  const double magnitude = shape.yarn ? shape.yarn->scoreMagnitude : 1;
  shape.scoreScale = magnitude * magnitude / std::sqrt(head);
  shape.latent = latent;
}

/// Numbers of a list that has one for each layer.
static std::vector<int64_t> readList(TableReader &config, StringRef key,
                                     size_t layers) {
  std::vector<int64_t> numbers;
  const Node *list = config.array(key);
  if (!list || list->items.empty()) {
    return numbers;
  }
  for (const Node &item : list->items) {
    numbers.push_back(item.integer);
  }
  if (numbers.size() < layers) {
    config.error(key, "expected one number for each of " + Twine(layers) +
                          " layers, got " + Twine(numbers.size()));
    numbers.resize(layers);
  }
  return numbers;
}

/// Which layers see a chunk; empty: those that turn their keys.
static std::vector<bool> readChunked(TableReader &config, size_t layers) {
  const Node *types = config.array("layer_types");
  std::vector<bool> chunked;
  for (const Node &type : types ? types->items : std::vector<Node>()) {
    const bool isChunked =
        type.isString() && type.string == "chunked_attention";
    chunked.push_back(isChunked);
    if (!isChunked && !(type.isString() && type.string == "full_attention")) {
      config.getSource().error(type.place,
                               "expected \"chunked_attention\" or "
                               "\"full_attention\" as the type of a layer");
      return {};
    }
  }
  if (types && chunked.size() != layers) {
    config.error("layer_types", "expected an array of " + Twine(layers) +
                                    " types, one for each layer, got " +
                                    Twine(chunked.size()));
    return {};
  }
  return chunked;
}

/// Layers see a chunk and turn their keys, or see all and do not, but where
/// their types say other.
static void readChunks(TableReader &config, DecoderShape &shape) {
  const int64_t chunk =
      config.states("attention_chunk_size")
          ? config.positive("attention_chunk_size").value_or(0)
          : 8192;
  const int64_t interval =
      config.positive("no_rope_layer_interval").value_or(4);
  const std::vector<int64_t> turned =
      readList(config, "no_rope_layers", shape.kinds.size());
  const std::vector<bool> chunked = readChunked(config, shape.kinds.size());
  const bool isTuned = config.boolean("attn_temperature_tuning").value_or(true);
  shape.temperature =
      Temperature{config.number("attn_scale").value_or(0.1),
                  config.positive("floor_scale").value_or(8192)};
  for (auto [i, kind] : llvm::enumerate(shape.kinds)) {
    const bool isTurned =
        turned.empty() ? (int64_t(i) + 1) % interval != 0 : turned[i] != 0;
    kind.chunk = (chunked.empty() ? isTurned : chunked[i]) ? chunk : 0;
    kind.rotation =
        isTurned ? LayerKind::Rotation::Whole : LayerKind::Rotation::None;
    kind.hasTemperature = !isTurned && isTuned;
  }
}

void modelc::readLlama4(TableReader &config, const Architecture &architecture,
                        DecoderShape &shape) {
  ExpertsShape experts = readCounts(config, "num_local_experts", architecture);
  experts.width = experts.sharedWidth = shape.ffn;
  experts.route.scoring = model::Scoring::Sigmoid;
  experts.weighInputs = true;
  experts.prefix = shape.mlp = "feed_forward.";
  experts.router = "router";
  experts.gateUp = {"experts.gate_up_proj"};
  experts.down = "experts.down_proj";
  experts.transposed = true;
  experts.shared = "shared_expert.";
  shape.experts = experts;
  shape.ffn = config.positiveOr("intermediate_size_mlp",
                                {16384, "", architecture.defaults.why});
  if (!config.booleanOr("use_qk_norm", {true, "", architecture.defaults.why})) {
    shape.qkNorm = QkNorm::None;
  }
  const int64_t step = config.positive("interleave_moe_layer_step").value_or(1);
  const Node *list = config.array("moe_layers");
  markExperts(shape, [&](int64_t layer) {
    return list ? llvm::any_of(list->items,
                               [&](const Node &item) {
                                 return item.isInteger() &&
                                        item.integer == layer;
                               })
                : (layer + 1) % step == 0;
  });
  readChunks(config, shape);
  config.know("router_jitter_noise"); // only in training
  config.know("for_llm_compressor");
}

void modelc::readGemma3(TableReader &config, const Architecture &architecture,
                        DecoderShape &shape) {
  const int64_t scalar = config.positiveOr(
      "query_pre_attn_scalar", {256, "", architecture.defaults.why});
  shape.scoreScale = 1 / std::sqrt(double(scalar));
  shape.softCap = config.number("attn_logit_softcapping").value_or(0);
  shape.onePlusNorms = true;
  shape.attentionPostNorm = "post_attention_layernorm";
  shape.mlpNorm = "pre_feedforward_layernorm";
  shape.mlpPostNorm = "post_feedforward_layernorm";
  shape.embeddingScale = std::sqrt(double(shape.hidden));
  shape.localTheta =
      config.number("rope_local_base_freq").value_or(shape.localTheta);
  if (config.boolean("use_bidirectional_attention") == true) {
    config.error("use_bidirectional_attention",
                 "expected \"use_bidirectional_attention\" to be false: "
                 "attention is causal");
  }
}
