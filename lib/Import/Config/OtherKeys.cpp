//===- OtherKeys.cpp - Keys of a config.json that no reader asks for ------===//
//
// transformers writes much into a config.json that no layer reads, and classes
// of other architectures read keys that a decoder here would have to follow.
// A key is without effect on what is computed, and listed with the reason; or
// it asks for something else, unless its value says that it is off; or nobody
// knows what it means, which is a mistake.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Architecture.h"

#include <cmath>

using namespace mlir;
using namespace modelc;

static constexpr StringRef kWithoutEffect[] = {
    // Where the file comes from, and what wrote it.
    "_name_or_path",
    "name_or_path",
    "_commit_hash",
    "transformers_version",
    "transformers.js_config",
    "unsloth_version",
    "unsloth_fixed",
    "license",
    "model_name",
    "is_llama_config",
    "_pre_quantization_dtype",
    // What text becomes before it is tokens, and which of them end it.
    "tokenizer_class",
    "model_max_length",
    "max_sequence_length",
    "prefix",
    "bad_words_ids",
    "suppress_tokens",
    "begin_suppress_tokens",
    // Only in training: where weights begin, what is left out, which loss.
    "initializer_range",
    "attention_dropout",
    "hidden_dropout",
    "mlp_dropout",
    "resid_dropout",
    "residual_dropout",
    "embedding_dropout",
    "dropout",
    "attn_dropout",
    "resid_pdrop",
    "embd_pdrop",
    "attn_pdrop",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "classifier_dropout",
    "gradient_checkpointing",
    "output_router_logits",
    "router_aux_loss_coef",
    "aux_loss_alpha",
    "seq_aux",
    "z_loss",
    "use_mtp_loss",
    // Into how many summands the trainer cut its products.
    "pretraining_tp",
    // How transformers runs the same layers, and what else it hands out.
    "use_cache",
    "return_dict",
    "use_return_dict",
    "output_attentions",
    "output_hidden_states",
    "torchscript",
    "use_bfloat16",
    "tf_legacy_loss",
    "chunk_size_feed_forward",
    "_attn_implementation",
    "_attn_implementation_internal",
    "_attn_implementation_autoset",
    "attn_implementation",
    "_flash_attn_2_enabled",
    "use_flash_attn",
    "use_kernels",
    "cache_implementation",
    "is_decoder",
    "keys_to_ignore_at_inference",
    // What a request asks of the sampling unless it says otherwise.
    "do_sample",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "max_length",
    "min_length",
    "max_new_tokens",
    "num_beams",
    "num_beam_groups",
    "num_return_sequences",
    "diversity_penalty",
    "repetition_penalty",
    "length_penalty",
    "early_stopping",
    "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size",
    "output_scores",
    "return_dict_in_generate",
    "remove_invalid_values",
    "exponential_decay_length_penalty",
    // Heads that classify, which a causal model does not have.
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "finetuning_task",
    "task_specific_params",
    "summary_type",
    // Of layers with a state; those that have one are other architectures.
    "time_step_limit",
    "time_step_min",
    "time_step_max",
    "time_step_floor",
};

/// A number of a word, or some: "bos_token_id".
static constexpr StringRef kTokenEndings[] = {"_token_id", "_token_ids",
                                              "_token_index"};

namespace {
/// What a feature of other architectures says where it is off.
enum class Off {
  Nothing, ///< false, 0, "" or an empty array or table
  One      ///< 1, a factor that changes nothing
};

struct Feature {
  StringRef key;
  Off off;
  StringRef meaning;
};
} // namespace

static constexpr StringLiteral kOwnClass = "auto_map";

