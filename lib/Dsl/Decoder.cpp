//===- Decoder.cpp - Blocks of a decoder in the manner of Llama -----------===//

#include "lib/Dsl/Dsl.h"

using namespace mlir;
using namespace modelc;

/// The place of a size where it is known, else that of the whole.
static Where either(std::optional<Location> place, Where whole) {
  return place ? Where(*place) : whole;
}

static constexpr auto kInputs = model::Subject::Inputs;
static constexpr auto kOutputs = model::Subject::Outputs;

Value modelc::rmsNorm(Model &m, Value x, StringRef weight, double eps,
                      Where where) {
  int64_t columns = cast<RankedTensorType>(x.getType()).getShape().back();
  return m.norm(x, m.weight(weight, {columns}, where), eps, where);
}

Value modelc::project(Model &m, Value x, const Projection &projection,
                      Where where) {
  int64_t columns = cast<RankedTensorType>(x.getType()).getShape().back();
  Value weight = m.weight(projection.prefix + ".weight",
                          {projection.outputs, columns}, where);
  Value bias;
  if (projection.bias) {
    bias = m.weight(projection.prefix + ".bias", {projection.outputs}, where);
  }
  return m.linear(x, weight, {bias, projection.role, projection.headDim},
                  where);
}

Value modelc::selfAttention(Model &m, Value x, const DecoderShape &shape,
                            Where where) {
  const std::string prefix = "model.layers.{layer}.self_attn.";
  const int64_t queries = shape.heads * shape.headDim;
  const int64_t keys = shape.kvHeads * shape.headDim;
  const RopeOptions rope = {shape.headDim, shape.ropeTheta, shape.ropeScaling};
  const DecoderPlaces &at = shape.places;
  const Stated head = {model::Subject::HeadDim, at.headDim};
  auto ofHeads = [&](std::optional<Location> count) {
    return either(count, where)
        .about({{kInputs, at.hidden},
                {kOutputs, at.headDim},
                {model::Subject::Heads, at.heads},
                head});
  };
  const Where atHeads = ofHeads(at.heads), atKvHeads = ofHeads(at.kvHeads);

  Value n =
      rmsNorm(m, x, "model.layers.{layer}." + shape.attentionNorm + ".weight",
              shape.normEps, where.about({{kInputs, at.hidden}}));
  auto ofInput = [&](StringRef name, int64_t outputs, model::Role role) {
    return project(
        m, n,
        {prefix + name.str(), outputs, shape.qkvBias, role, shape.headDim},
        role == model::Role::Heads ? atHeads : atKvHeads);
  };
  Value q = ofInput("q_proj", queries, model::Role::Heads);
  Value k = ofInput("k_proj", keys, model::Role::KvHeads);
  Value v = ofInput("v_proj", keys, model::Role::KvHeads);
  q = m.rope(q, rope, atHeads);
  k = m.rope(k, rope, atKvHeads);
  Value a = m.attention(q, k, v, {shape.kvHeads, shape.headDim, shape.window},
                        atKvHeads);
  return project(
      m, a,
      {prefix + "o_proj", shape.hidden, shape.outputBias, model::Role::Row,
       shape.headDim},
      either(at.heads, where)
          .about({{kInputs, at.headDim}, {kOutputs, at.hidden}, head}));
}

Value modelc::swigluMlp(Model &m, Value x, const DecoderShape &shape,
                        Where where) {
  const std::string prefix = "model.layers.{layer}.mlp.";
  const DecoderPlaces &at = shape.places;
  const Where atFfn =
      either(at.ffn, where).about({{kInputs, at.hidden}, {kOutputs, at.ffn}});
  Value n = rmsNorm(m, x, "model.layers.{layer}." + shape.mlpNorm + ".weight",
                    shape.normEps, where.about({{kInputs, at.hidden}}));
  auto ofInput = [&](StringRef name) {
    return project(
        m, n,
        {prefix + name.str(), shape.ffn, shape.mlpBias, model::Role::Column},
        atFfn);
  };
  Value gate = ofInput("gate_proj"), up = ofInput("up_proj");
  return project(
      m, m.swiglu(gate, up, atFfn),
      {prefix + "down_proj", shape.hidden, shape.mlpBias, model::Role::Row},
      either(at.ffn, where).about({{kInputs, at.ffn}, {kOutputs, at.hidden}}));
}

FailureOr<OwningOpRef<ModuleOp>> modelc::buildDecoder(MLIRContext *context,
                                                      const DecoderShape &shape,
                                                      Where where) {
  const DecoderPlaces &at = shape.places;
  Model m(context, shape.name, shape.options, where);
  const std::string embedding = "model.embed_tokens.weight";
  const Where atVocab =
      either(at.vocab, where)
          .about({{kInputs, at.hidden}, {kOutputs, at.vocab}});
  Value table = m.weight(embedding, {shape.vocab, shape.hidden}, atVocab);
  Value x = m.embed(m.tokens(), table, atVocab);
  x = m.layers(
      shape.layers, x,
      [&](Value h) {
        h = m.add(h, selfAttention(m, h, shape, where), where);
        return m.add(h, swigluMlp(m, h, shape, where), where);
      },
      where);
  x = rmsNorm(m, m.last(x, where), "model.norm.weight", shape.normEps,
              where.about({{kInputs, at.hidden}}));
  Value head = m.weight(shape.tiedEmbeddings ? embedding : "lm_head.weight",
                        {shape.vocab, shape.hidden}, atVocab);
  Value logits = m.linear(x, head, {.role = model::Role::Vocabulary}, atVocab);
  return m.finish(m.sample(logits, shape.sampling, where), where);
}
