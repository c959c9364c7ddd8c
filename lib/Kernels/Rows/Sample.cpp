//===- Sample.cpp - The next token of each row of logits ------------------===//
//
// A workgroup owns one row and walks it in chunks, as often as needed. A logit
// and its index are one key, as SortedKeys.h says.
//
//   greedy   one walk for the largest logit and the first index of it that each
//            lane meets, loaded some chunks ahead; the largest key of these
//   random   one kind of search, used three times: the largest key such that
//            all keys from it up weigh enough. Counting each key as 1 finds the
//            top-k; weighing by probability, the top-p; up to the drawn share
//            of what is kept, the token itself.
//
// A search fixes the bits of the key from above, a few a walk: `ways`
// thresholds at once are the rows of a tile, the logits its columns.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Rows/SampleFamily.h"
#include "lib/Kernels/SortedKeys.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Chunks that are on their way: a trip is short beside the latency of L2.
static constexpr int64_t kChunksAhead = 3;
static constexpr double kLog2E = 1.4426950408889634;

namespace {
/// One row of logits while it is sampled.
struct SampledRow {
  KernelBuilder &k;
  const SampleShape &shape;
  const SampleTile &tile;
  Value logits;
  Scalar row;
  Value highest; ///< key of the largest logit, 1 x 1
  Value load(Scalar column, bool isCut);
  Value keys(Scalar chunk);
  Value greedyKey();
  /// Walks the row; carries a tile of `tile.columns` columns.
  Value walk(StringRef name, Value init,
             function_ref<Value(Value keys, Value carried)> body);
  Value extremeKey(bool isHighest);
  Value weights(Value keys, Value floor, bool countsOnly);
  Value totalWeight(Value floor);
  Value search(StringRef name, Value floor, Value goal, bool countsOnly,
               bool isStrict);
  void storeToken(Value key, Value out);
};
} // namespace

/// Logits from that column on; what lies beyond the row is no logit.
Value SampledRow::load(Scalar column, bool isCut) {
  Place place = at(logits, {row, column}).walks(0, 1);
  if (isCut) {
    place = place.valid({k.constant(INT32_MAX), k.constant(shape.vocabulary)});
  }
  return k.load("scores", {1, tile.columns}, place);
}

Value SampledRow::keys(Scalar chunk) {
  Scalar column = k.name("column", chunk * static_cast<double>(tile.columns));
  Scalar end = k.constant(shape.vocabulary);
  bool isRagged = shape.vocabulary % tile.columns != 0;
  return k.map("keys", k.i64(), load(column, isRagged), [&](Element e) {
    Scalar index = column + e.column;
    Scalar key = keyOf(e[0], convert(index, k.i32()));
    return isRagged ? select(index < end, key, k.integer(k.i64(), kLowestKey))
                    : key;
  });
}

/// The largest key, of what each lane has found; what is not a number is never
/// taken. The last chunk ends with the row: what it meets again changes
/// nothing.
Value SampledRow::greedyKey() {
  Shape columns = {1, tile.columns};
  Type f32 = k.f32(), i32 = k.i32();
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  int64_t chunks = llvm::divideCeil(shape.vocabulary, tile.columns);
  int64_t rest = shape.vocabulary - tile.columns;
  auto columnOf = [&](Scalar chunk) {
    Scalar column = chunk * static_cast<double>(tile.columns);
    return k.name("column",
                  minimum(column, k.constant(std::max<int64_t>(rest, 0))));
  };
  SmallVector<Carried> carried = {
      {"highest", k.fill("none", columns, f32, kNone)},
      {"index", k.map("first", i32, k.fillInteger("zero", columns, i32, 0),
                      [&](Element e) { return convert(e.column, i32); })}};
  for (int64_t ahead = 0; ahead < kChunksAhead; ++ahead) {
    carried.push_back({"scores", load(columnOf(k.constant(ahead)), rest < 0)});
  }
  auto body = [&](Scalar chunk, ValueRange held) -> KernelBuilder::Values {
    Value later =
        load(columnOf(chunk + static_cast<double>(kChunksAhead)), rest < 0);
    Scalar column = columnOf(chunk), end = k.constant(shape.vocabulary);
    Value logits = k.map("logits", f32, held[2], [&](Element e) {
      Scalar logit = convert(e[0], f32);
      return rest < 0 ? select(e.column < end, logit, k.number(f32, kNone))
                      : logit;
    });
    Value index =
        k.map("index", i32, {held[0], held[1], logits}, [&](Element e) {
          return select(e[2] > e[0], convert(column + e.column, i32), e[1]);
        });
    Value highest = k.map("highest", f32, {held[0], logits}, [&](Element e) {
      return select(e[1] > e[0], e[1], e[0]);
    });
    KernelBuilder::Values yielded = {highest, index};
    llvm::append_range(yielded, held.drop_front(3));
    yielded.push_back(later);
    return yielded;
  };
  KernelBuilder::Values found =
      k.loop("chunk", k.constant(chunks), "", carried, body);
  Value keys = k.map("keys", k.i64(), {found[0], found[1]},
                     [&](Element e) { return keyOf(e[0], e[1]); });
  return k.reduce("highest", Combiner::Max, keys, 1);
}

