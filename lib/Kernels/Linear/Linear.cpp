//===- Linear.cpp - d = a * w^T with its epilogue -------------------------===//
//
// A workgroup owns a tile of m x n elements of d and walks K in steps of k. Of
// SwiGLU it owns the same tile of gate and of up, in two accumulators. With
// splits it owns one part of K and writes f32 sums to a workspace; a second
// kernel owns a tile of d again and adds the parts.
//
// Layouts have sizes that are powers of two: a tile of another width is several
// products side by side, which share the operand that they all read, or into
// tensor memory one.
//
// Swapped, the weight is the first operand of the matrix instruction and the
// accumulator holds the transposed tile, n x m: so that few rows of a do not
// leave wide instructions empty.
//
// Where the kernel itself multiplies by the scales of blocks, each trip is one
// block: its product starts from zero and is added, scaled, to the sums in f32.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearWriter.h"
#include "lib/Kernels/Rows/SixBits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

//===----------------------------------------------------------------------===//
// The walk along K
//===----------------------------------------------------------------------===//

namespace {
/// Rows or columns of d that products share.
struct Part {
  Scalar first;
  int64_t size;
};

struct Product {
  LinearWriter &linear;
  const LinearTile &tile;
  Views a = {}, w = {};
  Value aScales = {}, wScales = {};
  /// In place of scales of blocks of a.
  Value ones = {};

  /// A tile of an operand and the scales of its blocks, if there are any.
  struct Operand {
    Value tile, scales;
  };
  void declareOperands();
  /// Where a trip along K begins: stored element of a and of w, word of scales.
  struct Start {
    Scalar depth, weightDepth, word;
  };
  Start startOf(Scalar trip);
  /// The first trip of a part of the sum.
  Scalar firstOf(Scalar part);
  Value loadNumbers(StringRef name, Views matrix, Type number, Part rows,
                    Scalar depth, Scalar rowLimit, int64_t ahead = 0);
  Operand loadInput(Part rows, Start start);
  Operand loadWeights(bool isUp, Part weightRows, Start start);
  Scalar scaleRowOf(bool isUp, Scalar weightRow);
  Value loadScales(StringRef name, Value buffer, Scalar row, Scalar word,
                   int64_t rows, int64_t ahead = 0);
  Value multiply(StringRef name, Value accumulator, Operand x, Operand y);
  /// Scales that the kernel multiplies by: of a, then of each of the rows of w.
  KernelBuilder::Values loadGroupScales(Scalar row, ArrayRef<Part> weightRows,
                                        Scalar word);
  Value addScaled(Value sum, Value product, Value ofInput, Value ofWeight);
  KernelBuilder::Values step(ValueRange sums, ArrayRef<Part> rows,
                             ArrayRef<Part> weightRows, Start start);
  KernelBuilder::Values walk(ArrayRef<Part> rows, ArrayRef<Part> columns,
                             Scalar part);
};
} // namespace

void Product::declareOperands() {
  KernelBuilder &k = linear.k;
  const LinearShape &shape = linear.shape;
  auto declare = [&](StringRef name, int64_t rows, Type number) {
    if (hasTails(number)) {
      return declareViews(k, name, rows, shape.inputs);
    }
    Type element = packedType(number);
    return Views{
        k.buffer(name, {rows, shape.inputs / packedNumbers(element)}, element)};
  };
  a = declare("a", kDynamic, shape.element);
  w = declare("w", shape.allWeightRows(), shape.weightElement());
  const BlockScales &scales = shape.blockScales;
  if (shape.scalesInputBlocks()) {
    aScales = k.buffer("a_scales", scaleShape(scales, kDynamic, shape.inputs),
                       scales.wordType(), scales.packing());
  }
  if (scales) {
    wScales = k.buffer(
        "w_scales",
        scales.isByKernel()
            ? weightScaleShape(scales, shape.allWeightRows(), shape.inputs)
            : scaleShape(scales, shape.allScaleRows(), shape.inputs),
        scales.wordType(), scales.packing());
  }
}

Scalar Product::firstOf(Scalar part) {
  auto steps = static_cast<double>(tile.stepsOfPart(linear.shape.inputs));
  return linear.k.name("first", part * steps);
}

