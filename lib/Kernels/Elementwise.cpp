//===- Elementwise.cpp - Sums and SwiGLU of whole matrices ----------------===//
//
// A workgroup owns one tile and walks nothing. Used where no neighbour took the
// op into its epilogue.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Rows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

KernelOp kernels::buildElementwise(OpBuilder &builder, const Label &label,
                                   Elementwise kind, int64_t columns,
                                   Type element, const RowTile &tile,
                                   Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  SmallVector<int64_t> matrix = {ShapedType::kDynamic, columns};
  bool isSum = kind == Elementwise::Add;
  Value a, b;
  if (kind != Elementwise::Zeros) {
    a = k.buffer(isSum ? "a" : "gate", matrix, element);
    b = k.buffer(isSum ? "b" : "up", matrix, element);
  }
  Value out = k.buffer("out", matrix, element);
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  RowWriter rowsOf = {k, columns, tile, m};
  Shape whole = {tile.rows, tile.columns};
  Scalar rowTiles = k.name("row_tiles", ceilDiv(m, tile.rows));
  Scalar columnTiles = k.constant(llvm::divideCeil(columns, tile.columns));
  k.grid(
      {{"row_tile", rowTiles}, {"column_tile", columnTiles}},
      [&](ArrayRef<Scalar> index) {
        Scalar row = k.name("row", index[0] * static_cast<double>(tile.rows));
        Scalar column =
            k.name("column", index[1] * static_cast<double>(tile.columns));
        if (kind == Elementwise::Zeros) {
          k.store(k.fill("zeros", whole, element, 0),
                  rowsOf.tileAt(out, row, column));
          return;
        }
        Value x = k.load("left", whole, rowsOf.tileAt(a, row, column));
        Value y = k.load("right", whole, rowsOf.tileAt(b, row, column));
        Value result = k.map("result", element, {x, y}, [&](Element e) {
          Scalar left = convert(e[0], k.f32()), right = convert(e[1], k.f32());
          return convert(isSum ? left + right : swiglu(left, right), element);
        });
        k.store(result, rowsOf.tileAt(out, row, column));
      });
  return k.finish(label.note);
}
