//===- Decoder.cpp - A decoder by its sizes; the project's TOML -----------===//
//
// The short form of the project's TOML. Every key but the sizes has a default,
// which is that of transformers for a Llama:
//
//   [model]
//   name = "llama-3.1-8b"
//   layers = 32
//   hidden = 4096
//   heads = 32
//   kv_heads = 8              # = heads
//   head_dim = 128            # = hidden / heads
//   ffn = 14336
//   vocab = 128256
//   norm_eps = 1e-05          # = 1e-06
//   max_context = 131072      # = 2048
//   window = 4096             # keys that a query sees; = all
//   dtype = "bf16"            # of the computation; = "bf16"
//   stored = "f16"            # in the checkpoint; = dtype
//   attention_bias = false    # of q, k, v and the output; = false
//   qkv_bias = false          # of q, k and v alone; = false
//   mlp_bias = false          # = false
//   tied_embeddings = false   # = false
//
//   [rope]
//   theta = 500000.0          # = 10000.0
//   scaling = { kind = "llama3", factor = 8.0, low_freq_factor = 1.0,
//               high_freq_factor = 4.0, original_context = 8192 }   # = none
//
//   [sampling]
//   method = "random"         # = "greedy"
//   top_k = 40
//   top_p = 0.9
//   temperature = 0.7
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Reader.h"

using namespace mlir;
using namespace modelc;

const DecoderKeys modelc::kTomlKeys = {
    "layers",   "hidden",         "heads",    "kv_heads",    "head_dim",
    "ffn",      "vocab",          "norm_eps", "max_context", "attention_bias",
    "mlp_bias", "tied_embeddings"};

/// Sizes that are whole multiples of others, checked where the user wrote them.
static void checkSizes(TableReader &reader, const DecoderKeys &keys,
                       const DecoderShape &shape) {
  if (!reader.has(keys.headDim) && shape.hidden % shape.heads != 0) {
    reader.error(keys.heads, "expected \"" + keys.heads + "\" to divide \"" +
                                 keys.hidden + "\" = " + Twine(shape.hidden) +
                                 ", got " + Twine(shape.heads) +
                                 "; or give \"" + keys.headDim + "\"");
  }
  if (shape.heads % shape.kvHeads != 0) {
    reader.error(keys.kvHeads, "expected \"" + keys.kvHeads +
                                   "\" to divide \"" + keys.heads +
                                   "\" = " + Twine(shape.heads) + ", got " +
                                   Twine(shape.kvHeads));
  }
  if (shape.headDim % 2 != 0) {
    reader.error(keys.headDim, "expected an even \"" + keys.headDim +
                                   "\" for RoPE, got " + Twine(shape.headDim));
  }
}

/// A size that a class may have a default for; without one, or where the file
/// says null, it follows from others.
static int64_t readSize(TableReader &reader, StringRef key, int64_t ofClass,
                        StringRef why, const Default<int64_t> &fromOthers) {
  if (ofClass == 0 || reader.states(key)) {
    return reader.positiveOr(key, fromOthers);
  }
  return reader.positiveOr(key, {ofClass, fromOthers.tomlKey, why});
}

/// Sizes of heads; latent attention has others, which are read elsewhere.
static void readHeads(TableReader &reader, const DecoderKeys &keys,
                      const DecoderDefaults &defaults, DecoderShape &shape) {
  if (defaults.isLatent) {
    shape.kvHeads = shape.heads;
    return;
  }
  shape.kvHeads =
      readSize(reader, keys.kvHeads, defaults.kvHeads, defaults.why,
               {shape.heads, kTomlKeys.kvHeads, "as many as heads"});
  shape.headDim = readSize(
      reader, keys.headDim, defaults.headDim, defaults.why,
      {shape.hidden / shape.heads, kTomlKeys.headDim, "hidden / heads"});
}

