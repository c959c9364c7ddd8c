//===- Quantise.cpp - Rows to 8 bits, with a scale for each row -----------===//
//
// A workgroup owns a few whole rows and walks their columns twice: once for the
// largest magnitude, once (from a cache) to divide by it. What is quantised is
// x, or a gate times up.
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

KernelOp kernels::buildQuantise(OpBuilder &builder, const Label &label,
                                const QuantiseShape &shape, const RowTile &tile,
                                Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  SmallVector<int64_t> matrix = {kDynamic, shape.columns};
  SmallVector<Value> sources;
  if (shape.isSwiglu) {
    sources.push_back(k.buffer("gate", matrix, shape.element));
    sources.push_back(k.buffer("up", matrix, shape.element));
  } else {
    sources.push_back(k.buffer("x", matrix, shape.element));
  }
  Value out = k.buffer("out", matrix, shape.result);
  Value scales = k.buffer("scale", {kDynamic}, k.f32());
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  RowWriter rowsOf = {k, shape.columns, tile, m};
  Scalar count = k.name("row_tiles", ceilDiv(m, tile.rows));
  Scalar chunks = k.constant(llvm::divideCeil(shape.columns, tile.columns));

  auto loadChunk = [&](Scalar row, Scalar column) {
    SmallVector<Value> inputs;
    for (Value source : sources) {
      inputs.push_back(k.load("inputs", {tile.rows, tile.columns},
                              rowsOf.tileAt(source, row, column)));
    }
    return k.map("values", k.f32(), inputs, [&](Element e) {
      Scalar x = convert(e[0], k.f32());
      return shape.isSwiglu ? gated({shape.gating}, x, convert(e[1], k.f32()))
                            : x;
    });
  };
  k.grid({{"row_tile", count}}, [&](ArrayRef<Scalar> index) {
    Scalar row = k.name("row", index[0] * static_cast<double>(tile.rows));
    auto columnOf = [&](Scalar chunk) {
      return k.name("column", chunk * static_cast<double>(tile.columns));
    };
    auto makeScale = [&] {
      Value zero = k.fill("zero", {tile.rows, 1}, k.f32(), 0);
      Value largest = k.loop(
          "chunk", chunks, "", {{"largest", zero}},
          [&](Scalar chunk, ValueRange carried) -> KernelBuilder::Values {
            Value y = loadChunk(row, columnOf(chunk));
            return {k.map("largest", k.f32(), {carried[0], rowsOf.largest(y)},
                          [](Element e) { return maximum(e[0], e[1]); })};
          })[0];
      Value scale = rowsOf.scaleOf(largest, shape.result);
      rowsOf.storeScale(scale, scales, row);
      return scale;
    };
    Value scale =
        shape.knowsScales ? rowsOf.loadScale(scales, row) : makeScale();
    k.loop("chunk", chunks, "", [&](Scalar chunk) {
      Scalar column = columnOf(chunk);
      Value y = loadChunk(row, column);
      k.store(rowsOf.quantise(y, scale, shape.result),
              rowsOf.tileAt(out, row, column));
    });
  });
  return k.finish(label.note);
}