static constexpr Feature kFeatures[] = {
    {"is_encoder_decoder", Off::Nothing, "an encoder"},
    {"add_cross_attention", Off::Nothing, "attention to an encoder"},
    {"cross_attention_hidden_size", Off::Nothing, "attention to an encoder"},
    {"tie_encoder_decoder", Off::Nothing, "an encoder"},
    {"text_config", Off::Nothing, "a decoder inside of a larger model"},
    {"vision_config", Off::Nothing, "an encoder of images"},
    {"audio_config", Off::Nothing, "an encoder of sound"},
    {kOwnClass, Off::Nothing, "code of its own"},
    {"pruned_heads", Off::Nothing, "heads that are cut out of some layers"},
    {"num_experts", Off::Nothing, "experts"},
    {"num_local_experts", Off::Nothing, "experts"},
    {"n_routed_experts", Off::Nothing, "experts"},
    {"n_shared_experts", Off::Nothing, "experts"},
    {"moe_intermediate_size", Off::Nothing, "experts"},
    {"num_experts_per_tok", Off::Nothing, "experts"},
    {"use_qk_norm", Off::Nothing, "norms of queries and keys"},
    {"qk_norm", Off::Nothing, "norms of queries and keys"},
    {"qk_layernorm", Off::Nothing, "norms of queries and keys"},
    {"qkv_bias", Off::Nothing, "biases of queries, keys and values alone"},
    {"use_bias", Off::Nothing, "biases of every linear"},
    {"bias", Off::Nothing, "biases of every linear"},
    {"attn_output_gate", Off::Nothing, "a gate behind attention"},
    {"attention_output_gate", Off::Nothing, "a gate behind attention"},
    {"use_parallel_residual", Off::Nothing, "attention beside feed-forward"},
    {"parallel_attn", Off::Nothing, "attention beside feed-forward"},
    {"alibi", Off::Nothing, "biases of positions in place of RoPE"},
    {"rope_interleave", Off::Nothing, "RoPE of columns side by side"},
    {"rope_interleaved", Off::Nothing, "RoPE of columns side by side"},
    {"no_rope_layers", Off::Nothing, "layers without RoPE"},
    {"no_rope_layer_interval", Off::Nothing, "layers without RoPE"},
    {"rotary_pct", Off::One, "RoPE of a part of each head"},
    {"rotary_percent", Off::One, "RoPE of a part of each head"},
    {"attention_chunk_size", Off::Nothing, "attention in chunks"},
    {"attn_logit_softcapping", Off::Nothing, "a bound of scores"},
    {"final_logit_softcapping", Off::Nothing, "a bound of logits"},
    {"logits_soft_cap", Off::Nothing, "a bound of logits"},
    {"clip_qkv", Off::Nothing, "a bound of queries, keys and values"},
    {"query_pre_attn_scalar", Off::Nothing, "a scale of scores"},
    {"attention_multiplier", Off::Nothing, "a scale of scores"},
    {"attention_scale", Off::Nothing, "a scale of scores"},
    {"embedding_multiplier", Off::One, "a scale of embeddings"},
    {"residual_multiplier", Off::One, "a scale of residuals"},
    {"logits_scaling", Off::One, "a scale of logits"},
    {"logit_scale", Off::One, "a scale of logits"},
    {"kv_lora_rank", Off::Nothing, "latent attention"},
    {"q_lora_rank", Off::Nothing, "latent attention"},
    {"index_topk", Off::Nothing, "sparse attention"},
    {"cross_layer_sharing", Off::Nothing, "caches that layers share"},
    {"num_kv_shared_layers", Off::Nothing, "caches that layers share"},
    {"num_nextn_predict_layers", Off::Nothing, "layers that guess ahead"},
    {"swiglu_limit", Off::Nothing, "a bound of the feed-forward"},
    {"block_configs", Off::Nothing, "layers of several shapes"},
};

static bool isOff(const Node &value, Off off) {
  switch (value.kind) {
  case Node::Kind::Null:
    return true;
  case Node::Kind::Boolean:
    return off == Off::Nothing && !value.boolean;
  case Node::Kind::Integer:
  case Node::Kind::Float:
    return value.number == (off == Off::One ? 1 : 0);
  case Node::Kind::String:
    return value.string.empty();
  case Node::Kind::Array:
    return value.items.empty();
  case Node::Kind::Table:
    return value.members.empty();
  }
  llvm_unreachable("all kinds are listed");
}

/// Whether a NaN or an infinity is in a value: Python's ways to write that it
/// has none, or no bound.
static bool isOpen(const Node &value) {
  return (value.isNumber() && !std::isfinite(value.number)) ||
         llvm::any_of(value.items, isOpen);
}

static void checkFeature(TableReader &config, const Feature &feature,
                         const Architecture &architecture) {
  if (config.wasAsked(feature.key)) {
    return; // a family that has it
  }
  const Node *value = config.find(feature.key);
  if (value && !isOff(*value, feature.off)) {
    config.error(feature.key, "unsupported key \"" + feature.key +
                                  "\", which asks for " + feature.meaning +
                                  "; a " + architecture.name + " has none");
  }
}

/// Keys of which every one of a form is without effect, whatever its name.
static void knowForms(TableReader &config) {
  Source &source = config.getSource();
  std::vector<const Member *> open;
  for (const Member *member : config.others()) {
    const StringRef key = member->key;
    const bool isOfTokens = llvm::any_of(
        kTokenEndings, [&](StringRef ending) { return key.ends_with(ending); });
    if (isOfTokens || member->value.isNull()) {
      config.know(key);
    } else if (isOpen(member->value)) {
      config.know(key);
      open.push_back(member);
    }
  }
  if (!open.empty()) {
    const std::string others =
        open.size() > 1 ? " and " + std::to_string(open.size() - 1) + " more"
                        : "";
    source.file.warning(source.notes, open.front()->place,
                        "no use for \"" + open.front()->key + "\"" + others +
                            ", whose value is not finite");
  }
}

void modelc::checkOtherKeys(TableReader &config,
                            const Architecture &architecture) {
  for (StringRef key : kWithoutEffect) {
    config.know(key);
  }
  for (const Feature &feature : kFeatures) {
    if (feature.key != kOwnClass || !architecture.hasOwnClass) {
      checkFeature(config, feature, architecture);
    }
  }
  if (architecture.hasOwnClass) {
    config.know(kOwnClass);
  }
  knowForms(config);
  config.rejectOthers("; delete it if nothing that is computed depends on it");
}
