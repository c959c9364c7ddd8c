//===- Elementwise.cpp - Sums, gates, copies, 8 bits of matrices ----------===//
//
// A workgroup owns one tile and walks nothing. Used where no neighbour took the
// op into its epilogue.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Rows/Rows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

namespace {
/// What the numbers of a tile are made of: of each matrix there is, and of the
/// scale or the gates of rows, if there are any.
struct Sources {
  SmallVector<Value, 2> matrices;
  Value scale, rowGates;

  static Sources declare(KernelBuilder &k, const ElementwiseShape &shape);
};
} // namespace

Sources Sources::declare(KernelBuilder &k, const ElementwiseShape &shape) {
  SmallVector<StringRef, 2> names;
  switch (shape.kind) {
  case Elementwise::Add:
    names = {"a", "b"};
    break;
  case Elementwise::Swiglu:
    names = {"gate", "up"};
    break;
  case Elementwise::Narrow:
  case Elementwise::Copy:
  case Elementwise::Gate:
    names = {"x"};
    break;
  case Elementwise::Zeros:
    break;
  }
  Sources sources;
  for (StringRef name : names) {
    sources.matrices.push_back(
        k.buffer(name, {ShapedType::kDynamic, shape.columns}, shape.element));
  }
  if (shape.kind == Elementwise::Narrow) {
    sources.scale = k.buffer("scale", {1}, k.f32());
  }
  if (shape.kind == Elementwise::Gate && shape.isGateOfRow) {
    sources.rowGates = k.buffer("gate", {ShapedType::kDynamic}, shape.gate);
  } else if (shape.kind == Elementwise::Gate) {
    sources.matrices.push_back(
        k.buffer("gate", {ShapedType::kDynamic, shape.columns}, shape.gate));
  }
  return sources;
}

/// Of numbers in f32; the last one of `narrow` is the scale.
static Scalar resultOf(const ElementwiseShape &shape, Scalar x, Scalar y) {
  switch (shape.kind) {
  case Elementwise::Add:
    return convert(x + y, shape.element);
  case Elementwise::Swiglu:
    return convert(gated({shape.gating}, x, y), shape.element);
  case Elementwise::Gate:
    return convert(timesSigmoid(x, y), shape.element);
  default:
    return convertSaturated(x / y, shape.result);
  }
}

/// The tile of out; a copy lies among other columns.
static Place placeOf(const RowWriter &rowsOf, const ElementwiseShape &shape,
                     Value out, Scalar row, Scalar column) {
  if (shape.kind != Elementwise::Copy) {
    return rowsOf.tileAt(out, row, column);
  }
  KernelBuilder &k = rowsOf.k;
  return at(out, {row, column + static_cast<double>(shape.first)})
      .walks(0, 1)
      .valid({rowsOf.m, k.constant(shape.first + shape.columns)});
}

KernelOp kernels::buildElementwise(OpBuilder &builder, const Label &label,
                                   const ElementwiseShape &shape,
                                   const RowTile &tile, Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Sources sources = Sources::declare(k, shape);
  Type result = shape.result ? shape.result : shape.element;
  Value out = k.buffer("out",
                       {ShapedType::kDynamic,
                        shape.allColumns ? shape.allColumns : shape.columns},
                       result);
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  RowWriter rowsOf = {k, shape.columns, tile, m};
  Shape whole = {tile.rows, tile.columns};
  Scalar rowTiles = k.name("row_tiles", ceilDiv(m, tile.rows));
  Scalar columnTiles =
      k.constant(llvm::divideCeil(shape.columns, tile.columns));
  k.grid(
      {{"row_tile", rowTiles}, {"column_tile", columnTiles}},
      [&](ArrayRef<Scalar> index) {
        Scalar row = k.name("row", index[0] * static_cast<double>(tile.rows));
        Scalar column =
            k.name("column", index[1] * static_cast<double>(tile.columns));
        Place to = placeOf(rowsOf, shape, out, row, column);
        if (sources.matrices.empty()) {
          k.store(k.fill("zeros", whole, result, 0), to);
          return;
        }
        SmallVector<Value> inputs;
        for (Value matrix : sources.matrices) {
          inputs.push_back(k.load(inputs.empty() ? "left" : "right", whole,
                                  rowsOf.tileAt(matrix, row, column)));
        }
        if (sources.scale) {
          inputs.push_back(k.load(
              "scale", {1, 1}, at(sources.scale, {k.constant(0)}).walks(0, 0)));
        }
        if (sources.rowGates) {
          inputs.push_back(
              k.load("gates", {tile.rows, 1},
                     at(sources.rowGates, {row}).walks(0, 0).valid({m})));
        }
        if (shape.kind == Elementwise::Copy) {
          k.store(inputs[0], to);
          return;
        }
        k.store(k.map("result", result, inputs,
                      [&](Element e) {
                        return resultOf(shape, convert(e[0], k.f32()),
                                        convert(e[1], k.f32()));
                      }),
                to);
      });
  return k.finish(label.note);
}
