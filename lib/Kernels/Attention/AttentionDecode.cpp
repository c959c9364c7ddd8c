//===- AttentionDecode.cpp - Attention of one new token, split over keys --===//
//
// A workgroup owns one sequence, one KV head with its group of query heads (the
// rows of one tile) or, where the tile has fewer rows, with a part of these,
// and one part of the tiles of keys that the query sees any of, which it walks.
// It leaves an unnormalised result with its maximum and sum, which a second
// kernel joins (AttentionCombine.cpp). A kernel that splits nothing owns all
// keys and leaves the result.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/Sequences.h"
#include "lib/Kernels/Attention/Softmax.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
/// The parts of all splits in memory.
struct Parts {
  Value result, statistic;

  static Parts declare(KernelBuilder &k, const HeadShape &shape) {
    return {k.buffer("part", {kDynamic, shape.heads, shape.valueDim}, k.f32()),
            k.buffer("stat", {kDynamic, shape.heads, 2}, k.f32())};
  }
  /// From `column` of the heads from `head` to `limit` in one part.
  static Place heads(KernelBuilder &k, Value buffer, Scalar part, Scalar head,
                     Scalar limit, int64_t column) {
    return at(buffer, {part, head, k.constant(column)})
        .walks(1, 2)
        .valid({limit});
  }
};

/// A KV head and the query heads from `first` to `limit` of its group.
struct OwnHeads {
  Scalar kvHead, first, limit;
};

struct Decode {
  KernelBuilder &k;
  const HeadShape &shape;
  const DecodeTile &tile;
  QueryArguments q;
  CacheArguments cache;
  ScoreArguments scores;
  Value contexts, pages;
  Parts parts;
  Value out;
  Scalar splits;

  bool isWhole() const { return tile.maxSplits == 1; }
  void declare();
  OwnHeads headsOf(Scalar index);
  void ownPart(Scalar sequence, Scalar index, Scalar split);
  Softmax walk(Scalar sequence, Scalar kvHead, ValueRange queries,
               Scalar context, Scalar split, Value sinks);
};
} // namespace

void Decode::declare() {
  q = QueryArguments::declare(k, shape);
  cache = CacheArguments::declare(k, shape, /*scalesValues=*/isWhole());
  scores = ScoreArguments::declare(k, shape);
  contexts = k.buffer("contexts", {kDynamic}, k.i32());
  pages = k.buffer("pages", {kDynamic, kDynamic}, k.i32());
  if (isWhole()) {
    out =
        k.buffer("out", {kDynamic, shape.heads, shape.valueDim}, shape.element);
  } else {
    parts = Parts::declare(k, shape);
  }
}

/// Tiles of keys that a query sees any of: a window begins anywhere in one, a
/// chunk, of more keys, with the first.
static std::string expectTiles(const HeadShape &shape, int64_t keys) {
  std::string seen = "context";
  if (shape.chunk > 0) {
    std::string chunk = std::to_string(shape.chunk);
    seen = "(context - floordiv(context - 1, " + chunk + ") * " + chunk + ")";
  }
  std::string tiles = seen + " / " + std::to_string(keys) + " + 0.5";
  if (shape.window > 0) {
    tiles = "min(" + tiles + ", " + std::to_string(shape.window + keys - 1) +
            " / " + std::to_string(keys) + ")";
  }
  return "max(1, " + tiles + ")";
}

