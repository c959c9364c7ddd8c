//===- AttentionCombine.cpp - Parts of decode attention become results ----===//
//
// A workgroup owns one head of one sequence and joins its parts, several of
// them in a trip: the rows of one tile. Where results are quantised there is a
// tile for each block of the head (Blocks.h), whose columns stored elements
// are, so that the largest number of a block is found where the block lies.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/Softmax.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Rows/Blocks.h"
#include <limits>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = KernelBuilder::Values;

namespace {
struct Combine {
  KernelBuilder &k;
  const HeadShape &shape;
  const DecodeTile &tile;
  std::optional<BlockWriter> blocks; ///< none: nothing is quantised
  Value part = {}, statistic = {}, valueScale = {}, tensorScale = {}, out = {};
  Scalar splits = {};

  /// Words of scales of a head.
  int64_t words() const {
    return shape.valueDim / blocks->scales.wordNumbers();
  }
  /// Columns of the tiles that a head is, and results of each: numbers of a
  /// stored element.
  SmallVector<int64_t, 4> pieces() const;
  int64_t results() const { return blocks ? blocks->together() : 1; }
  void declare();
  /// What the loop carries: results of all pieces, then maximum and sum.
  SmallVector<Carried> start() const;
  Place pieceAt(int64_t piece, int64_t column, Scalar row, Scalar head) const;
  Values addParts(Scalar trip, ValueRange carried, Scalar sequence,
                  Scalar head) const;
  void store(ValueRange carried, Scalar sequence, Scalar head) const;
  void storeBlocks(ValueRange carried, Scalar sequence, Scalar head) const;
};
} // namespace

void Combine::declare() {
  SmallVector<int64_t> extents = {kDynamic, shape.heads, shape.valueDim};
  if (blocks) {
    extents = blocks->matrixShape();
  }
  part = k.buffer("part", extents, blocks ? blocks->stored(k.f32()) : k.f32());
  statistic = k.buffer("stat", {kDynamic, shape.heads, 2}, k.f32());
  if (shape.isScaled()) {
    valueScale = k.buffer("v_scale", {1}, k.f32());
  }
  if (!blocks) {
    out = k.buffer("out", extents, shape.element);
    return;
  }
  if (shape.quantise->isTensorScaled) {
    tensorScale = k.buffer("tensor_scale", {1}, k.f32());
  }
  blocks->declareResults();
}

SmallVector<int64_t, 4> Combine::pieces() const {
  if (!blocks) {
    return partsOf(shape.valueDim);
  }
  int64_t count = words() * blocks->scales.scalesPerWord();
  return SmallVector<int64_t, 4>(count, shape.valueDim / count / results());
}

SmallVector<Carried> Combine::start() const {
  SmallVector<Carried> list;
  Value zero;
  for (int64_t columns : pieces()) {
    bool isAlike =
        zero && cast<TileType>(zero.getType()).getColumns() == columns;
    zero = isAlike ? zero : k.fill("zero", {1, columns}, k.f32(), 0);
    list.append(results(), Carried{"o", zero});
  }
  list.push_back({"max", k.fill("lowest", {1, 1}, k.f32(), -kInfinity)});
  list.push_back({"sum", k.fill("none", {1, 1}, k.f32(), 0)});
  return list;
}

/// The piece of this number, from `column` on of what is not in blocks.
Place Combine::pieceAt(int64_t piece, int64_t column, Scalar row,
                       Scalar head) const {
  Scalar zero = k.constant(0);
  if (!blocks) {
    return at(part, {row, head, k.constant(column)}).walks(0, 2);
  }
  int64_t ofWord = blocks->scales.scalesPerWord();
  Scalar word =
      head * static_cast<double>(words()) + static_cast<double>(piece / ofWord);
  return at(part, {row, word, k.constant(piece % ofWord), zero}).walks(0, 3);
}