Value SampledRow::walk(StringRef name, Value init,
                       function_ref<Value(Value, Value)> body) {
  Scalar chunks = k.constant(llvm::divideCeil(shape.vocabulary, tile.columns));
  return k.loop("chunk", chunks, "", {{name, init}},
                [&](Scalar chunk, ValueRange carried) -> KernelBuilder::Values {
                  return {body(keys(chunk), carried[0])};
                })[0];
}

/// The largest key, or the smallest of a logit, as a 1 x 1 tile.
Value SampledRow::extremeKey(bool isHighest) {
  int64_t none = isHighest ? kLowestKey : kHighestKey;
  StringRef name = isHighest ? "highest" : "lowest";
  Value init = k.fillInteger("none", {1, tile.columns}, k.i64(), none);
  Value best = walk(name, init, [&](Value keys, Value carried) {
    return k.map(name, k.i64(), {carried, keys}, [&](Element e) {
      if (isHighest) {
        return maximum(e[0], e[1]);
      }
      // Columns beyond the vocabulary hold the smallest number of all.
      Scalar beyond = k.integer(k.i64(), kLowestKey);
      return select(e[1] == beyond, e[0], minimum(e[0], e[1]));
    });
  });
  return k.reduce(name, isHighest ? Combiner::Max : Combiner::Min, best, 1);
}

/// Weight of each key: 1, or its probability in units of the most probable; 0
/// below the floor.
Value SampledRow::weights(Value keys, Value floor, bool countsOnly) {
  Type f32 = k.f32();
  return k.map("weights", f32, {keys, floor, highest}, [&](Element e) {
    Scalar weight = k.number(f32, 1);
    if (!countsOnly) {
      Scalar distance = numberOfKey(e[0]) - numberOfKey(e[2]);
      weight = exp2(distance * (kLog2E / shape.temperature));
    }
    return select(e[0] >= e[1], weight, k.number(f32, 0));
  });
}

Value SampledRow::totalWeight(Value floor) {
  Value zero = k.fill("zero", {1, tile.columns}, k.f32(), 0);
  Value sum = walk("total", zero, [&](Value keys, Value carried) {
    return k.map("total", k.f32(), {carried, weights(keys, floor, false)},
                 [](Element e) { return e[0] + e[1]; });
  });
  return k.reduce("total", Combiner::Add, sum, 1);
}

