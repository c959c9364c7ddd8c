#include "lib/Kernels/Attention/Softmax.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Below all scores.
static constexpr double kLowest = std::numeric_limits<float>::lowest();
/// By what a score may exceed the maximum that powers are taken against before
/// all is scaled anew: powers to 2^8 lose nothing in f32 and bf16.
static constexpr double kSlack = 8;

/// The exponent of the largest number of the type.
static double largestExponent(Type type) {
  return ilogb(APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()));
}

namespace {
/// Scores exceed the maximum that powers are taken against by at most `slack`;
/// powers are times 2^raise. Those of 8 bits fill the range of their type, so
/// that as many small ones as can be are not rounded to zero.
struct PowerRange {
  double slack = 0, raise = 0;

  static PowerRange of(const HeadShape &shape, bool isDelayed) {
    if (!shape.powers) {
      return {isDelayed ? kSlack : 0, 0};
    }
    double most = largestExponent(shape.powers);
    double slack = isDelayed ? most / 2 : 0;
    return {slack, most - slack};
  }
};
} // namespace

Softmax Softmax::start(KernelBuilder &k, const HeadShape &shape,
                       int64_t queries, int64_t keys, bool hasScores) {
  Softmax start;
  for (int64_t columns : partsOf(shape.valueDim)) {
    start.results.push_back(k.fill("zero", {queries, columns}, k.f32(), 0));
  }
  // A query may see no key of the first tile of a window or chunk, and sees
  // none of the one before: its maximum must be a number then.
  bool seesFirst = shape.seesAllKeys() && !hasScores;
  start.maximum =
      k.fill("lowest", {queries, 1}, k.f32(), seesFirst ? -kInfinity : kLowest);
  start.sum = k.fill("none", {queries, 1}, k.f32(), 0);
  if (keys > 0) {
    start.weights =
        k.fill("weightless", {queries, keys}, shape.powerElement(), 0);
  }
  if (hasScores) {
    start.scores = k.fill("unseen", {queries, keys}, k.f32(), -kInfinity);
  }
  return start;
}

Softmax Softmax::of(const HeadShape &shape, ValueRange carried) {
  size_t count = partsOf(shape.valueDim).size();
  ValueRange rest = carried.drop_front(count);
  return {llvm::to_vector_of<Value, 2>(carried.take_front(count)), rest[0],
          rest[1], rest.size() > 2 ? rest[2] : Value(),
          rest.size() > 3 ? rest[3] : Value()};
}

SmallVector<Carried> Softmax::carried() const {
  SmallVector<Carried> list;
  for (Value result : results) {
    list.push_back({"o", result});
  }
  list.append({{"max", maximum}, {"sum", sum}});
  if (weights) {
    list.push_back({"weights", weights});
  }
  if (scores) {
    list.push_back({"scores", scores});
  }
  return list;
}

KernelBuilder::Values Softmax::values() const {
  KernelBuilder::Values list(results.begin(), results.end());
  list.append({maximum, sum});
  if (weights) {
    list.push_back(weights);
  }
  if (scores) {
    list.push_back(scores);
  }
  return list;
}

void kernels::storeParts(KernelBuilder &k, ValueRange parts,
                         llvm::function_ref<Place(int64_t column)> place) {
  int64_t column = 0;
  for (Value part : parts) {
    k.store(part, place(column));
    column += cast<TileType>(part.getType()).getColumns();
  }
}

SmallVector<Value, 2>
kernels::loadQueries(KernelBuilder &k, const HeadShape &shape, int64_t queries,
                     llvm::function_ref<Place(int64_t column)> place) {
  SmallVector<Value, 2> parts;
  int64_t column = 0;
  for (int64_t columns : shape.keyParts()) {
    parts.push_back(k.load("queries", {queries, columns}, place(column)));
    column += columns;
  }
  return parts;
}

