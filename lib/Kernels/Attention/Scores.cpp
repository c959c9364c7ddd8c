#include "lib/Kernels/Attention/Scores.h"

#include <cmath>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

Scalar kernels::firstKeySeen(KernelBuilder &k, const HeadShape &shape,
                             Scalar end) {
  if (shape.chunk > 0) {
    Scalar query = end - 1.0;
    return query - query % shape.chunk;
  }
  return shape.window > 0 ? maximum(end - double(shape.window), k.constant(0))
                          : k.constant(0);
}

Scalar kernels::firstTileSeen(KernelBuilder &k, const HeadShape &shape,
                              Scalar end, int64_t keys) {
  Scalar first = firstKeySeen(k, shape, end);
  return shape.seesAllKeys()
             ? first
             : k.name("first_tile", first / static_cast<double>(keys));
}

/// For powers of 2.
static double scaleOf(const HeadShape &shape) {
  double scale = shape.scale > 0
                     ? shape.scale
                     : 1 / std::sqrt(static_cast<double>(shape.headDim));
  return kLog2E * scale;
}

ScoreArguments ScoreArguments::declare(KernelBuilder &k,
                                       const HeadShape &shape) {
  ScoreArguments scores;
  if (shape.sink) {
    scores.sink = k.buffer("sink", {shape.heads}, shape.sink);
  }
  if (shape.isTempered) {
    scores.temperature =
        k.buffer("temperature", {ShapedType::kDynamic}, k.f32());
  }
  return scores;
}

Value ScoreArguments::loadScale(KernelBuilder &k, const HeadShape &shape,
                                const CacheArguments &cache, int64_t queries,
                                Scalar position, Scalar limit) const {
  SmallVector<Value> scales;
  for (auto [name, scale] : {std::pair("k_scale", cache.keyScale),
                             std::pair("q_scale", cache.queryScale)}) {
    if (scale) {
      scales.push_back(
          k.load(name, {1, 1}, at(scale, {k.constant(0)}).walks(0, 0)));
    }
  }
  if (temperature) {
    Place place = at(temperature, {position}).walks(0, 0);
    scales.push_back(k.load("temperatures", {queries, 1},
                            queries > 1 ? place.valid({limit}) : place));
  }
  if (scales.empty()) {
    return {};
  }
  return k.map("score_scale", k.f32(), scales, [&](Element e) {
    Scalar product = e[0];
    for (Scalar scale : ArrayRef(e.inputs).drop_front()) {
      product = product * scale;
    }
    return product * scaleOf(shape);
  });
}

SmallVector<Value> ScoreScale::with(std::initializer_list<Value> values) const {
  SmallVector<Value> inputs(values);
  if (scale && shape.softCap == 0) {
    inputs.push_back(scale);
  }
  return inputs;
}

Scalar ScoreScale::factor(Element e) const {
  return scale ? e.inputs.back() : k.number(k.f32(), scaleOf(shape));
}

Scalar ScoreScale::times(Element e, unsigned i) const {
  return shape.softCap > 0 ? e[i] : e[i] * factor(e);
}

Scalar ScoreScale::timesPlus(Element e, unsigned i, Scalar addend) const {
  return shape.softCap > 0 ? e[i] + addend
                           : multiplyAdd(e[i], factor(e), addend);
}

Value ScoreScale::capped(Value products) const {
  if (shape.softCap == 0) {
    return products;
  }
  auto number = [&](double value) { return k.number(k.f32(), value); };
  SmallVector<Value> inputs = {products};
  if (scale) {
    inputs.push_back(scale);
  }
  // tanh(u) = 1 - 2 / (1 + e^(2 u)), here of a score in base 2.
  return k.map("capped", k.f32(), inputs, [&](Element e) {
    Scalar power = exp2(e[0] * factor(e) * (2 / shape.softCap));
    Scalar tanh = number(1) - number(2) / (number(1) + power);
    return tanh * (shape.softCap * kLog2E);
  });
}