DecoderShape modelc::readDecoder(TableReader &reader, const DecoderKeys &keys,
                                 const DecoderDefaults &defaults) {
  const StringRef why = defaults.why;
  DecoderShape shape;
  shape.layers = reader.requirePositive(keys.layers);
  shape.hidden = reader.requirePositive(keys.hidden);
  shape.heads = reader.requirePositive(keys.heads);
  shape.ffn = reader.requirePositive(keys.ffn);
  shape.vocab = defaults.vocab
                    ? reader.positiveOr(keys.vocab,
                                        {defaults.vocab, kTomlKeys.vocab, why})
                    : reader.requirePositive(keys.vocab);
  readHeads(reader, keys, defaults, shape);
  shape.normEps =
      reader.numberOr(keys.normEps, {defaults.normEps, kTomlKeys.normEps, why});
  shape.options.maxContext = reader.positiveOr(
      keys.maxContext, {defaults.maxContext, kTomlKeys.maxContext, why});
  shape.tiedEmbeddings =
      reader.booleanOr(keys.tiedEmbeddings, {defaults.tiedEmbeddings,
                                             kTomlKeys.tiedEmbeddings, why});
  DecoderPlaces &places = shape.places;
  places.hidden = reader.location(keys.hidden);
  places.heads = reader.location(keys.heads);
  places.kvHeads = reader.location(keys.kvHeads);
  // One that is derived changes with what it is derived of.
  places.headDim =
      reader.location(reader.has(keys.headDim) ? keys.headDim : keys.hidden);
  places.ffn = reader.location(keys.ffn);
  places.vocab = reader.location(keys.vocab);
  shape.options.maxContextPlace = reader.location(keys.maxContext);
  if (!reader.getSource().failed && !defaults.isLatent) {
    checkSizes(reader, keys, shape);
  }
  return shape;
}

Llama3Scaling modelc::readLlama3Scaling(TableReader &reader,
                                        TableReader &original,
                                        StringRef originalContextKey,
                                        int64_t maxContext) {
  static constexpr StringRef kFactor = "factor", kLow = "low_freq_factor",
                             kHigh = "high_freq_factor";
  Llama3Scaling scaling = {reader.requireNumber(kFactor),
                           reader.requireNumber(kLow),
                           reader.requireNumber(kHigh),
                           original.requirePositive(originalContextKey)};
  if (reader.getSource().failed) {
    return scaling;
  }
  if (scaling.factor < 1) {
    reader.error(kFactor, "expected a \"" + kFactor + "\" of at least 1, got " +
                              exactReal(scaling.factor));
  }
  if (scaling.highFreqFactor < scaling.lowFreqFactor) {
    reader.error(kHigh, "expected a \"" + kHigh + "\" of at least \"" + kLow +
                            "\" = " + exactReal(scaling.lowFreqFactor) +
                            ", got " + exactReal(scaling.highFreqFactor));
  }
  if (scaling.originalContext > maxContext) {
    original.error(originalContextKey,
                   "expected \"" + originalContextKey + "\" of at most the " +
                       Twine(maxContext) + " tokens of the context, got " +
                       Twine(scaling.originalContext));
  }
  return scaling;
}

static void readRope(Source &source, const Node &table,
                     const DecoderDefaults &defaults, DecoderShape &shape) {
  TableReader reader(source, table, "[rope]");
  shape.ropeTheta = reader.numberOr(
      "theta", {defaults.ropeTheta, "rope.theta", defaults.why});
  if (const Node *scaling = reader.table("scaling")) {
    TableReader inner(source, *scaling, "\"scaling\"");
    inner.requireChoice("kind", {"llama3"});
    shape.ropeScaling = readLlama3Scaling(inner, inner, "original_context",
                                          shape.options.maxContext);
    inner.rejectOthers();
  }
  reader.rejectOthers();
}