Product::Start Product::startOf(Scalar trip) {
  KernelBuilder &k = linear.k;
  const BlockScales &scales = linear.shape.blockScales;
  auto columnsOf = [&](Type number) {
    return static_cast<double>(tile.k / packedNumbers(packedType(number)));
  };
  double ofInput = columnsOf(linear.shape.element);
  double ofWeight = columnsOf(linear.shape.weightElement());
  Start start;
  start.depth = k.name("depth", trip * ofInput);
  start.weightDepth = ofWeight == ofInput
                          ? start.depth
                          : k.name("weight_depth", trip * ofWeight);
  if (scales) {
    int64_t words = tile.k / scales.wordNumbers();
    start.word = k.name("word", trip * static_cast<double>(words));
  }
  return start;
}

Value Product::loadScales(StringRef name, Value buffer, Scalar row, Scalar word,
                          int64_t rows, int64_t ahead) {
  KernelBuilder &k = linear.k;
  const BlockScales &scales = linear.shape.blockScales;
  if (scales.isByKernel()) {
    return {};
  }
  if (!buffer) {
    return scales ? ones : Value();
  }
  Place place = scalesAt(buffer, row, word).ahead(ahead);
  if (linear.shape.inputs % tile.k != 0) {
    place = place.valid({k.constant(scales.words(linear.shape.inputs))});
  }
  return k.load(name, {tile.k / scales.wordNumbers(), rows}, place);
}

/// A tile of a matrix from stored element `depth` of its rows on.
Value Product::loadNumbers(StringRef name, Views matrix, Type number, Part rows,
                           Scalar depth, Scalar rowLimit, int64_t ahead) {
  KernelBuilder &k = linear.k;
  int64_t inputs = linear.shape.inputs;
  int64_t together = packedNumbers(packedType(number));
  auto load = [&](const Twine &own, Value buffer, int64_t first) {
    Scalar column = first ? depth + static_cast<double>(first) : depth;
    Place place = at(buffer, {rows.first, column}).ahead(ahead);
    if (inputs % tile.k != 0) {
      // Copies move two tails: behind the last of an odd number is room.
      int64_t count = llvm::alignTo(inputs / together, first ? 2 : 1);
      place = place.valid({rowLimit, k.constant(first + count)});
    } else if (rowLimit) {
      place = place.valid({rowLimit});
    }
    return k.load(own.str(), {rows.size, tile.k / together}, place);
  };
  if (!matrix.tails) {
    return load(name, matrix.heads, 0);
  }
  Value heads = load(name + "_heads", matrix.heads, 0);
  Value tails = load(name + "_tails", matrix.tails, firstTail(inputs));
  return join(k, name, number, heads, tails);
}

Product::Operand Product::loadInput(Part rows, Start start) {
  return {loadNumbers("activations", a, linear.shape.element, rows, start.depth,
                      linear.m),
          loadScales("activation_scales", aScales, rows.first, start.word,
                     rows.size)};
}

Product::Operand Product::loadWeights(bool isUp, Part weightRows, Start start) {
  KernelBuilder &k = linear.k;
  StringRef name = isUp ? "up_weights" : "weights";
  const LinearShape &shape = linear.shape;
  bool isCut = shape.inputs % tile.k != 0 || linear.isRagged;
  Value numbers = loadNumbers(
      name, w, shape.weightElement(), weightRows, start.weightDepth,
      isCut ? k.constant(shape.allWeightRows()) : Scalar(), tile.weightsAhead);
  return {numbers, loadScales((name + "_scales").str(), wScales,
                              scaleRowOf(isUp, weightRows.first), start.word,
                              weightRows.size, tile.weightsAhead)};
}

/// The row of words that scale a row of w: those of up, and of each expert,
/// begin a group.
Scalar Product::scaleRowOf(bool isUp, Scalar weightRow) {
  const LinearShape &shape = linear.shape;
  if (!wScales || linear.isGrouped()) {
    return weightRow;
  }
  int64_t behindGate = shape.scaleRowsOfGate() - shape.columns;
  int64_t behindExpert = shape.scaleRowsOfExpert() - shape.weightRows();
  if (isUp && behindGate != 0) {
    weightRow = weightRow + static_cast<double>(behindGate);
  }
  return linear.expert && behindExpert != 0
             ? weightRow + linear.expert * static_cast<double>(behindExpert)
             : weightRow;
}

