//===- Experts.cpp - Feed-forward of one layer ----------------------------===//

#include "lib/Dsl/Blocks.h"

using namespace mlir;
using namespace modelc;

static constexpr auto kInputs = model::Subject::Inputs;
static constexpr auto kOutputs = model::Subject::Outputs;

static Value finish(Model &m, Value x, const DecoderShape &shape, Where where) {
  return shape.mlpPostNorm.empty()
             ? x
             : layerNorm(m, x, shape.mlpPostNorm, shape, where);
}

/// Gate, up, SwiGLU and down of rows that are normed.
static Value feedForward(Model &m, Value n, const std::string &prefix,
                         int64_t width, const DecoderShape &shape,
                         Where where) {
  const DecoderPlaces &at = shape.places;
  const Where atFfn =
      either(at.ffn, where).about({{kInputs, at.hidden}, {kOutputs, at.ffn}});
  auto ofInput = [&](StringRef name) {
    return project(
        m, n, {prefix + name.str(), width, shape.mlpBias, model::Role::Column},
        atFfn);
  };
  Value gate = ofInput("gate_proj"), up = ofInput("up_proj");
  return project(
      m, m.swiglu(gate, up, shape.gating, atFfn),
      {prefix + "down_proj", shape.hidden, shape.mlpBias, model::Role::Row},
      either(at.ffn, where).about({{kInputs, at.ffn}, {kOutputs, at.hidden}}));
}

Value modelc::swigluMlp(Model &m, Value x, const DecoderShape &shape,
                        Where where) {
  Value n = layerNorm(m, x, shape.mlpNorm, shape,
                      where.about({{kInputs, shape.places.hidden}}));
  Value out = feedForward(m, n, shape.root + shape.layer + shape.mlp, shape.ffn,
                          shape, where);
  return finish(m, out, shape, where);
}

static std::pair<Value, Value> routeRows(Model &m, Value n,
                                         const std::string &prefix,
                                         const ExpertsShape &of, int64_t hidden,
                                         Where where) {
  Value weight =
      m.weight(prefix + of.router + ".weight", {of.count, hidden}, where);
  Value bias;
  if (of.hasRouterBias) {
    bias = m.weight(prefix + of.router + ".bias", {of.count}, where);
  }
  Value logits = of.routesInF32 ? m.logits(n, weight, bias, where)
                                : m.linear(n, weight, {.bias = bias}, where);
  Value correction;
  if (!of.correction.empty()) {
    Type f32 = Float32Type::get(n.getContext());
    correction =
        m.weights(prefix + of.correction, {of.count}, {.type = f32}, where);
  }
  return m.route(logits, correction, of.route, where);
}

static ExpertWeights weightsOf(Model &m, const std::string &prefix,
                               const ExpertsShape &of, int64_t hidden,
                               Where where) {
  const WeightOptions options = {.type = {}, .transposed = of.transposed};
  std::vector<std::string> gateUp;
  for (const std::string &name : of.gateUp) {
    gateUp.push_back(prefix + name);
  }
  ExpertWeights weights;
  weights.gateUp =
      m.weights(gateUp, {of.count, 2 * of.width, hidden}, options, where);
  weights.down =
      m.weights(prefix + of.down, {of.count, hidden, of.width}, options, where);
  if (of.hasBiases) {
    weights.gateUpBias =
        m.weight(gateUp.front() + "_bias", {of.count, 2 * of.width}, where);
    weights.downBias =
        m.weight(prefix + of.down + "_bias", {of.count, hidden}, where);
  }
  weights.interleaved = of.interleaved;
  weights.weighInputs = of.weighInputs;
  weights.gating = of.gating;
  return weights;
}

/// What all tokens go through beside their experts.
static Value sharedRows(Model &m, Value n, const std::string &prefix,
                        const ExpertsShape &of, const DecoderShape &shape,
                        Where where) {
  Value out =
      feedForward(m, n, prefix + of.shared, of.sharedWidth, shape, where);
  if (of.sharedGate.empty()) {
    return out;
  }
  Value weight =
      m.weight(prefix + of.sharedGate + ".weight", {1, shape.hidden}, where);
  return m.gate(out, m.linear(n, weight, {}, where), where);
}

Value modelc::expertsMlp(Model &m, Value x, const DecoderShape &shape,
                         Where where) {
  const ExpertsShape &of = *shape.experts;
  const std::string prefix = shape.root + shape.layer + of.prefix;
  Value n = layerNorm(m, x, shape.mlpNorm, shape,
                      where.about({{kInputs, shape.places.hidden}}));
  std::pair<Value, Value> route =
      routeRows(m, n, prefix, of, shape.hidden, where);
  Value out =
      m.experts(n, route, weightsOf(m, prefix, of, shape.hidden, where), where);
  if (of.sharedWidth > 0) {
    out = m.add(out, sharedRows(m, n, prefix, of, shape, where), where);
  }
  return finish(m, out, shape, where);
}
