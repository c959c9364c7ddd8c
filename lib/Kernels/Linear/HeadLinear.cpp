//===- HeadLinear.cpp - Of each head a linear of its own ------------------===//
//
// A workgroup owns a tile of m x n elements of one head of d and walks its
// inputs in steps of k. What lies transposed in memory, as a row of w for each
// input, is read so.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct HeadLinear {
  KernelBuilder &k;
  const HeadLinearShape &shape;
  const HeadLinearTile &tile;
  Value a, w, d;
  Scalar m;

  void declare(Range rows);
  /// The first element of a tile of d.
  struct Own {
    Scalar row, head, column;
  };
  Value loadInputs(Own own, Scalar depth);
  Value loadWeights(Own own, Scalar depth);
  void ownTile(Own own);
};
} // namespace

void HeadLinear::declare(Range rows) {
  int64_t columns = shape.isTransposed ? shape.columns : shape.inputs;
  a = k.buffer("a", {kDynamic, shape.heads, shape.inputColumns}, shape.element);
  w = k.buffer("w", {shape.heads, shape.weightRows, columns}, shape.element);
  d = k.buffer("d", {kDynamic, shape.heads, shape.columns}, shape.element);
  m = k.size("m", rows.minimum, rows.maximum);
}

Value HeadLinear::loadInputs(Own own, Scalar depth) {
  Place place = at(a, {own.row, own.head, depth}).walks(0, 2);
  bool isWhole = shape.inputs % tile.k == 0;
  return k.load("activations", {tile.m, tile.k},
                isWhole ? place.valid({m})
                        : place.valid({m, k.constant(shape.inputs)}));
}

Value HeadLinear::loadWeights(Own own, Scalar depth) {
  Scalar row = shape.isTransposed ? depth : own.column;
  int64_t rows = shape.isTransposed ? shape.inputs : shape.columns;
  Shape size = {shape.isTransposed ? tile.k : tile.n,
                shape.isTransposed ? tile.n : tile.k};
  if (shape.firstRow > 0) {
    row = row + static_cast<double>(shape.firstRow);
  }
  Place place = at(w, {own.head, row, shape.isTransposed ? own.column : depth})
                    .walks(1, 2);
  bool isWhole = shape.inputs % tile.k == 0 && shape.columns % tile.n == 0;
  int64_t columns = shape.isTransposed ? shape.columns : shape.inputs;
  return k.load("weights", size,
                isWhole ? place
                        : place.valid({k.constant(shape.firstRow + rows),
                                       k.constant(columns)}));
}

void HeadLinear::ownTile(Own own) {
  Value zero = k.fill("zero", {tile.m, tile.n}, k.f32(), 0);
  Scalar trips = k.constant(llvm::divideCeil(shape.inputs, tile.k));
  auto step = [&](Scalar t, ValueRange carried) -> KernelBuilder::Values {
    Scalar depth = k.name("depth", t * static_cast<double>(tile.k));
    Value inputs = loadInputs(own, depth), weights = loadWeights(own, depth);
    return {shape.isTransposed ? k.mmaPlain("sum", carried[0], inputs, weights)
                               : k.mma("sum", carried[0], inputs, weights)};
  };
  Value sum = k.loop("t", trips, "", {{"sum", zero}}, step)[0];
  Value result = k.map("result", shape.element, sum,
                       [&](Element e) { return convert(e[0], shape.element); });
  Place place = at(d, {own.row, own.head, own.column}).walks(0, 2);
  bool isWhole = shape.columns % tile.n == 0;
  k.store(result, isWhole ? place.valid({m})
                          : place.valid({m, k.constant(shape.columns)}));
}

KernelOp kernels::buildHeadLinear(OpBuilder &builder, const Label &label,
                                  const HeadLinearShape &shape,
                                  const HeadLinearTile &tile, Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  HeadLinear kernel = {k, shape, tile, {}, {}, {}, {}};
  kernel.declare(rows);
  Scalar rowTiles = k.name("row_tiles", ceilDiv(kernel.m, tile.m));
  k.grid({{"head", k.constant(shape.heads)},
          {"row_tile", rowTiles},
          {"column_tile", k.constant(llvm::divideCeil(shape.columns, tile.n))}},
         [&](ArrayRef<Scalar> index) {
           Scalar row = k.name("row", index[1] * static_cast<double>(tile.m));
           Scalar column =
               k.name("column", index[2] * static_cast<double>(tile.n));
           kernel.ownTile({row, index[0], column});
         });
  return k.finish(label.note);
}
