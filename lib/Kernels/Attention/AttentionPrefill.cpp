//===- AttentionPrefill.cpp - Causal attention of many new tokens ---------===//
//
// A workgroup owns a tile of queries of one sequence and one head and walks the
// keys from the first that its first query sees to the last that its last query
// sees, in the paged cache: those of earlier steps and those that this step has
// appended. Others are never loaded, but for the rest of a tile; those that
// single queries of the tile do not see are masked. Where the tile says so,
// values are added one trip late, so that their product runs beside the
// exponentials; there is one more trip then. Where it says that too, keys are
// multiplied one trip early, so that scores are there when a trip begins.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/Sequences.h"
#include "lib/Kernels/Attention/Softmax.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct Prefill {
  KernelBuilder &k;
  const HeadShape &shape;
  const PrefillTile &tile;
  QueryArguments q;
  CacheArguments cache;
  ScoreArguments scores;
  SequenceArguments sequences;
  Value out;

  void declare();
  KeyTile keysOf(const Sequence &sequence, Scalar kvHead, Scalar trip,
                 Scalar key);
  Scalar isAnyHidden(Scalar position, Scalar key);
  void ownQueries(const Sequence &sequence, Scalar first, Scalar head);
};
} // namespace

void Prefill::declare() {
  q = QueryArguments::declare(k, shape);
  cache = CacheArguments::declare(k, shape);
  scores = ScoreArguments::declare(k, shape);
  sequences = SequenceArguments::declare(k);
  out = k.buffer("out", {kDynamic, shape.heads, shape.valueDim}, shape.element);
}

/// By how many trips values are added later than their keys are multiplied.
static int64_t tripsLate(const PrefillTile &tile) {
  return (tile.isDelayed ? 1 : 0) + (tile.isAhead ? 1 : 0);
}

/// Whether the first trip adds no values and the last one makes no scores.
static bool hasHalfTrips(const PrefillTile &tile) {
  return tile.isDelayed && tile.hasRoles;
}

/// The keys of a trip, with the values of the trip before where they are late:
/// the first adds none.
KeyTile Prefill::keysOf(const Sequence &sequence, Scalar kvHead, Scalar trip,
                        Scalar key) {
  KeyTile next;
  next.keys = cache.keys;
  next.values = cache.values;
  next.pages = sequences.pages;
  next.sequence = sequence.index;
  next.kvHead = kvHead;
  next.first = next.firstValue = key;
  next.context = next.valueEnd = sequence.context;
  next.count = tile.keys;
  next.fmaExponentials = tile.fmaExponentials;
  if (int64_t late = tripsLate(tile)) {
    Scalar none = k.constant(0);
    next.firstValue =
        maximum(key - static_cast<double>(late * tile.keys), none);
    next.valueEnd = select(trip < k.constant(late), none, sequence.context);
  }
  return next;
}

/// The part of the new queries before whose own key so many lie and more; with
/// a power of " ^ 2" twice the mean number of these.
static std::string expectBeyond(int64_t beyond, const char *power = "") {
  std::string keys = std::to_string(beyond);
  return "(max(0, context - " + keys + ")" + power +
         " - max(0, context - tokens / sequences - " + keys + ")" + power +
         ") / (tokens / sequences)";
}

/// Keys of its own chunk that a new query sees in the mean: of all whole chunks
/// up to the context and of the last one, less those up to the past.
static std::string expectOfChunk(int64_t chunk) {
  auto seenUpTo = [&](const std::string &position) {
    std::string size = std::to_string(chunk);
    std::string whole = "floordiv(" + position + ", " + size + ")";
    std::string rest = "(" + position + " - " + whole + " * " + size + ")";
    return "(" + whole + " * " + std::to_string(chunk * (chunk + 1) / 2) +
           " + (" + rest + " ^ 2 + " + rest + ") / 2)";
  };
  return "(" + seenUpTo("context") + " - " +
         seenUpTo("(context - tokens / sequences)") +
         ") / (tokens / sequences)";
}

/// Keys of a window that are walked before the own ones of a tile of queries,
/// where tiles of keys begin with those of queries.
static int64_t keysBefore(const HeadShape &shape, const PrefillTile &tile) {
  return llvm::alignTo(shape.window - 1, tile.keys);
}

/// Trips that see no keys, of the time of a whole one: two halves are one.
static int64_t tripsBeside(const PrefillTile &tile) {
  return tripsLate(tile) - (hasHalfTrips(tile) ? 1 : 0);
}

/// Trips of a query in the middle of the new tokens, at the end of its own
/// tile, less the mean of those before a window, where nothing is rounded.
static std::string expectTrips(const HeadShape &shape,
                               const PrefillTile &tile) {
  std::string seen = shape.chunk > 0 ? expectOfChunk(shape.chunk)
                                     : "context - tokens / sequences / 2";
  std::string keys = seen + " + " + std::to_string(tile.queries / 2);
  if (shape.window > 0) {
    int64_t beyond = keysBefore(shape, tile) + (tile.queries - tile.keys) / 2;
    keys += " - " + expectBeyond(beyond, " ^ 2") + " / 2";
  }
  return "(" + keys + ") / " + std::to_string(tile.keys) + " + " +
         std::to_string(tripsBeside(tile)) + ".5";
}