Values Combine::addParts(Scalar trip, ValueRange carried, Scalar sequence,
                         Scalar head) const {
  Type f32 = k.f32();
  Scalar first = k.name("first", trip * static_cast<double>(tile.combineParts));
  Scalar row = k.name("part_row", sequence * splits + first);
  Scalar limit = k.name("limit", (sequence + 1.0) * splits);
  auto statisticAt = [&](StringRef name, int64_t column) {
    Place place = at(statistic, {row, head, k.constant(column)}).walks(0, 2);
    return k.load(name, {tile.combineParts, 1}, place.valid({limit}));
  };
  SmallVector<Value> loaded;
  int64_t column = 0;
  for (auto [piece, columns] : llvm::enumerate(pieces())) {
    Place place = pieceAt(piece, column, row, head);
    loaded.push_back(
        k.load("part", {tile.combineParts, columns}, place.valid({limit})));
    column += columns;
  }
  // All of a trip is on its way before anything is awaited.
  Value maxima = statisticAt("part_max", 0), sums = statisticAt("part_sum", 1);
  Value before = carried[carried.size() - 2], sum = carried.back();
  // The first part has keys, so that the maximum is finite from the first trip
  // on.
  Value highest = k.map("highest", f32, maxima, [&](Element e) {
    return select(first + e.row < splits, e[0], k.number(f32, -kInfinity));
  });
  Value best = k.reduce("best", Combiner::Max, highest, 0);
  Value maximum = k.map("max", f32, {before, best},
                        [](Element e) { return kernels::maximum(e[0], e[1]); });
  auto decay = [&](StringRef name, Value from) {
    return k.map(name, f32, {from, maximum},
                 [](Element e) { return exp2(e[0] - e[1]); });
  };
  Value decayed = decay("before", before), weights = decay("weights", highest);
  auto joined = [&](StringRef name, Value sum, Value ofParts, int64_t index) {
    Value weighted = k.map("weighted", f32, {ofParts, weights}, [&](Element e) {
      return (results() > 1 ? numberOf(e[0], index) : e[0]) * e[1];
    });
    Value added = k.reduce("added", Combiner::Add, weighted, 0);
    return k.map(name, f32, {sum, decayed, added},
                 [](Element e) { return e[0] * e[1] + e[2]; });
  };
  Values next;
  for (Value ofPiece : loaded) {
    for (int64_t index = 0; index < results(); ++index) {
      next.push_back(joined("o", carried[next.size()], ofPiece, index));
    }
  }
  Value added = k.reduce("added", Combiner::Add,
                         k.map("weighted", f32, {sums, weights},
                               [](Element e) { return e[0] * e[1]; }),
                         0);
  next.push_back(maximum);
  next.push_back(k.map("sum", f32, {sum, decayed, added},
                       [](Element e) { return e[0] * e[1] + e[2]; }));
  return next;
}

void Combine::storeBlocks(ValueRange carried, Scalar sequence,
                          Scalar head) const {
  Value factor = softmaxFactor(k, carried.back(), valueScale);
  int64_t ofWord = blocks->scales.scalesPerWord(), next = 0;
  for (int64_t own = 0; own < words(); ++own) {
    Scalar word = k.name("word", head * static_cast<double>(words()) +
                                     static_cast<double>(own));
    SmallVector<Value> scales;
    for (int64_t block = 0; block < ofWord; ++block) {
      SmallVector<Value> numbers;
      for (int64_t index = 0; index < results(); ++index) {
        numbers.push_back(k.map(index == 0 ? "first" : "second", k.f32(),
                                {carried[next++], factor},
                                [](Element e) { return e[0] * e[1]; }));
      }
      scales.push_back(blocks->quantise(numbers, sequence, word, block));
    }
    blocks->storeScales(scales, sequence, word);
  }
}

void Combine::store(ValueRange carried, Scalar sequence, Scalar head) const {
  if (blocks) {
    return storeBlocks(carried, sequence, head);
  }
  Softmax end = Softmax::of(shape, carried);
  storeParts(k, finishSoftmax(k, shape, end, valueScale), [&](int64_t column) {
    return at(out, {sequence, head, k.constant(column)}).walks(1, 2);
  });
}

KernelOp kernels::buildAttentionCombine(OpBuilder &builder, const Label &label,
                                        const HeadShape &shape,
                                        const DecodeTile &tile,
                                        Range sequences) {
  const std::optional<QuantiseShape> &quantise = shape.quantise;
  // The tiles of blocks are too small for several waves.
  int64_t waves = quantise ? 1 : tile.combineWaves;
  KernelBuilder k(builder, label.symbol, label.op, waves);
  Combine kernel = {k, shape, tile, std::nullopt};
  if (quantise) {
    kernel.blocks.emplace(BlockWriter{k, quantise->columns, quantise->scales,
                                      quantise->result, 1});
  }
  kernel.declare();
  Scalar count = k.size("sequences", sequences.minimum, sequences.maximum);
  kernel.splits = k.size("splits", 1, tile.maxSplits);
  Scalar trips = ceilDiv(kernel.splits, tile.combineParts);
  k.grid({{"sequence", count}, {"head", k.constant(shape.heads)}},
         [&](ArrayRef<Scalar> index) {
           if (kernel.tensorScale) {
             kernel.blocks->loadTensorScale(kernel.tensorScale);
           }
           auto body = [&](Scalar t, ValueRange carried) {
             return kernel.addParts(t, carried, index[0], index[1]);
           };
           Values end = k.loop("t", trips, "", kernel.start(), body);
           kernel.store(end, index[0], index[1]);
         });
  return k.finish(label.note);
}
