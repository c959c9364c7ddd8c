//===- Norm.cpp - RMS norm, with residual, with quantisation --------------===//
//
// A workgroup owns a few whole rows, held in registers: it reads them once, or
// adds them up over all devices (Exchange.cpp), and walks nothing. Columns
// beyond the width of the model are masked; they are zero and so do not change
// the sum of squares.
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
  arguments.x = k.buffer("x", matrix, shape.element);
  arguments.weight = k.buffer("weight", {shape.columns}, shape.weightType);
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
                      Scalar row) {
  Shape whole = {rowsOf.tile.rows, rowsOf.tile.columns};
  Scalar first = k.constant(0);
  Value x = k.load("values", whole, rowsOf.tileAt(arguments.x, row, first));
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

/// x / sqrt(mean(x * x) + epsilon) * weight in f32.
static Value normed(KernelBuilder &k, const NormShape &shape, Value x,
                    Value weight) {
  Value squares = k.map("squares", k.f32(), x, [&](Element e) {
    Scalar value = convert(e[0], k.f32());
    return value * value;
  });
  Value total = k.reduce("total", Combiner::Add, squares, 1);
  Value factor = k.map("factor", k.f32(), total, [&](Element e) {
    return rsqrt(e[0] * (1.0 / shape.columns) + shape.epsilon);
  });
  return k.map("normed", k.f32(), {x, factor, weight}, [&](Element e) {
    return convert(e[0], k.f32()) * e[1] * convert(e[2], k.f32());
  });
}

KernelOp kernels::buildNorm(OpBuilder &builder, const Label &label,
                            const NormShape &shape, const RowTile &tile,
                            Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  RowWriter rowsOf = {k, shape.columns, tile, {}};
  Exchanger exchanger(k, shape.exchange, tilesOf(rowsOf, shape.element));
  NormArguments arguments = declare(k, shape, exchanger);
  rowsOf.m = k.size("m", rows.minimum, rows.maximum);
  Scalar count = k.name("row_tiles", ceilDiv(rowsOf.m, tile.rows));
  k.grid({{"row_tile", count}}, [&](ArrayRef<Scalar> index) {
    Scalar row = k.name("row", index[0] * static_cast<double>(tile.rows));
    Scalar first = k.constant(0);
    Value x;
    if (shape.isExchanged()) {
      exchanger.begin(index[0]);
      x = exchanger.sum(arguments.x, arguments.residual,
                        {row, first, first})[0];
    } else {
      x = loadRows(k, shape, rowsOf, arguments, row);
    }
    if (shape.hasSum) {
      k.store(x, rowsOf.tileAt(arguments.sum, row, first));
    }
    Value weight = k.load("weights", {1, tile.columns},
                          rowsOf.vectorAt(arguments.weight, first));
    Value y = normed(k, shape, x, weight);
    if (arguments.scale) {
      Value scale = rowsOf.scaleOf(rowsOf.largest(y), shape.result);
      rowsOf.storeScale(scale, arguments.scale, row);
      y = rowsOf.quantise(y, scale, shape.result);
    } else {
      y = k.map("result", shape.result, y,
                [&](Element e) { return convert(e[0], shape.result); });
    }
    k.store(y, rowsOf.tileAt(arguments.out, row, first));
    if (shape.isExchanged()) {
      exchanger.end();
    }
  });
  return k.finish(label.note);
}
