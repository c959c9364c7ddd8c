//===- Gather.cpp - Rows by number: embedding, last tokens ----------------===//
//
// A workgroup owns a tile of the result and walks nothing. Its row numbers are
// the tokens, or of each sequence the token before the start of the next one.
// Rows may be multiplied by a number of their own type.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Rows/Rows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

KernelOp kernels::buildGather(OpBuilder &builder, const Label &label,
                              const GatherShape &shape, const RowTile &tile,
                              Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Value ids = k.buffer(shape.isLast ? "starts" : "ids", {kDynamic}, k.i32());
  Value table = k.buffer(
      "table", {shape.tableRows ? shape.tableRows : kDynamic, shape.columns},
      shape.element);
  Value out = k.buffer("out", {kDynamic, shape.columns}, shape.element);
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  RowWriter rowsOf = {k, shape.columns, tile, m};
  Scalar rowTiles = k.name("row_tiles", ceilDiv(m, tile.rows));
  Scalar columnTiles =
      k.constant(llvm::divideCeil(shape.columns, tile.columns));
  k.grid(
      {{"row_tile", rowTiles}, {"column_tile", columnTiles}},
      [&](ArrayRef<Scalar> index) {
        Scalar row = k.name("row", index[0] * static_cast<double>(tile.rows));
        Scalar column =
            k.name("column", index[1] * static_cast<double>(tile.columns));
        Scalar first = shape.isLast ? row + 1.0 : row;
        Scalar limit = shape.isLast ? m + 1.0 : m;
        Value numbers = k.load("numbers", {tile.rows, 1},
                               at(ids, {first}).walks(0, 0).valid({limit}));
        if (shape.isLast) {
          // Rows past the last sequence read row 0; they are not stored.
          numbers = k.map("numbers", k.i32(), numbers, [&](Element e) {
            return maximum(e[0] - 1.0, k.integer(k.i32(), 0));
          });
        }
        Place source =
            at(table, {k.constant(0), column}).walks(0, 1).rows(numbers);
        if (shape.columns % tile.columns != 0) {
          Scalar tableRows = shape.tableRows ? k.constant(shape.tableRows)
                                             : k.constant(INT32_MAX);
          source = source.valid({tableRows, k.constant(shape.columns)});
        }
        Value x = k.load("values", {tile.rows, tile.columns}, source);
        if (shape.times != 1) {
          x = k.map("multiplied", shape.element, x, [&](Element e) {
            return convert(convert(e[0], k.f32()) * shape.times, shape.element);
          });
        }
        k.store(x, rowsOf.tileAt(out, row, column));
      });
  return k.finish(label.note);
}
