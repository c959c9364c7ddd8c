//===- Linear.cpp - d = a * w^T with its epilogue -------------------------===//
//
// A workgroup owns a tile of m x n elements of d and walks K in steps of k. Of
// SwiGLU it owns the same tile of gate and of up, in two accumulators. With
// splits it owns one part of K and writes f32 sums to a workspace; a second
// kernel owns a tile of d again and adds the parts.
//
// Swapped, the weight is the first operand of the matrix instruction and the
// accumulator holds the transposed tile, n x m: so that few rows of a do not
// leave wide instructions empty.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearWriter.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

//===----------------------------------------------------------------------===//
// The walk along K
//===----------------------------------------------------------------------===//

namespace {
struct Product {
  LinearWriter &linear;
  const LinearTile &tile;
  Value a, w, aScales, wScales;
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
  Operand loadInput(Scalar row, Start start);
  Operand loadWeights(bool isUp, Scalar weightRow, Start start);
  Value loadScales(StringRef name, Value buffer, Scalar row, Scalar word,
                   int64_t rows);
  Value multiply(StringRef name, Value accumulator, Operand x, Operand y);
  KernelBuilder::Values step(ValueRange sums, Scalar row,
                             ArrayRef<Scalar> weightRows, Start start);
  KernelBuilder::Values walk(Scalar row, Scalar column, Scalar part);
};
} // namespace

void Product::declareOperands() {
  KernelBuilder &k = linear.k;
  const LinearShape &shape = linear.shape;
  auto declare = [&](StringRef name, int64_t rows, Type number) {
    Type element = packedType(number);
    return k.buffer(name, {rows, shape.inputs / packedNumbers(element)},
                    element);
  };
  a = declare("a", kDynamic, shape.element);
  w = declare("w", shape.weightRows(), shape.weightElement());
  const BlockScales &scales = shape.blockScales;
  if (shape.scalesInputBlocks()) {
    aScales = k.buffer("a_scales", scaleShape(scales, kDynamic, shape.inputs),
                       scales.wordType(), scales.packing());
  }
  if (scales) {
    wScales = k.buffer("w_scales",
                       scaleShape(scales, shape.scaleRows(), shape.inputs),
                       scales.wordType(), scales.packing());
  }
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
                          int64_t rows) {
  KernelBuilder &k = linear.k;
  const BlockScales &scales = linear.shape.blockScales;
  if (!buffer) {
    return scales ? ones : Value();
  }
  Place place = scalesAt(buffer, row, word);
  if (linear.shape.inputs % tile.k != 0) {
    place = place.valid({k.constant(scales.words(linear.shape.inputs))});
  }
  return k.load(name, {tile.k / scales.wordNumbers(), rows}, place);
}

Product::Operand Product::loadInput(Scalar row, Start start) {
  KernelBuilder &k = linear.k;
  auto buffer = cast<BufferType>(a.getType());
  int64_t packed = packedNumbers(buffer.getElementType());
  Place place = at(a, {row, start.depth});
  place = linear.shape.inputs % tile.k != 0
              ? place.valid({linear.m, k.constant(buffer.getShape()[1])})
              : place.valid({linear.m});
  return {
      k.load("activations", {tile.pieceM(), tile.k / packed}, place),
      loadScales("activation_scales", aScales, row, start.word, tile.pieceM())};
}

Product::Operand Product::loadWeights(bool isUp, Scalar weightRow,
                                      Start start) {
  KernelBuilder &k = linear.k;
  StringRef name = isUp ? "up_weights" : "weights";
  const LinearShape &shape = linear.shape;
  auto buffer = cast<BufferType>(w.getType());
  int64_t packed = packedNumbers(buffer.getElementType());
  Place place = at(w, {weightRow, start.weightDepth});
  if (shape.inputs % tile.k != 0) {
    place = place.valid(
        {k.constant(shape.weightRows()), k.constant(buffer.getShape()[1])});
  } else if (linear.isRagged) {
    place = place.valid({k.constant(shape.weightRows())});
  }
  int64_t ahead = shape.scaleRowsOfGate() - shape.columns;
  Scalar scaleRow = isUp && wScales && ahead != 0
                        ? weightRow + static_cast<double>(ahead)
                        : weightRow;
  return {k.load(name, {tile.pieceN(), tile.k / packed}, place),
          loadScales((name + "_scales").str(), wScales, scaleRow, start.word,
                     tile.pieceN())};
}

/// One matrix product of the tile `x` of a with the tile `y` of w.
Value Product::multiply(StringRef name, Value accumulator, Operand x,
                        Operand y) {
  if (linear.isSwapped) {
    std::swap(x, y);
  }
  return linear.k.mma(name, accumulator, x.tile, y.tile, x.scales, y.scales);
}

/// The row or column of a piece.
static Scalar pieceAt(Scalar first, int64_t piece, int64_t size) {
  return piece == 0 ? first : first + static_cast<double>(piece * size);
}

/// The products of all pieces, along columns first. What two of them read is
/// loaded once.
KernelBuilder::Values Product::step(ValueRange sums, Scalar row,
                                    ArrayRef<Scalar> weightRows, Start start) {
  KernelBuilder::Values next;
  SmallVector<Operand> weights;
  for (int64_t i = 0; i < tile.piecesM; ++i) {
    Operand x = loadInput(pieceAt(row, i, tile.pieceM()), start);
    for (auto [j, weightRow] : llvm::enumerate(weightRows)) {
      bool isUp = linear.shape.isSwiglu && j % 2 == 1;
      if (i == 0) {
        weights.push_back(loadWeights(isUp, weightRow, start));
      }
      next.push_back(
          multiply(isUp ? "up" : "sum", sums[next.size()], x, weights[j]));
    }
  }
  return next;
}

