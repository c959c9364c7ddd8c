//===- Attention.cpp - Attention of one layer -----------------------------===//

#include "lib/Dsl/Blocks.h"

using namespace mlir;
using namespace modelc;

static constexpr auto kInputs = model::Subject::Inputs;
static constexpr auto kOutputs = model::Subject::Outputs;

static int64_t columns(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().back();
}

/// What attention gives back, behind its own norm if it has one.
static Value finish(Model &m, Value x, const DecoderShape &shape, Where where) {
  return shape.attentionPostNorm.empty()
             ? x
             : layerNorm(m, x, shape.attentionPostNorm, shape, where);
}

static RopeOptions ropeOf(const DecoderShape &shape) {
  RopeOptions rope;
  rope.headDim = shape.headDim;
  rope.theta = shape.ropeTheta;
  rope.scaling = shape.ropeScaling;
  rope.yarn = shape.yarn;
  rope.stretched = shape.ropeStretched;
  rope.rotated = shape.ropeRotated;
  rope.interleaved = shape.ropeInterleaved;
  return rope;
}

/// Norm of queries or keys by that name, and RoPE, in the order of the model.
static Value prepare(Model &m, Value x, const std::string &norm,
                     const DecoderShape &shape, Where where) {
  const bool isOfHeads = shape.qkNorm == QkNorm::PerHead;
  NormOptions options = {.eps = shape.normEps,
                         .headDim = isOfHeads ? shape.headDim : 0,
                         .onePlus = shape.onePlusNorms};
  if (isOfHeads || shape.qkNorm == QkNorm::WholeRow) {
    Value weight =
        m.weight(shape.root + shape.layer + "self_attn." + norm + ".weight",
                 {isOfHeads ? shape.headDim : columns(x)}, where);
    x = m.norm(x, weight, options, where);
  }
  if (shape.isRotated) {
    x = m.rope(x, ropeOf(shape), where);
  }
  if (shape.qkNorm == QkNorm::Unweighted && shape.isRotated) {
    x = m.norm(x, Value(),
               NormOptions{.eps = shape.normEps, .headDim = shape.headDim},
               where);
  }
  return x;
}

Value modelc::selfAttention(Model &m, Value x, const DecoderShape &shape,
                            Where where) {
  if (shape.latent) {
    return latentSelfAttention(m, x, shape, where);
  }
  const std::string prefix = shape.root + shape.layer + "self_attn.";
  const int64_t queries = shape.heads * shape.headDim;
  const int64_t keys = shape.kvHeads * shape.headDim;
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

  Value n = layerNorm(m, x, shape.attentionNorm, shape,
                      where.about({{kInputs, at.hidden}}));
  auto ofInput = [&](StringRef name, int64_t outputs, model::Role role) {
    return project(
        m, n,
        {prefix + name.str(), outputs, shape.qkvBias, role, shape.headDim},
        role == model::Role::Heads ? atHeads : atKvHeads);
  };
  Value q = ofInput("q_proj", queries, model::Role::Heads);
  Value k = ofInput("k_proj", keys, model::Role::KvHeads);
  Value v = ofInput("v_proj", keys, model::Role::KvHeads);
  q = prepare(m, q, "q_norm", shape, atHeads);
  k = prepare(m, k, "k_norm", shape, atKvHeads);
  AttentionOptions options = {shape.kvHeads,    shape.headDim,    shape.window,
                              shape.chunk,      shape.scoreScale, shape.softCap,
                              shape.temperature};
  if (shape.hasSinks) {
    options.sink = m.weight(prefix + "sinks", {shape.heads}, atHeads);
  }
  Value a = m.attention(q, k, v, options, atKvHeads);
  a = project(m, a,
              {prefix + "o_proj", shape.hidden, shape.outputBias,
               model::Role::Row, shape.headDim},
              either(at.heads, where)
                  .about({{kInputs, at.headDim}, {kOutputs, at.hidden}, head}));
  return finish(m, a, shape, where);
}

/// Queries of latent attention, through a rank of their own or not.
static Value latentQueries(Model &m, Value n, const DecoderShape &shape,
                           Where where) {
  const std::string prefix = shape.root + shape.layer + "self_attn.";
  const LatentShape &latent = *shape.latent;
  const int64_t head = latent.keyDim + latent.ropeDim;
  Value q = n;
  std::string last = "q_proj";
  if (latent.queryRank > 0) {
    q = project(m, q, {prefix + "q_a_proj", latent.queryRank, shape.qkvBias},
                where);
    q = rmsNorm(m, q, prefix + "q_a_layernorm.weight", shape.normEps, where);
    last = "q_b_proj";
  }
  q = project(
      m, q,
      {prefix + last, shape.heads * head, false, model::Role::Heads, head},
      where);
  RopeOptions rope = ropeOf(shape);
  rope.headDim = head;
  rope.rotated = latent.ropeDim;
  rope.first = latent.keyDim;
  return m.rope(q, rope, where);
}

Value modelc::latentSelfAttention(Model &m, Value x, const DecoderShape &shape,
                                  Where where) {
  const std::string prefix = shape.root + shape.layer + "self_attn.";
  const LatentShape &latent = *shape.latent;
  const int64_t row = latent.rank + latent.ropeDim;
  Value n = layerNorm(m, x, shape.attentionNorm, shape, where);
  Value q = latentQueries(m, n, shape, where);
  Value kv =
      project(m, n, {prefix + "kv_a_proj_with_mqa", row, shape.qkvBias}, where);
  kv = m.norm(kv,
              m.weight(prefix + "kv_a_layernorm.weight", {latent.rank}, where),
              NormOptions{.eps = shape.normEps, .first = latent.rank}, where);
  RopeOptions rope = ropeOf(shape);
  rope.headDim = row;
  rope.rotated = latent.ropeDim;
  rope.first = latent.rank;
  kv = m.rope(kv, rope, where);
  Value expand = m.weight(
      prefix + "kv_b_proj.weight",
      {shape.heads * (latent.keyDim + latent.valueDim), latent.rank}, where);
  Value a = m.latentAttention(q, kv, expand, latent, shape.scoreScale, where);
  a = project(m, a,
              {prefix + "o_proj", shape.hidden, shape.outputBias,
               model::Role::Row, latent.valueDim},
              where);
  return finish(m, a, shape, where);
}
