//===- HuggingFace.cpp - config.json of a Llama ---------------------------===//

#include "lib/Import/Reader.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kSupported[] = {"LlamaForCausalLM"};

static const DecoderKeys kHuggingFaceKeys = {
    "num_hidden_layers",   "hidden_size",  "num_attention_heads",
    "num_key_value_heads", "head_dim",     "intermediate_size",
    "vocab_size",          "rms_norm_eps", "max_position_embeddings",
    "attention_bias",      "mlp_bias",     "tie_word_embeddings"};

/// The architecture must be one that the importer knows.
static void checkArchitecture(TableReader &reader) {
  const Node *list = reader.find("architectures");
  if (!list || !list->isArray() || list->items.empty() ||
      !list->items.front().isString()) {
    if (reader.string("model_type") != "llama") {
      reader.error("model_type",
                   "expected \"architectures\" or \"model_type\" to name an "
                   "architecture; supported: " +
                       listWords(kSupported));
    }
    return;
  }
  const Node &first = list->items.front();
  if (!llvm::is_contained(kSupported, first.string)) {
    reader.getSource().error(
        first.place, "unsupported architecture \"" + first.string +
                         "\"; supported: " + listWords(kSupported) +
                         "; or spell it out in TOML with [[block]] tables");
  }
}

/// Features that change the computation and that no Llama graph states.
static void checkFeatures(TableReader &reader) {
  if (reader.has("hidden_act")) {
    reader.choice("hidden_act", {"silu"});
  }
  for (StringRef key : {"sliding_window", "num_local_experts", "num_experts"}) {
    if (reader.has(key)) {
      reader.error(key, "unsupported key \"" + key +
                            "\"; supported: full attention and dense layers");
    }
  }
  if (const Node *types = reader.find("layer_types")) {
    for (const Node &type : types->items) {
      if (type.string != "full_attention") {
        reader.getSource().error(type.place, "unsupported layer type \"" +
                                                 type.string +
                                                 "\"; supported: "
                                                 "\"full_attention\"");
        break;
      }
    }
  }
}

static void readScaling(Source &source, const Node &table,
                        DecoderShape &shape) {
  TableReader reader(source, table, "\"rope_scaling\"");
  StringRef kindKey = reader.has("rope_type") ? "rope_type" : "type";
  std::optional<size_t> kind = reader.choice(kindKey, {"default", "llama3"});
  if (kind == 1) {
    shape.ropeScaling =
        readLlama3Scaling(reader, "original_max_position_embeddings");
  }
}

/// Older files: "rope_theta" and "rope_scaling"; newer: "rope_parameters".
static void readRope(Source &source, TableReader &reader, DecoderShape &shape) {
  const Default<double> theta = {10000.0, "rope.theta",
                                 "default of transformers for a Llama"};
  const Node *parameters = reader.find("rope_parameters");
  if (parameters && parameters->isTable()) {
    TableReader inner(source, *parameters, "\"rope_parameters\"");
    shape.ropeTheta = inner.numberOr("rope_theta", theta);
    readScaling(source, *parameters, shape);
    return;
  }
  shape.ropeTheta = reader.numberOr("rope_theta", theta);
  const Node *scaling = reader.find("rope_scaling");
  if (scaling && scaling->isTable()) {
    readScaling(source, *scaling, shape);
  }
}

/// Everything is computed in bf16; the loader converts other checkpoints.
static void readElementTypes(Source &source, TableReader &reader,
                             ModelOptions &options) {
  StringRef key = reader.has("dtype") ? "dtype" : "torch_dtype";
  options.elementType = BFloat16Type::get(source.context);
  if (!reader.has(key)) {
    source.assumptions.push_back(
        {key.str(), "dtype", "\"bf16\"", "type of every published Llama 3"});
    return;
  }
  std::string name = reader.string(key).value_or("bfloat16");
  options.storedType = parseElementType(source.context, name);
  if (!options.storedType) {
    reader.error(key, "expected \"bfloat16\", \"float16\" or \"float32\" for "
                      "\"" +
                          key + "\", got \"" + name + "\"");
  }
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::importHuggingFace(Source &source, const Node &config, StringRef name) {
  TableReader reader(source, config, "config.json");
  checkArchitecture(reader);
  if (source.failed) {
    return failure();
  }
  checkFeatures(reader);
  readQuantisation(reader);
  DecoderShape shape = readDecoder(reader, kHuggingFaceKeys);
  shape.name = name.str();
  readRope(source, reader, shape);
  readElementTypes(source, reader, shape.options);
  if (source.failed) {
    return failure();
  }
  return buildDecoder(source.context, shape,
                      reader.where(kHuggingFaceKeys.layers));
}