KernelBuilder::Values Product::walk(Scalar row, Scalar column, Scalar part) {
  KernelBuilder &k = linear.k;
  const LinearShape &shape = linear.shape;
  int64_t steps = llvm::divideCeil(shape.inputs, tile.k);
  int64_t stepsOfPart = llvm::divideCeil(steps, tile.splits);
  Scalar first = k.name("first", part * static_cast<double>(stepsOfPart));
  Scalar trips = k.constant(stepsOfPart);
  if (steps % tile.splits != 0) {
    trips = maximum(minimum(trips, k.constant(steps) - first), k.constant(0));
  }
  SmallVector<Scalar> weightRows;
  for (int64_t j = 0; j < tile.piecesN; ++j) {
    weightRows.push_back(pieceAt(column, j, tile.pieceN()));
    if (shape.isSwiglu) {
      weightRows.push_back(linear.upRow(weightRows.back()));
    }
  }
  if (shape.blockScales && !aScales) {
    int64_t words = tile.k / shape.blockScales.wordNumbers();
    ones = k.fillInteger("ones", {words, tile.pieceM()},
                         shape.blockScales.wordType(), kScalesOfOne);
  }
  SmallVector<Carried> sums;
  for (int64_t piece = 0; piece < tile.piecesM * tile.piecesN; ++piece) {
    for (int64_t sum = 0; sum < (shape.isSwiglu ? 2 : 1); ++sum) {
      StringRef name = !shape.isSwiglu ? "sum" : sum == 0 ? "gate" : "up";
      sums.push_back({name, k.fill("zero", linear.tile(), k.f32(), 0)});
    }
  }
  return k.loop("t", trips, "", sums, [&](Scalar t, ValueRange carried) {
    return step(carried, row, weightRows, startOf(first + t));
  });
}

KernelOp kernels::buildLinear(OpBuilder &builder, const Label &label,
                              const LinearShape &shape, const LinearTile &tile,
                              Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  LinearWriter linear(k, shape, tile);
  Product product = {linear, tile, {}, {}, {}, {}};
  product.declareOperands();
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
  if (tile.splits > 1) {
    axes.push_back({"part", k.constant(tile.splits)});
  }
  k.grid(axes, [&](ArrayRef<Scalar> index) {
    Scalar row = k.name("row", index[0] * static_cast<double>(tile.m));
    Scalar column = k.name("column", index[1] * static_cast<double>(tile.n));
    Scalar part = tile.splits > 1 ? index[2] : k.constant(0);
    KernelBuilder::Values sums = product.walk(row, column, part);
    auto perPiece = sums.size() / (tile.piecesM * tile.piecesN);
    for (int64_t piece = 0; piece < tile.piecesM * tile.piecesN; ++piece) {
      Scalar rowOfPiece = pieceAt(row, piece / tile.piecesN, tile.pieceM());
      Scalar columnOfPiece =
          pieceAt(column, piece % tile.piecesN, tile.pieceN());
      auto own = ArrayRef<Value>(sums).slice(piece * perPiece, perPiece);
      if (tile.splits == 1) {
        linear.storeResult(own, rowOfPiece, columnOfPiece);
      } else {
        linear.storeParts(partial, own, rowOfPiece, columnOfPiece, part);
      }
    }
  });
  KernelOp kernel = k.finish(label.note);
  if (tile.isStaggered()) {
    kernel->setAttr("stagger", builder.getI64IntegerAttr(2));
  }
  if (tile.hasRoles) {
    kernel->setAttr("roles", builder.getBoolAttr(true));
  }
  if (tile.slots) {
    kernel->setAttr("slots", builder.getI64IntegerAttr(tile.slots));
  }
  if (tile.cluster > 1) {
    kernel.setCluster(tile.cluster);
  }
  return kernel;
}

KernelOp kernels::buildLinearReduce(OpBuilder &builder, const Label &label,
                                    const LinearShape &shape,
                                    const LinearTile &tile, Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.reduceWaves);
  LinearTile own;
  own.m = tile.reduceM;
  own.n = tile.reduceN;
  LinearWriter linear(k, shape, own);
  Value partial =
      k.buffer("partial", {kDynamic, tile.splits, shape.weightRows()}, k.f32());
  linear.declareEpilogue();
  Scalar m = linear.m = k.size("m", rows.minimum, rows.maximum);
  Scalar rowTiles = k.name("row_tiles", ceilDiv(m, tile.reduceM));
  Scalar columnTiles =
      k.constant(llvm::divideCeil(shape.columns, tile.reduceN));
  k.grid({{"row_tile", rowTiles}, {"column_tile", columnTiles}},
         [&](ArrayRef<Scalar> index) {
           Scalar row =
               k.name("row", index[0] * static_cast<double>(tile.reduceM));
           Scalar column =
               k.name("column", index[1] * static_cast<double>(tile.reduceN));
           KernelBuilder::Values sums;
           for (int64_t sum = 0; sum < (shape.isSwiglu ? 2 : 1); ++sum) {
             Scalar base = k.constant(sum * shape.columns);
             Scalar limit = k.constant((sum + 1) * shape.columns);
             // All parts are asked for before the first one is awaited.
             KernelBuilder::Values parts;
             for (int64_t part = 0; part < tile.splits; ++part) {
               parts.push_back(
                   k.load("part_sum", linear.tile(),
                          linear.tileAt(partial,
                                        {row, k.constant(part), base + column},
                                        limit, 0, 2)));
             }
             sums.push_back(k.map("sum", k.f32(), parts, [&](Element e) {
               Scalar value = e[0];
               for (int64_t part = 1; part < tile.splits; ++part) {
                 value = value + e[part];
               }
               return value;
             }));
           }
           linear.storeResult(sums, row, column);
         });
  return k.finish(label.note);
}
