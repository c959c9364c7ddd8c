//===- LinearReduce.cpp - Parts of sums, and the epilogue -----------------===//
//
// A workgroup owns a tile of d and reads it in all parts at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearWriter.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

KernelOp kernels::buildLinearReduce(OpBuilder &builder, const Label &label,
                                    const LinearShape &shape,
                                    const LinearTile &tile, Range rows) {
  if (shape.quantise) {
    return buildLinearReduceBlocks(builder, label, shape, tile, rows);
  }
  KernelBuilder k(builder, label.symbol, label.op, tile.reduceWaves);
  LinearTile own;
  own.m = tile.reduceM;
  own.n = tile.reduceN;
  LinearWriter linear(k, shape, own);
  Value partial =
      k.buffer("partial", {kDynamic, tile.splits, shape.weightRows()}, k.f32());
  if (shape.finishesByExpert()) {
    linear.declareExperts();
  }
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
           linear.findExpert(row);
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
             sums.push_back(k.map("sum", k.f32(), parts,
                                  [](Element e) { return sumOf(e.inputs); }));
           }
           linear.storeResult(sums, row, column);
         });
  return k.finish(label.note);
}