/// Columns of a tile of keys or values, in `type`.
static Value loadCache(KernelBuilder &k, StringRef name, const HeadShape &shape,
                       Type type, Value cache, const KeyTile &tile,
                       Scalar first, Scalar end, int64_t column,
                       int64_t columns) {
  Place place = at(cache, {first, tile.kvHead, k.constant(column)})
                    .walks(0, 2)
                    .pages(tile.pages, tile.sequence, shape.pageSize)
                    .valid({end});
  Value loaded = k.load(name, {tile.count, columns}, place);
  if (shape.cacheElement == type) {
    return loaded;
  }
  return k.map(name, type, loaded,
               [&](Element e) { return convert(e[0], type); });
}

Softmax kernels::withSinks(KernelBuilder &k, const HeadShape &shape,
                           const Softmax &start, Value sinks, Scalar part) {
  Softmax own = start;
  auto where = [&](Scalar yes, Scalar no) {
    return part ? select(part == k.constant(0), yes, no) : yes;
  };
  own.maximum = k.map("sinks", k.f32(), {start.maximum, sinks}, [&](Element e) {
    return where(convert(e[1], k.f32()) * kLog2E, e[0]);
  });
  double raise = PowerRange::of(shape, !!start.weights).raise;
  own.sum = k.map("of_sinks", k.f32(), start.sum, [&](Element e) {
    return where(k.number(k.f32(), std::exp2(raise)), e[0]);
  });
  return own;
}

/// Products of queries and the keys that they see, elsewhere minus infinity.
static Value seen(KernelBuilder &k, Value products, const Mask &mask) {
  auto masked = [&](Value scores) {
    return k.map("scores", k.f32(), scores, [&](Element e) {
      return select(mask.isVisible(e), e[0], k.number(k.f32(), -kInfinity));
    });
  };
  if (!mask.isNeeded) {
    return masked(products);
  }
  Scalar once = select(*mask.isNeeded, k.constant(1), k.constant(0));
  return k.loop("masked", once, mask.expect, {{"scores", products}},
                [&](Scalar, ValueRange carried) {
                  return KernelBuilder::Values{masked(carried[0])};
                })[0];
}

static Value decayed(KernelBuilder &k, Value sums, Value decay) {
  return k.map("decayed", k.f32(), {sums, decay},
               [](Element e) { return e[0] * e[1]; });
}

/// The same of each part, left out where the factor of every row is one.
static void decayIfAny(KernelBuilder &k, MutableArrayRef<Value> sums,
                       Value decay, StringRef expect) {
  Value decays = k.map("decays", k.f32(), decay,
                       [&](Element e) { return k.number(k.f32(), 1) - e[0]; });
  Scalar once = select(any(k, decays), k.constant(1), k.constant(0));
  for (Value &sum : sums) {
    sum = k.loop("decaying", once, expect, {{"o", sum}},
                 [&](Scalar, ValueRange carried) {
                   return KernelBuilder::Values{decayed(k, carried[0], decay)};
                 })[0];
  }
}

/// Of queries and a tile of keys, part by part.
static Value productsOf(KernelBuilder &k, const HeadShape &shape,
                        ValueRange queries, const KeyTile &tile) {
  int64_t rows = cast<TileType>(queries[0].getType()).getRows(), column = 0;
  Value products = k.fill("zero", {rows, tile.count}, k.f32(), 0);
  for (auto [part, columns] : llvm::zip_equal(queries, shape.keyParts())) {
    Value keys = loadCache(k, "keys", shape, shape.queryElement(), tile.keys,
                           tile, tile.first, tile.context, column, columns);
    products = k.mma("products", products, part, keys);
    column += columns;
  }
  return products;
}

/// Adds the weighted values of a tile to `sums`, part by part.
static void addValues(KernelBuilder &k, const HeadShape &shape,
                      const KeyTile &tile, Value weights,
                      MutableArrayRef<Value> sums) {
  int64_t column = 0;
  for (Value &sum : sums) {
    int64_t columns = cast<TileType>(sum.getType()).getColumns();
    Value values =
        loadCache(k, "values", shape, shape.powerElement(), tile.values, tile,
                  tile.firstValue, tile.valueEnd, column, columns);
    sum = k.mmaPlain("o", sum, weights, values);
    column += columns;
  }
}