/// The part of the trips that are masked: tiles of keys that are as late as the
/// queries, those in which windows begin, and the trip that ends.
static std::string expectMasked(const HeadShape &shape,
                                const PrefillTile &tile) {
  int64_t late = llvm::divideCeil(tile.queries, tile.keys);
  std::string masked = std::to_string(late + tripsBeside(tile));
  if (shape.window > 0) {
    int64_t early = llvm::divideCeil(
        keysBefore(shape, tile) + tile.queries - shape.window, tile.keys);
    masked = "(" + masked + " + " + std::to_string(early) + " * " +
             expectBeyond(shape.window) + ")";
  }
  return "min(1, " + masked + " / (" + expectTrips(shape, tile) + "))";
}

/// Whether a key is seen by a query, by their positions.
static Scalar isSeen(const HeadShape &shape, Scalar key, Scalar query) {
  Scalar isBefore = key <= query;
  if (shape.chunk > 0) {
    return isBefore & (query <= key + query % shape.chunk);
  }
  return shape.window > 0 ? isBefore & (query < key + double(shape.window))
                          : isBefore;
}

/// Whether some query of the tile from `position` on does not see some key of
/// that from `key` on.
Scalar Prefill::isAnyHidden(Scalar position, Scalar key) {
  Scalar isAnyLater = position < key + static_cast<double>(tile.keys - 1);
  if (shape.seesAllKeys()) {
    return isAnyLater;
  }
  Scalar end = position + static_cast<double>(tile.queries);
  Scalar isAnyEarlier =
      shape.chunk > 0 ? key < firstKeySeen(k, shape, end)
                      : key < position + double(tile.queries - shape.window);
  return isAnyLater | isAnyEarlier;
}

void Prefill::ownQueries(const Sequence &sequence, Scalar first, Scalar head) {
  Scalar row = sequence.start + first;
  auto rowsOf = [&](Value buffer, int64_t column) {
    return at(buffer, {row, head, k.constant(column)})
        .walks(0, 2)
        .valid({sequence.end});
  };
  SmallVector<Value, 2> queries =
      loadQueries(k, shape, tile.queries, [&](int64_t column) {
        QueryArguments::Column own = q.at(shape, column);
        return rowsOf(own.buffer, own.column);
      });
  Scalar kvHead = k.name("kv_head", head / static_cast<double>(shape.group()));
  Scalar position = k.name("position", sequence.past + first);
  Scalar seen =
      minimum(position + static_cast<double>(tile.queries), sequence.context);
  Scalar begin = firstTileSeen(k, shape, position + 1.0, tile.keys);
  Scalar trips = ceilDiv(seen, tile.keys) - begin;
  std::string expect = expectTrips(shape, tile);
  if (int64_t late = tripsLate(tile)) {
    trips = trips + static_cast<double>(late); // the last ones see no keys
  }
  trips = k.name("trips", trips);
  Value scale = scores.loadScale(k, shape, cache, tile.queries, position,
                                 sequence.context);
  Softmax start = Softmax::start(k, shape, tile.queries,
                                 tile.isDelayed ? tile.keys : 0, tile.isAhead);
  if (scores.sink) {
    Value sink = k.load("sink", {1, 1}, at(scores.sink, {head}).walks(0, 0));
    start = withSinks(k, shape, start, sink);
  }
  auto body = [&](Scalar t, ValueRange carried) {
    Scalar key = k.name("key", (begin + t) * static_cast<double>(tile.keys));
    KeyTile next = keysOf(sequence, kvHead, t, key);
    next.scale = scale;
    next.expectFirst = "1 / (" + expect + ")";
    Scalar scored = tile.isAhead ? key - static_cast<double>(tile.keys) : key;
    auto isVisible = [&](Element e) {
      Scalar own = scored + e.column;
      return isSeen(shape, own, position + e.row);
    };
    return addKeys(k, shape, Softmax::of(shape, carried), queries, next,
                   {isVisible, isAnyHidden(position, scored),
                    expectMasked(shape, tile)})
        .values();
  };
  KernelBuilder::Values sums =
      k.loop("t", trips, expect, start.carried(), body);
  if (hasHalfTrips(tile)) {
    sums[0].getDefiningOp<LoopOp>().setDelayed(true);
  }
  Softmax end = Softmax::of(shape, sums);
  storeParts(k, finishSoftmax(k, shape, end, cache.valueScale),
             [&](int64_t column) { return rowsOf(out, column); });
}

KernelOp kernels::buildAttentionPrefill(OpBuilder &builder, const Label &label,
                                        const HeadShape &shape,
                                        const PrefillTile &tile,
                                        StepRange sizes) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Prefill kernel = {k, shape, tile, {}, {}, {}, {}, {}};
  kernel.declare();
  auto [count, longest] = kernel.sequences.declareSizes(k, sizes);
  Scalar tiles = k.name("tiles", ceilDiv(longest, tile.queries));
  k.grid(
      {{"sequence", count}, {"head", k.constant(shape.heads)}, {"tile", tiles}},
      [&](ArrayRef<Scalar> index) {
        Sequence sequence = kernel.sequences.load(k, index[0]);
        // The latest queries see the most keys: they begin, of as many heads
        // as follow one another, so that units end together.
        Scalar later = index[2] + 1;
        Scalar first = k.name("first", (tiles - later) *
                                           static_cast<double>(tile.queries));
        k.when(first < sequence.count, kLiveTiles,
               [&] { kernel.ownQueries(sequence, first, index[1]); });
      });
  KernelOp built = k.finish(label.note);
  if (tile.slots) {
    built.setSlots(tile.slots);
  }
  if (tile.workgroupsOfUnit) {
    built.setWorkgroupsOfUnit(tile.workgroupsOfUnit);
  }
  if (tile.headsTogether) {
    built.setOrderedRows(tile.headsTogether);
  }
  built.setRoles(tile.hasRoles);
  return built;
}