/// One matrix product of the tile `x` of a with the tile `y` of w.
Value Product::multiply(StringRef name, Value accumulator, Operand x,
                        Operand y) {
  if (linear.isSwapped) {
    std::swap(x, y);
  }
  return linear.k.mma(name, accumulator, x.tile, y.tile, x.scales, y.scales);
}

KernelBuilder::Values
Product::loadGroupScales(Scalar row, ArrayRef<Part> weightRows, Scalar word) {
  KernelBuilder &k = linear.k;
  constexpr double kRows = kScaleRows, kRowsOfWeight = kGroup;
  Place place = at(aScales, {row / kRows, word, row % kScaleRows});
  KernelBuilder::Values scales = {
      linear.isSwapped
          ? k.load("activation_scales", {1, tile.m}, place.walks(1, 2))
          : k.load("activation_scales", {tile.m, 1}, place.walks(2, 1))};
  for (Part own : weightRows) {
    scales.push_back(
        k.load("weight_scale", {1, 1},
               at(wScales, {own.first / kRowsOfWeight, word}).walks(0, 1)));
  }
  return scales;
}

Value Product::addScaled(Value sum, Value product, Value ofInput,
                         Value ofWeight) {
  KernelBuilder &k = linear.k;
  Value scale = k.map("scale", k.f32(), {ofInput, ofWeight},
                      [](Element e) { return e[0] * e[1]; });
  return k.map("sum", k.f32(), {sum, product, scale},
               [](Element e) { return multiplyAdd(e[1], e[2], e[0]); });
}

/// Where each of `sizes` begins.
static SmallVector<Part> split(Scalar first, ArrayRef<int64_t> sizes) {
  SmallVector<Part> parts;
  int64_t before = 0;
  for (int64_t size : sizes) {
    Scalar own = before == 0 ? first : first + static_cast<double>(before);
    parts.push_back({own, size});
    before += size;
  }
  return parts;
}

/// All products, along columns first. What two of them read is loaded once.
KernelBuilder::Values Product::step(ValueRange sums, ArrayRef<Part> rows,
                                    ArrayRef<Part> weightRows, Start start) {
  KernelBuilder &k = linear.k;
  KernelBuilder::Values next;
  KernelBuilder::Values scales;
  if (linear.isGrouped()) {
    scales = loadGroupScales(rows.front().first, weightRows, start.word);
  }
  SmallVector<Operand> weights;
  for (auto [i, part] : llvm::enumerate(rows)) {
    Operand x = loadInput(part, start);
    for (auto [j, weightPart] : llvm::enumerate(weightRows)) {
      bool isUp = linear.shape.isSwiglu && j % 2 == 1;
      if (i == 0) {
        weights.push_back(loadWeights(isUp, weightPart, start));
      }
      StringRef name = isUp ? "up" : "sum";
      Value sum = sums[next.size()];
      if (scales.empty()) {
        next.push_back(multiply(name, sum, x, weights[j]));
        continue;
      }
      Shape own = linear.shapeOf(part.size, weightPart.size);
      Value zero = k.fill("zero", own, k.f32(), 0);
      Value product = multiply("product", zero, x, weights[j]);
      next.push_back(addScaled(sum, product, scales[0], scales[1 + j]));
    }
  }
  return next;
}