static void readSampling(Source &source, const Node &table,
                         SamplingOptions &sampling) {
  TableReader reader(source, table, "[sampling]");
  std::optional<size_t> method = reader.choice("method", {"greedy", "random"});
  sampling.random = method == 1;
  if (method == 0 || !reader.has("method")) {
    for (StringRef key : {"top_k", "top_p", "temperature"}) {
      if (reader.has(key)) {
        reader.error(key,
                     "expected \"" + key + "\" only with method = \"random\"");
      }
    }
  } else {
    sampling.topK = reader.positive("top_k");
    sampling.topP = reader.number("top_p");
    sampling.temperature = reader.number("temperature");
  }
  reader.rejectOthers();
}

static Type readElementType(TableReader &reader, StringRef key) {
  static constexpr StringRef kNames[] = {"bf16", "f16", "f32"};
  std::optional<size_t> index = reader.choice(key, kNames);
  return index ? parseElementType(reader.getSource().context, kNames[*index])
               : Type();
}

/// What both forms of the TOML share: types, RoPE, sampling.
static void readShared(TableReader &top, TableReader &reader,
                       DecoderShape &shape) {
  Source &source = top.getSource();
  shape.options.elementType = readElementType(reader, "dtype");
  shape.options.storedType = readElementType(reader, "stored");
  noteConversion(reader, "stored", shape.options.storedType,
                 shape.options.elementType);
  Node empty;
  empty.kind = Node::Kind::Table;
  empty.place = reader.place("name");
  const Node *rope = top.table("rope");
  readRope(source, rope ? *rope : empty, {}, shape);
  const Node *sampling = top.table("sampling");
  readSampling(source, sampling ? *sampling : empty, shape.sampling);
}

/// Which linears have a bias; those of q, k and v also where the output of
/// attention has none.
static void readTomlBiases(TableReader &reader, StringRef why,
                           DecoderShape &shape) {
  shape.qkvBias = shape.outputBias = reader.booleanOr(
      kTomlKeys.attentionBias, {false, kTomlKeys.attentionBias, why});
  shape.mlpBias =
      reader.booleanOr(kTomlKeys.mlpBias, {false, kTomlKeys.mlpBias, why});
  std::optional<bool> bias = reader.boolean(kTomlQkvBias);
  if (bias == false && shape.outputBias) {
    reader.error(kTomlQkvBias, "expected \"" + kTomlQkvBias +
                                   "\" to be true, as \"" +
                                   kTomlKeys.attentionBias + "\" is");
  }
  shape.qkvBias |= bias.value_or(false);
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::importToml(Source &source, const Node &file, StringRef name) {
  TableReader top(source, file, "a model file");
  const Node *table = top.find("model");
  if (!table || !table->isTable()) {
    top.error("model", "expected a table [model]");
    return failure();
  }
  const bool spelledOut = top.has("block");
  top.has("rope");
  top.has("sampling");
  if (spelledOut) {
    top.has("sizes");
  }
  top.rejectOthers();

  TableReader reader(source, *table, "[model]");
  const DecoderDefaults defaults;
  DecoderShape shape;
  if (spelledOut) {
    shape.options.maxContext = reader.positiveOr(
        kTomlKeys.maxContext,
        {defaults.maxContext, kTomlKeys.maxContext, defaults.why});
    shape.options.maxContextPlace = reader.location(kTomlKeys.maxContext);
    shape.normEps = reader.number(kTomlKeys.normEps).value_or(defaults.normEps);
  } else {
    shape = readDecoder(reader, kTomlKeys, defaults);
    shape.window = reader.positive("window").value_or(0);
    readTomlBiases(reader, defaults.why, shape);
  }
  shape.name = reader.string("name").value_or(name.str());
  readShared(top, reader, shape);
  reader.rejectOthers();
  if (source.failed) {
    return failure();
  }
  return spelledOut ? importGraph(source, file, shape)
                    : buildDecoder(source.context, shape,
                                   source.location(table->place));
}
