#include "lib/Kernels/Softmax.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kLog2E = 1.4426950408889634;

Softmax Softmax::start(KernelBuilder &k, int64_t queries, int64_t headDim) {
  return {k.fill("zero", {queries, headDim}, k.f32(), 0),
          k.fill("lowest", {queries, 1}, k.f32(), -kInfinity),
          k.fill("none", {queries, 1}, k.f32(), 0)};
}

Softmax Softmax::of(ValueRange carried) {
  return {carried[0], carried[1], carried[2]};
}

SmallVector<Carried> Softmax::carried() const {
  return {{"o", result}, {"max", maximum}, {"sum", sum}};
}

/// A tile of keys or values in the type of the queries.
static Value loadCache(KernelBuilder &k, StringRef name, const HeadShape &shape,
                       Value cache, const KeyTile &tile) {
  Place place = at(cache, {tile.first, tile.kvHead, k.constant(0)})
                    .walks(0, 2)
                    .pages(tile.pages, tile.sequence, shape.pageSize)
                    .valid({tile.context});
  Value loaded = k.load(name, {tile.count, shape.headDim}, place);
  if (shape.cacheElement == shape.element) {
    return loaded;
  }
  return k.map(name, shape.element, loaded,
               [&](Element e) { return convert(e[0], shape.element); });
}

/// Of scores, for powers of 2.
static double scoreScale(const HeadShape &shape) {
  return kLog2E / std::sqrt(static_cast<double>(shape.headDim));
}

Value kernels::loadScoreScale(KernelBuilder &k, const HeadShape &shape,
                              Value keyScale) {
  if (!keyScale) {
    return {};
  }
  Value loaded =
      k.load("k_scale", {1, 1}, at(keyScale, {k.constant(0)}).walks(0, 0));
  return k.map("score_scale", k.f32(), loaded,
               [&](Element e) { return e[0] * scoreScale(shape); });
}

Softmax kernels::addKeys(KernelBuilder &k, const HeadShape &shape,
                         Softmax softmax, Value queries, const KeyTile &tile,
                         Visible isVisible) {
  Type f32 = k.f32();
  int64_t rows = cast<TileType>(queries.getType()).getRows();
  Value zero = k.fill("zero", {rows, tile.count}, f32, 0);
  Value keys = loadCache(k, "keys", shape, tile.keys, tile);
  Value products = k.mma("products", zero, queries, keys);
  SmallVector<Value> inputs = {products};
  if (tile.scale) {
    inputs.push_back(tile.scale);
  }
  Value scores = k.map("scores", f32, inputs, [&](Element e) {
    Scalar isSeen = isVisible(e);
    Scalar score = tile.scale ? e[0] * e[1] : e[0] * scoreScale(shape);
    return select(isSeen, score, k.number(f32, -kInfinity));
  });
  Value best = k.reduce("best", Combiner::Max, scores, 1);
  // Every tile has a key that each query sees, so the maximum is finite.
  Value maximum = k.map("max", f32, {softmax.maximum, best},
                        [](Element e) { return kernels::maximum(e[0], e[1]); });
  Value decay = k.map("decay", f32, {softmax.maximum, maximum},
                      [](Element e) { return exp2(e[0] - e[1]); });
  Value powers = k.map("powers", f32, {scores, maximum},
                       [](Element e) { return exp2(e[0] - e[1]); });
  Value added = k.reduce("added", Combiner::Add, powers, 1);
  Value sum = k.map("sum", f32, {softmax.sum, decay, added},
                    [](Element e) { return e[0] * e[1] + e[2]; });
  Value weights = k.map("weights", shape.element, powers, [&](Element e) {
    return convert(e[0], shape.element);
  });
  Value decayed = k.map("decayed", f32, {softmax.result, decay},
                        [](Element e) { return e[0] * e[1]; });
  Value values = loadCache(k, "values", shape, tile.values, tile);
  return {k.mmaPlain("o", decayed, weights, values), maximum, sum};
}

Value kernels::finishSoftmax(KernelBuilder &k, const HeadShape &shape,
                             const Softmax &softmax, Value valueScale) {
  // One division for each row.
  SmallVector<Value> inputs = {softmax.sum};
  if (valueScale) {
    inputs.push_back(
        k.load("v_scale", {1, 1}, at(valueScale, {k.constant(0)}).walks(0, 0)));
  }
  Value factor = k.map("factor", k.f32(), inputs, [&](Element e) {
    Scalar numerator = valueScale ? e[1] : k.number(k.f32(), 1);
    return numerator / e[0];
  });
  return k.map("result", shape.element, {softmax.result, factor},
               [&](Element e) { return convert(e[0] * e[1], shape.element); });
}