/// Powers as what multiplies values.
static Value weigh(KernelBuilder &k, const HeadShape &shape, Value powers) {
  Type type = shape.powerElement();
  return k.map("weights", type, powers,
               [&](Element e) { return convert(e[0], type); });
}

/// Results decay, and the values of the same tile are added to them.
static void addAtOnce(KernelBuilder &k, const HeadShape &shape,
                      const KeyTile &tile, Value powers, Value decay,
                      MutableArrayRef<Value> results) {
  Value weights = weigh(k, shape, powers);
  for (Value &result : results) {
    result = decayed(k, result, decay);
  }
  addValues(k, shape, tile, weights, results);
}

Softmax kernels::addKeys(KernelBuilder &k, const HeadShape &shape,
                         Softmax softmax, ValueRange queries,
                         const KeyTile &tile, const Mask &mask) {
  Type f32 = k.f32();
  Value products = productsOf(k, shape, queries, tile);
  SmallVector<Value, 2> results = softmax.results;
  if (softmax.weights) {
    addValues(k, shape, tile, softmax.weights, results);
  }
  const ScoreScale scale = {k, shape, tile.scale};
  Value scores =
      seen(k, softmax.scores ? softmax.scores : scale.capped(products), mask);
  Value best = k.reduce("best", Combiner::Max, scores, 1);
  PowerRange reach = PowerRange::of(shape, !!softmax.weights);
  // Each query sees some key of the first tile, or its maximum starts finite.
  Value maximum =
      k.map("max", f32, scale.with({softmax.maximum, best}), [&](Element e) {
        Scalar found = scale.times(e, 1);
        return softmax.weights
                   ? select(found - e[0] > k.number(f32, reach.slack), found,
                            e[0])
                   : kernels::maximum(e[0], found);
      });
  Value decay = k.map("decay", f32, {softmax.maximum, maximum},
                      [](Element e) { return exp2(e[0] - e[1]); });
  Value shift = k.map("shift", f32, maximum, [&](Element e) {
    return k.number(f32, reach.raise) - e[0];
  });
  Value powers =
      k.map("powers", f32, scale.with({scores, shift}),
            [&](Element e) { return exp2(scale.timesPlus(e, 0, e[1])); });
  if (tile.fmaExponentials) {
    powers.getDefiningOp<MapOp>().setFmaExponentials(tile.fmaExponentials);
  }
  Value added = k.reduce("added", Combiner::Add, powers, 1);
  Value sum = k.map("sum", f32, {softmax.sum, decay, added},
                    [](Element e) { return e[0] * e[1] + e[2]; });
  if (!softmax.weights) {
    addAtOnce(k, shape, tile, powers, decay, results);
    return {results, maximum, sum};
  }
  // The new weights take the registers of those that the product has read.
  decayIfAny(k, results, decay, tile.expectFirst);
  Softmax next = {results, maximum, sum, weigh(k, shape, powers)};
  if (softmax.scores) {
    next.scores = shape.softCap > 0 ? scale.capped(products)
                                    : k.map("scores", f32, products,
                                            [](Element e) { return e[0]; });
  }
  return next;
}

Value kernels::softmaxFactor(KernelBuilder &k, Value sum, Value valueScale) {
  SmallVector<Value> inputs = {sum};
  if (valueScale) {
    inputs.push_back(
        k.load("v_scale", {1, 1}, at(valueScale, {k.constant(0)}).walks(0, 0)));
  }
  return k.map("factor", k.f32(), inputs, [&](Element e) {
    Scalar numerator = valueScale ? e[1] : k.number(k.f32(), 1);
    return numerator / e[0];
  });
}

SmallVector<Value, 2> kernels::finishSoftmax(KernelBuilder &k,
                                             const HeadShape &shape,
                                             const Softmax &softmax,
                                             Value valueScale) {
  Value factor = softmaxFactor(k, softmax.sum, valueScale);
  SmallVector<Value, 2> results;
  for (Value sums : softmax.results) {
    results.push_back(
        k.map("result", shape.element, {sums, factor},
              [&](Element e) { return convert(e[0] * e[1], shape.element); }));
  }
  return results;
}
