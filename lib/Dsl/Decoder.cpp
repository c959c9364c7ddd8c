//===- Decoder.cpp - Blocks of a decoder in the manner of Llama -----------===//

#include "lib/Dsl/Blocks.h"

using namespace mlir;
using namespace modelc;

static constexpr auto kInputs = model::Subject::Inputs;
static constexpr auto kOutputs = model::Subject::Outputs;

Where modelc::either(std::optional<Location> place, Where whole) {
  return place ? Where(*place) : whole;
}

Value modelc::layerNorm(Model &m, Value x, StringRef name,
                        const DecoderShape &shape, Where where) {
  const int64_t columns = cast<RankedTensorType>(x.getType()).getShape().back();
  Value weight = m.weight(shape.root + shape.layer + name.str() + ".weight",
                          {columns}, where);
  return m.norm(
      x, weight,
      NormOptions{.eps = shape.normEps, .onePlus = shape.onePlusNorms}, where);
}

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

/// The shape with all that layers of a kind have of their own; `place` is that
/// of the layer among those that take turns.
static DecoderShape shapeOfLayer(const DecoderShape &shape,
                                 const LayerKind &kind, int64_t place) {
  DecoderShape own = shape;
  if (place > 0) {
    own.layer = "model.layers.{layer+" + std::to_string(place) + "}.";
  }
  own.window = kind.window;
  own.chunk = kind.chunk;
  own.isRotated = kind.rotation != LayerKind::Rotation::None;
  if (kind.rotation == LayerKind::Rotation::Local) {
    own.ropeTheta = shape.localTheta;
    own.ropeStretched = 1;
    own.ropeScaling = std::nullopt;
    own.yarn = std::nullopt;
  }
  if (!kind.hasTemperature) {
    own.temperature = std::nullopt;
  }
  if (!kind.hasExperts) {
    own.experts = std::nullopt;
  }
  return own;
}

static Value layer(Model &m, Value h, const DecoderShape &shape, Where where) {
  h = m.add(h, selfAttention(m, h, shape, where), where);
  return m.add(h,
               shape.experts ? expertsMlp(m, h, shape, where)
                             : swigluMlp(m, h, shape, where),
               where);
}

/// All layers, those that take turns stated once.
static Value buildLayers(Model &m, Value x, const DecoderShape &shape,
                         Where where) {
  if (shape.kinds.empty()) {
    return m.layers(
        shape.layers, x, [&](Value h) { return layer(m, h, shape, where); },
        where);
  }
  ArrayRef<LayerKind> kinds = shape.kinds;
  for (const LayerRun &run : findRuns(kinds)) {
    x = m.layers(
        run.repeats, x,
        [&](Value h) {
          for (int64_t i = 0; i < run.period; ++i) {
            h = layer(m, h, shapeOfLayer(shape, kinds[i], i), where);
          }
          return h;
        },
        where, run.period);
    kinds = kinds.drop_front(run.period * run.repeats);
  }
  return x;
}

FailureOr<OwningOpRef<ModuleOp>> modelc::buildDecoder(MLIRContext *context,
                                                      const DecoderShape &shape,
                                                      Where where) {
  const DecoderPlaces &at = shape.places;
  Model m(context, shape.name, shape.options, where);
  const std::string embedding = shape.root + "model.embed_tokens.weight";
  const Where atVocab =
      either(at.vocab, where)
          .about({{kInputs, at.hidden}, {kOutputs, at.vocab}});
  Value table = m.weight(embedding, {shape.vocab, shape.hidden}, atVocab);
  Value x = m.embed(m.tokens(), table, shape.embeddingScale, atVocab);
  x = m.last(buildLayers(m, x, shape, where), where);
  const Where atNorm = where.about({{kInputs, at.hidden}});
  x = m.norm(
      x, m.weight(shape.root + "model.norm.weight", {shape.hidden}, atNorm),
      NormOptions{.eps = shape.normEps, .onePlus = shape.onePlusNorms}, atNorm);
  Value head =
      m.weight(shape.tiedEmbeddings ? embedding : shape.root + "lm_head.weight",
               {shape.vocab, shape.hidden}, atVocab);
  Value logits = m.linear(x, head, {.role = model::Role::Vocabulary}, atVocab);
  return m.finish(m.sample(logits, shape.sampling, where), where);
}
