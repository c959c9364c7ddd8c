//===- HuggingFace.cpp - config.json of a decoder -------------------------===//

#include "lib/Import/Config/Architecture.h"
#include "lib/Import/Config/HeldTensors.h"

using namespace mlir;
using namespace modelc;

static const DecoderKeys kHuggingFaceKeys = {
    "num_hidden_layers",   "hidden_size",  "num_attention_heads",
    "num_key_value_heads", "head_dim",     "intermediate_size",
    "vocab_size",          "rms_norm_eps", "max_position_embeddings",
    "attention_bias",      "mlp_bias",     "tie_word_embeddings"};

/// What the class puts a gate through, which a file can only repeat.
static void checkActivation(TableReader &reader,
                            const Architecture &architecture) {
  const bool isSilu = architecture.gating == model::Gating::Silu;
  for (StringRef key : {"hidden_act", "hidden_activation"}) {
    if (isSilu) {
      reader.choice(key, {"silu", "swish"}); // two names of one function
    } else {
      reader.choice(key, {"gelu_pytorch_tanh"});
    }
  }
}

/// Layers that are all alike are said once, and need no list.
static void flatten(DecoderShape &shape) {
  if (llvm::none_of(shape.kinds,
                    [](const LayerKind &kind) { return kind.hasExperts; })) {
    shape.experts = std::nullopt;
  }
  if (!llvm::all_equal(shape.kinds)) {
    return;
  }
  const LayerKind kind = shape.kinds.front();
  if (kind.rotation != LayerKind::Rotation::Whole) {
    return;
  }
  shape.window = kind.window;
  shape.chunk = kind.chunk;
  if (!kind.hasTemperature) {
    shape.temperature = std::nullopt;
  }
  shape.kinds.clear();
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
  const TextModel text = findTextModel(source, config);
  TableReader reader(source, text.config, "config.json");
  const Architecture *architecture = findArchitecture(reader);
  if (!architecture) {
    return failure();
  }
  checkActivation(reader, *architecture);
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
  shape.root = text.isInside ? "language_model." : "";
  shape.qkNorm = architecture->qkNorm;
  shape.gating = architecture->gating;
  readRotation(reader, *architecture, shape);
  readWindows(reader, *architecture, shape);
  if (architecture->readFamily) {
    architecture->readFamily(reader, *architecture, shape);
  }
  flatten(shape);
  checkOtherKeys(reader, *architecture);
  if (source.failed) {
    return failure();
  }
  FailureOr<OwningOpRef<ModuleOp>> module = buildDecoder(
      source.context, shape, reader.where(kHuggingFaceKeys.layers));
  if (failed(module) || failed(holdTensors(**module, source))) {
    return failure();
  }
  return module;
}
