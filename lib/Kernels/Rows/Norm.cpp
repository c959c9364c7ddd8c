//===- Norm.cpp - RMS norm, with residual, with quantisation --------------===//
//
// A workgroup owns a few whole rows, held in registers: it reads them once, or
// adds them up over all devices (Exchange.cpp), and walks nothing. Columns
// beyond the width of the model are masked; they are zero and so do not change
// the sum of squares. Of rows of heads it owns some of one token, or all.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Exchange/Peers.h"
#include "lib/Kernels/Families.h"
#include "lib/Kernels/Rows/Rows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct NormArguments {
  Value x, weight, residual, out, scale, sum;
};
} // namespace

static NormArguments declare(KernelBuilder &k, const NormShape &shape,
                             Exchanger &exchanger) {
  NormArguments arguments;
  SmallVector<int64_t> matrix = {kDynamic, shape.columns};
  if (shape.heads > 1) {
    matrix.insert(matrix.begin() + 1, shape.heads);
  }
  arguments.x = k.buffer("x", matrix, shape.element);
  if (shape.weightType) {
    arguments.weight =
        k.buffer("weight", {shape.normedColumns()}, shape.weightType);
  }
  if (shape.hasResidual) {
    arguments.residual = k.buffer("residual", matrix, shape.element);
  }
  if (shape.isExchanged()) {
    exchanger.declare();
  }
  arguments.out = k.buffer("out", matrix, shape.result);
  if (shape.result.getIntOrFloatBitWidth() == 8) {
    arguments.scale = k.buffer("scale", {kDynamic}, k.f32());
  }
  if (shape.hasSum) {
    arguments.sum = k.buffer("sum", matrix, shape.element);
  }
  if (shape.isExchanged()) {
    exchanger.declareRank();
  }
  return arguments;
}

/// x plus the residual, rounded: that is what is normed.
static Value loadRows(KernelBuilder &k, const NormShape &shape,
                      const RowWriter &rowsOf, const NormArguments &arguments,
                      Scalar row, ArrayRef<Scalar> token) {
  Shape whole = {rowsOf.tile.rows, rowsOf.tile.columns};
  Scalar first = k.constant(0);
  Value x =
      k.load("values", whole, rowsOf.tileAt(arguments.x, row, first, token));
  if (!shape.hasResidual) {
    return x;
  }
  Value r =
      k.load("residuals", whole, rowsOf.tileAt(arguments.residual, row, first));
  return k.map("sums", shape.element, {x, r}, [&](Element e) {
    return convert(convert(e[0], k.f32()) + convert(e[1], k.f32()),
                   shape.element);
  });
}

/// Columns behind those that are normed go from x to out as they are.
static void handOn(const RowWriter &rowsOf, const NormShape &shape,
                   const NormArguments &arguments, Scalar row,
                   ArrayRef<Scalar> token) {
  KernelBuilder &k = rowsOf.k;
  int64_t columns = llvm::PowerOf2Ceil(shape.columns - shape.normed);
  auto placeIn = [&](Value buffer) {
    SmallVector<Scalar> offsets(token);
    offsets.append({row, k.constant(shape.normed)});
    auto first = static_cast<int64_t>(token.size());
    return at(buffer, offsets)
        .walks(first, first + 1)
        .valid({rowsOf.m, k.constant(shape.columns)});
  };
  k.store(k.load("others", {rowsOf.tile.rows, columns}, placeIn(arguments.x)),
          placeIn(arguments.out));
}

/// x / sqrt(mean(x * x) + epsilon) * weight in f32.
static Value normed(KernelBuilder &k, const NormShape &shape, Value x,
                    Value weight) {
  Value squares = k.map("squares", k.f32(), x, [&](Element e) {
    Scalar value = convert(e[0], k.f32());
    return value * value;
  });
  Value total = k.reduce("total", Combiner::Add, squares, 1);
  Value factor = k.map("factor", k.f32(), total, [&](Element e) {
    return rsqrt(e[0] * (1.0 / shape.normedColumns()) + shape.epsilon);
  });
  SmallVector<Value> inputs = {x, factor};
  if (weight) {
    inputs.push_back(weight);
  }
  return k.map("normed", k.f32(), inputs, [&](Element e) {
    Scalar result = convert(e[0], k.f32()) * e[1];
    if (!weight) {
      return result;
    }
    Scalar times = convert(e[2], k.f32());
    return result * (shape.isOnePlus ? times + 1.0 : times);
  });
}

namespace {
/// A kernel whose arguments are declared.
struct NormWriter {
  KernelBuilder &k;
  const NormShape &shape;
  RowWriter rowsOf;
  Exchanger &exchanger;
  NormArguments arguments;

  void write(Scalar tile, Scalar row, ArrayRef<Scalar> token);
};
} // namespace

/// Some rows, from `row` on, or of a token.
void NormWriter::write(Scalar tile, Scalar row, ArrayRef<Scalar> token) {
  Scalar first = k.constant(0);
  Value x;
  if (shape.isExchanged()) {
    exchanger.begin(tile);
    x = exchanger.sum(arguments.x, arguments.residual, {row, first, first})[0];
  } else {
    x = loadRows(k, shape, rowsOf, arguments, row, token);
  }
  if (shape.hasSum) {
    k.store(x, rowsOf.tileAt(arguments.sum, row, first));
  }
  Value weight;
  if (arguments.weight) {
    weight = k.load("weights", {1, rowsOf.tile.columns},
                    rowsOf.vectorAt(arguments.weight, first));
  }
  Value y = normed(k, shape, x, weight);
  if (arguments.scale) {
    Value scale = rowsOf.scaleOf(rowsOf.largest(y), shape.result);
    rowsOf.storeScale(scale, arguments.scale, row);
    y = rowsOf.quantise(y, scale, shape.result);
  } else {
    y = k.map("result", shape.result, y,
              [&](Element e) { return convert(e[0], shape.result); });
  }
  k.store(y, rowsOf.tileAt(arguments.out, row, first, token));
  if (shape.normedColumns() != shape.columns) {
    handOn(rowsOf, shape, arguments, row, token);
  }
  if (shape.isExchanged()) {
    exchanger.end();
  }
}

KernelOp kernels::buildNorm(OpBuilder &builder, const Label &label,
                            const NormShape &shape, const RowTile &tile,
                            Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  RowWriter rowsOf = {k, shape.normedColumns(), tile, {}};
  Exchanger exchanger(k, shape.exchange, tilesOf(rowsOf, shape.element));
  NormArguments arguments = declare(k, shape, exchanger);
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  bool areHeads = shape.heads > 1;
  rowsOf.m = areHeads ? k.constant(shape.heads) : m;
  NormWriter norm = {k, shape, rowsOf, exchanger, arguments};
  Scalar count = k.name("row_tiles", ceilDiv(rowsOf.m, tile.rows));
  SmallVector<Axis> axes = {{"row_tile", count}};
  if (areHeads) {
    axes.insert(axes.begin(), {"token", m});
  }
  k.grid(axes, [&](ArrayRef<Scalar> index) {
    Scalar number = index.back();
    Scalar row = k.name("row", number * static_cast<double>(tile.rows));
    norm.write(number, row, index.drop_back());
  });
  return k.finish(label.note);
}
