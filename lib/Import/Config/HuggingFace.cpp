//===- HuggingFace.cpp - config.json of a decoder -------------------------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

static const DecoderKeys kHuggingFaceKeys = {
    "num_hidden_layers",   "hidden_size",  "num_attention_heads",
    "num_key_value_heads", "head_dim",     "intermediate_size",
    "vocab_size",          "rms_norm_eps", "max_position_embeddings",
    "attention_bias",      "mlp_bias",     "tie_word_embeddings"};

/// The one activation of a gated feed-forward that the dialect has.
static void checkActivation(TableReader &reader) {
  for (StringRef key : {"hidden_act", "hidden_activation"}) {
    reader.choice(key, {"silu", "swish"}); // two names of one function
  }
}

/// Everything is computed in bf16; the loader converts other checkpoints.
static void readElementTypes(Source &source, TableReader &reader,
                             ModelOptions &options) {
  options.elementType = BFloat16Type::get(source.context);
  const std::optional<std::string> newer = reader.string("dtype"),
                                   older = reader.string("torch_dtype");
  StringRef key = newer ? "dtype" : "torch_dtype";
  if (!newer && !older) {
    source.assumptions.push_back(
        {key.str(), "dtype", "\"bf16\"", "type of most published checkpoints"});
    return;
  }
  if (newer && older && *newer != *older) {
    reader.error("torch_dtype",
                 "expected \"dtype\" and \"torch_dtype\" to agree, got \"" +
                     *newer + "\" and \"" + *older + "\"");
  }
  const std::string &name = newer ? *newer : *older;
  options.storedType = parseElementType(source.context, name);
  if (!options.storedType) {
    reader.error(key, "expected \"bfloat16\", \"float16\" or \"float32\" for "
                      "\"" +
                          key + "\", got \"" + name + "\"");
  }
  noteConversion(reader, key, options.storedType, options.elementType);
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::importHuggingFace(Source &source, const Node &config, StringRef name) {
  TableReader reader(source, config, "config.json");
  const Architecture *architecture = findArchitecture(reader);
  if (!architecture) {
    return failure();
  }
  checkActivation(reader);
  readQuantisation(reader);
  DecoderShape shape =
      readDecoder(reader, kHuggingFaceKeys, architecture->defaults);
  shape.options.weightsPlace = source.weightsPlace;
  shape.name = name.str();
  readElementTypes(source, reader, shape.options);
  readBiases(reader, *architecture, shape);
  if (!architecture->attentionNorm.empty()) {
    shape.attentionNorm = architecture->attentionNorm.str();
    shape.mlpNorm = architecture->mlpNorm.str();
  }
  readRotation(reader, architecture->defaults, shape);
  shape.window = readWindow(reader, *architecture, shape);
  checkOtherKeys(reader, *architecture);
  if (source.failed) {
    return failure();
  }
  return buildDecoder(source.context, shape,
                      reader.where(kHuggingFaceKeys.layers));
}
