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
//   tied_embeddings = false   # = false; so are attention_bias and mlp_bias
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

static constexpr StringLiteral kWhy = "default of transformers for a Llama";

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

DecoderShape modelc::readDecoder(TableReader &reader, const DecoderKeys &keys) {
  DecoderShape shape;
  shape.layers = reader.requirePositive(keys.layers);
  shape.hidden = reader.requirePositive(keys.hidden);
  shape.heads = reader.requirePositive(keys.heads);
  shape.ffn = reader.requirePositive(keys.ffn);
  shape.vocab = reader.requirePositive(keys.vocab);
  shape.kvHeads = reader.positiveOr(
      keys.kvHeads, {shape.heads, kTomlKeys.kvHeads, "as many as heads"});
  shape.headDim =
      reader.positiveOr(keys.headDim, {shape.hidden / shape.heads,
                                       kTomlKeys.headDim, "hidden / heads"});
  shape.normEps =
      reader.numberOr(keys.normEps, {1e-6, kTomlKeys.normEps, kWhy});
  shape.options.maxContext =
      reader.positiveOr(keys.maxContext, {2048, kTomlKeys.maxContext, kWhy});
  shape.attentionBias = reader.booleanOr(
      keys.attentionBias, {false, kTomlKeys.attentionBias, kWhy});
  shape.mlpBias =
      reader.booleanOr(keys.mlpBias, {false, kTomlKeys.mlpBias, kWhy});
  shape.tiedEmbeddings = reader.booleanOr(
      keys.tiedEmbeddings, {false, kTomlKeys.tiedEmbeddings, kWhy});
  shape.places = {reader.location(keys.heads), reader.location(keys.kvHeads),
                  reader.location(keys.ffn), reader.location(keys.vocab)};
  if (!reader.getSource().failed) {
    checkSizes(reader, keys, shape);
  }
  return shape;
}

Llama3Scaling modelc::readLlama3Scaling(TableReader &reader,
                                        StringRef originalContextKey) {
  return {reader.requireNumber("factor"),
          reader.requireNumber("low_freq_factor"),
          reader.requireNumber("high_freq_factor"),
          reader.requirePositive(originalContextKey)};
}

static void readRope(Source &source, const Node &table, DecoderShape &shape) {
  TableReader reader(source, table, "[rope]");
  shape.ropeTheta = reader.numberOr("theta", {10000.0, "rope.theta", kWhy});
  if (const Node *scaling = reader.find("scaling")) {
    if (!scaling->isTable()) {
      reader.error("scaling", "expected a table for \"scaling\", got " +
                                  scaling->kindName());
      return;
    }
    TableReader inner(source, *scaling, "\"scaling\"");
    inner.choice("kind", {"llama3"});
    shape.ropeScaling = readLlama3Scaling(inner, "original_context");
    inner.rejectOthers();
  }
  reader.rejectOthers();
}

static void readSampling(Source &source, const Node &table,
                         SamplingOptions &sampling) {
  TableReader reader(source, table, "[sampling]");
  sampling.random = reader.choice("method", {"greedy", "random"}) == 1;
  for (StringRef key : {"top_k", "top_p", "temperature"}) {
    if (!sampling.random && reader.has(key)) {
      reader.error(key,
                   "expected \"" + key + "\" only with method = \"random\"");
    }
  }
  sampling.topK = reader.positive("top_k");
  sampling.topP = reader.number("top_p");
  sampling.temperature = reader.number("temperature");
  reader.rejectOthers();
}

static Type readElementType(TableReader &reader, StringRef key) {
  static constexpr StringRef kNames[] = {"bf16", "f16", "f32"};
  std::optional<size_t> index = reader.choice(key, kNames);
  return index ? parseElementType(reader.getSource().context, kNames[*index])
               : Type();
}

/// What both forms of the TOML share: types, RoPE, sampling.
static void readShared(Source &source, const Node &file, TableReader &reader,
                       DecoderShape &shape) {
  shape.options.elementType = readElementType(reader, "dtype");
  shape.options.storedType = readElementType(reader, "stored");
  Node empty;
  empty.kind = Node::Kind::Table;
  empty.place = reader.place("name");
  const Node *rope = file.find("rope");
  readRope(source, rope ? *rope : empty, shape);
  const Node *sampling = file.find("sampling");
  readSampling(source, sampling ? *sampling : empty, shape.sampling);
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
  DecoderShape shape;
  if (spelledOut) {
    shape.options.maxContext = reader.positiveOr(
        kTomlKeys.maxContext, {2048, kTomlKeys.maxContext, kWhy});
    shape.normEps = reader.number(kTomlKeys.normEps).value_or(1e-6);
  } else {
    shape = readDecoder(reader, kTomlKeys);
    shape.window = reader.positive("window").value_or(0);
  }
  shape.name = reader.string("name").value_or(name.str());
  readShared(source, file, reader, shape);
  reader.rejectOthers();
  if (source.failed) {
    return failure();
  }
  return spelledOut ? importGraph(source, file, shape)
                    : buildDecoder(source.context, shape,
                                   source.location(table->place));
}