KernelBuilder::Values Product::walk(ArrayRef<Part> rows, ArrayRef<Part> columns,
                                    Scalar part) {
  KernelBuilder &k = linear.k;
  const LinearShape &shape = linear.shape;
  int64_t steps = llvm::divideCeil(shape.inputs, tile.k);
  Scalar first = firstOf(part);
  Scalar trips = k.constant(tile.stepsOfPart(shape.inputs));
  if (steps % tile.splits != 0) {
    // No part is empty: the matrix unit's queue is then never left untouched.
    trips = maximum(minimum(trips, k.constant(steps) - first), k.constant(1));
  }
  SmallVector<Part> weightRows;
  for (Part own : columns) {
    Scalar row = linear.rowOfWeight(own.first);
    weightRows.push_back({row, own.size});
    if (shape.isSwiglu) {
      weightRows.push_back({linear.upRow(row), own.size});
    }
  }
  if (shape.blockScales && !aScales) {
    int64_t words = tile.k / shape.blockScales.wordNumbers();
    ones = k.fillInteger("ones", {words, rows.front().size},
                         shape.blockScales.wordType(), kScalesOfOne);
  }
  SmallVector<Carried> sums;
  for (Part rowPart : rows) {
    for (auto [j, weightPart] : llvm::enumerate(weightRows)) {
      StringRef name = !shape.isSwiglu ? "sum" : j % 2 == 0 ? "gate" : "up";
      Shape own = linear.shapeOf(rowPart.size, weightPart.size);
      sums.push_back({name, k.fill("zero", own, k.f32(), 0)});
    }
  }
  return k.loop("t", trips, "", sums, [&](Scalar t, ValueRange carried) {
    return step(carried, rows, weightRows, startOf(first + t));
  });
}

/// What the walk has summed: results, or where `partial` is, parts of them.
static void storeAll(LinearWriter &linear, Value partial, ArrayRef<Value> sums,
                     ArrayRef<Part> rows, ArrayRef<Part> columns, Scalar part) {
  size_t ofEach = linear.shape.isSwiglu ? 2 : 1;
  for (Part ownRows : rows) {
    for (Part ownColumns : columns) {
      linear.tileM = ownRows.size;
      linear.tileN = ownColumns.size;
      ArrayRef<Value> own = sums.take_front(ofEach);
      sums = sums.drop_front(ofEach);
      if (partial) {
        linear.storeParts(partial, own, ownRows.first, ownColumns.first, part);
      } else {
        linear.storeResult(own, ownRows.first, ownColumns.first);
      }
    }
  }
}

KernelOp kernels::buildLinear(OpBuilder &builder, const Label &label,
                              const LinearShape &shape, const LinearTile &tile,
                              Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  LinearWriter linear(k, shape, tile);
  Product product = {linear, tile};
  product.declareOperands();
  linear.declareExperts();
  Value partial;
  if (tile.splits == 1) {
    linear.declareEpilogue();
  } else {
    partial = k.buffer("partial", {kDynamic, tile.splits, shape.weightRows()},
                       k.f32());
  }
  Scalar m = linear.m = k.size("m", rows.minimum, rows.maximum);
  Scalar rowTiles = k.name("row_tiles", ceilDiv(m, tile.m));
  Scalar columnTiles = k.constant(llvm::divideCeil(shape.columns, tile.n));
  SmallVector<Axis> axes = {{"row_tile", rowTiles},
                            {"column_tile", columnTiles}};
  // Those that multiply together lie along the last axis but one.
  bool isTurned = tile.isTogetherAlongN();
  if (isTurned) {
    std::swap(axes[0], axes[1]);
  }
  if (tile.splits > 1) {
    axes.insert(axes.begin(), {"part", k.constant(tile.splits)});
  }
  k.grid(axes, [&](ArrayRef<Scalar> index) {
    ArrayRef<Scalar> tiles = index.take_back(2);
    Scalar row = k.name("row", tiles[isTurned] * static_cast<double>(tile.m));
    Scalar column =
        k.name("column", tiles[!isTurned] * static_cast<double>(tile.n));
    Scalar part = tile.splits > 1 ? index.front() : k.constant(0);
    linear.findExpert(row);
    SmallVector<Part> rows = split(row, tile.rowParts());
    SmallVector<Part> columns = split(column, tile.columnParts(shape));
    if (tile.early) {
      Product::Start start = product.startOf(product.firstOf(part));
      linear.askForWeights(product.w.heads, column, start.weightDepth, tile);
    }
    KernelBuilder::Values sums = product.walk(rows, columns, part);
    storeAll(linear, partial, sums, rows, columns, part);
  });
  return asScheduled(k.finish(label.note), tile);
}