/// The softmax over the keys of one part; `sinks` may be null.
Softmax Decode::walk(Scalar sequence, Scalar kvHead, ValueRange queries,
                     Scalar context, Scalar split, Value sinks) {
  // Whole tiles of keys are dealt to the splits, to the first ones first.
  Scalar begin = firstTileSeen(k, shape, context, tile.keys);
  Scalar tiles = k.name("tiles", ceilDiv(context, tile.keys) - begin);
  auto before = [&](Scalar part) {
    return (part * tiles + splits - 1.0) / splits;
  };
  Scalar first = k.name("first", before(split));
  Scalar trips = k.name("trips", before(split + 1.0) - first);
  std::string expect = expectTiles(shape, tile.keys);
  expect += isWhole() ? "" : " / splits";
  Value scale = scores.loadScale(k, shape, cache, /*queries=*/1,
                                 /*position=*/context - 1.0, context);
  Softmax start = Softmax::start(k, shape, tile.queries);
  if (sinks) {
    start = withSinks(k, shape, start, sinks, isWhole() ? Scalar() : split);
  }
  auto body = [&](Scalar t, ValueRange carried) {
    Scalar key =
        k.name("key", (begin + first + t) * static_cast<double>(tile.keys));
    KeyTile next = {cache.keys, cache.values, pages,   sequence,  kvHead, key,
                    context,    key,          context, tile.keys, scale};
    auto isVisible = [&](Element e) {
      Scalar own = key + e.column, isThere = own < context;
      if (shape.chunk % tile.keys != 0) {
        return isThere & (firstKeySeen(k, shape, context) <= own);
      }
      return shape.window > 0
                 ? isThere & (context <= own + double(shape.window))
                 : isThere;
    };
    return addKeys(k, shape, Softmax::of(shape, carried), queries, next,
                   {isVisible})
        .values();
  };
  return Softmax::of(shape, k.loop("t", trips, expect, start.carried(), body));
}

/// The heads of part `index` of all groups.
OwnHeads Decode::headsOf(Scalar index) {
  auto group = static_cast<double>(shape.group());
  int64_t parts = tile.groupParts(shape);
  if (parts == 1) {
    Scalar head = k.name("head", index * group);
    return {index, head, head + group};
  }
  auto rows = static_cast<double>(tile.queries);
  Scalar kvHead = shape.kvHeads == 1
                      ? k.constant(0)
                      : k.name("kv_head", index / static_cast<double>(parts));
  Scalar ofGroup = kvHead * group;
  Scalar head = k.name("head", ofGroup + index % parts * rows);
  return {kvHead, head, minimum(head + rows, ofGroup + group)};
}

void Decode::ownPart(Scalar sequence, Scalar index, Scalar split) {
  Scalar context = k.loadIndex("context", at(contexts, {sequence}), "context");
  auto [kvHead, head, headLimit] = headsOf(index);
  auto heads = [&, first = head, limit = headLimit](Value buffer,
                                                    int64_t column) {
    return at(buffer, {sequence, first, k.constant(column)})
        .walks(1, 2)
        .valid({limit});
  };
  SmallVector<Value, 2> queries =
      loadQueries(k, shape, tile.queries, [&](int64_t column) {
        QueryArguments::Column own = q.at(shape, column);
        return heads(own.buffer, own.column);
      });
  Value sinks;
  if (scores.sink) {
    Place place = at(scores.sink, {head}).walks(0, 0).valid({headLimit});
    sinks = k.load("sink", {tile.queries, 1}, place);
  }
  Softmax end = walk(sequence, kvHead, queries, context, split, sinks);
  if (isWhole()) {
    storeParts(k, finishSoftmax(k, shape, end, cache.valueScale),
               [&](int64_t column) { return heads(out, column); });
    return;
  }
  Scalar part = k.name("part_row", sequence * splits + split);
  auto place = [&, first = head, limit = headLimit](Value buffer,
                                                    int64_t column) {
    return Parts::heads(k, buffer, part, first, limit, column);
  };
  storeParts(k, end.results,
             [&](int64_t column) { return place(parts.result, column); });
  k.store(end.maximum, place(parts.statistic, 0));
  k.store(end.sum, place(parts.statistic, 1));
}

KernelOp kernels::buildAttentionDecode(OpBuilder &builder, const Label &label,
                                       const HeadShape &shape,
                                       const DecodeTile &tile,
                                       Range sequences) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Decode kernel = {k, shape, tile, {}, {}, {}, {}, {}, {}, {}, {}};
  kernel.declare();
  Scalar count = k.size("sequences", sequences.minimum, sequences.maximum);
  kernel.splits =
      kernel.isWhole() ? k.constant(1) : k.size("splits", 1, tile.maxSplits);
  k.bindExtent(kernel.pages, 1, k.size("pages_per_sequence", 1, INT32_MAX));
  k.grid({{"sequence", count},
          {"kv_head", k.constant(shape.kvHeads * tile.groupParts(shape))},
          {"split", kernel.splits}},
         [&](ArrayRef<Scalar> index) {
           kernel.ownPart(index[0], index[1], index[2]);
         });
  KernelOp built = k.finish(label.note);
  if (tile.slots) {
    built.setSlots(tile.slots);
  }
  return built;
}