/// The largest key, not below `floor`, such that the keys from it up weigh at
/// least `goal` (strict: more).
Value SampledRow::search(StringRef name, Value floor, Value goal,
                         bool countsOnly, bool isStrict) {
  Type i64 = k.i64(), f32 = k.f32();
  int64_t bits = llvm::Log2_64(tile.ways);
  Value start = k.fillInteger("start", {1, 1}, i64, kLowestKey);
  auto step = [&](Scalar trip, ValueRange carried) -> KernelBuilder::Values {
    Scalar shift = k.name("shift", k.constant(64 - bits) -
                                       trip * static_cast<double>(bits));
    Value spread = k.fillInteger("spread", {tile.ways, 1}, i64, 0);
    Value thresholds =
        k.map("thresholds", i64, {carried[0], spread}, [&](Element e) {
          Scalar way = convert(e.row, i64), distance = convert(shift, i64);
          Value moved = arith::ShLIOp::create(
              k.builder, k.builder.getUnknownLoc(), way.value, distance.value);
          return e[0] + Scalar(&k, moved);
        });
    Value zero = k.fill("zero", {tile.ways, tile.columns}, f32, 0);
    Value sums = walk("sums", zero, [&](Value keys, Value sum) {
      Value weight = weights(keys, floor, countsOnly);
      return k.map("sums", f32, {sum, keys, thresholds, weight},
                   [&](Element e) {
                     Scalar zero = k.number(f32, 0);
                     return e[0] + select(e[1] >= e[2], e[3], zero);
                   });
    });
    Value total = k.reduce("total", Combiner::Add, sums, 1);
    Value reached = k.map(
        "reached", i64, {total, goal, thresholds, carried[0]}, [&](Element e) {
          Scalar isEnough = isStrict ? e[0] > e[1] : e[0] >= e[1];
          return select(isEnough, e[2], e[3]);
        });
    return {k.reduce("key", Combiner::Max, reached, 0)};
  };
  Value key =
      k.loop("step", k.constant(64 / bits), "", {{"key", start}}, step)[0];
  return k.map(name, i64, {key, floor},
               [](Element e) { return maximum(e[0], e[1]); });
}

void SampledRow::storeToken(Value key, Value out) {
  Value token = k.map("token", k.i32(), key, [&](Element e) {
    return convert(indexOfKey(e[0]), k.i32());
  });
  k.store(token, at(out, {row}).walks(0, 0));
}

/// Draws by the row's number in [0, 1): the key at which the running sum of
/// probabilities, from the most probable down, exceeds that share.
static Value drawKey(SampledRow &sampled, Value draws) {
  KernelBuilder &k = sampled.k;
  const SampleShape &shape = sampled.shape;
  Type f32 = k.f32();
  Value floor = sampled.extremeKey(false);
  if (shape.topK > 0 && shape.topK < shape.vocabulary) {
    Value goal = k.fill("top_k", {1, 1}, f32, shape.topK);
    floor = sampled.search("floor", floor, goal, true, false);
  }
  Value total = sampled.totalWeight(floor);
  if (shape.topP < 1) {
    Value goal =
        k.map("goal", f32, total, [&](Element e) { return e[0] * shape.topP; });
    floor = sampled.search("floor", floor, goal, false, false);
    total = sampled.totalWeight(floor);
  }
  Value draw = k.load("draw", {1, 1}, at(draws, {sampled.row}).walks(0, 0));
  Value share =
      k.map("share", f32, {draw, total}, [](Element e) { return e[0] * e[1]; });
  return sampled.search("drawn", floor, share, false, true);
}

KernelOp kernels::buildSample(OpBuilder &builder, const Label &label,
                              const SampleShape &shape, const SampleTile &tile,
                              Range sequences) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Value logits = k.buffer(
      "logits", {kDynamic, shape.vocabulary + shape.padding}, shape.element);
  Value draws;
  if (!shape.isGreedy) {
    draws = k.buffer("draws", {kDynamic}, k.f32());
  }
  Value out = k.buffer("out", {kDynamic}, k.i32());
  Scalar count = k.size("sequences", sequences.minimum, sequences.maximum);
  k.grid({{"sequence", count}}, [&](ArrayRef<Scalar> index) {
    SampledRow sampled = {k, shape, tile, logits, index[0], {}};
    if (shape.isGreedy) {
      return sampled.storeToken(sampled.greedyKey(), out);
    }
    sampled.highest = sampled.extremeKey(true);
    sampled.storeToken(drawKey(sampled, draws), out);
  });
  return k.finish(label.note);
}
