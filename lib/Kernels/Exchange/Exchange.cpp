//===- Exchange.cpp - All-reduce and all-gather between peers -------------===//
//
// Also of what Peers.h gives to norms that add up rows over the devices.
//
// A workgroup owns one tile on every device. It stores it to all devices, then
// raises its flag on all, then waits for the flags of all: one step over the
// fabric. To reduce, it then adds the tiles of all devices in the order of
// their ranks, so that all have the same bits.
//
// In two steps each device gets only its slice of the tile from all, adds, and
// stores the sums to all: with g devices 2 (g - 1) / g of the bytes instead of
// g - 1 times them, for the latency of a second step.
//
// Flags hold the number of the call, which every tile counts in `epochs`; calls
// alternate between two halves of the staging buffer. A device can be one call
// ahead of another, not two: it waits for the flag that the other raises after
// it has read the call before.
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

KernelOp kernels::buildExchange(OpBuilder &builder, const Label &label,
                                const ExchangeShape &shape, const RowTile &tile,
                                Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  bool isGather = shape.kind == Exchange::Gather;
  RowWriter rowsOf = {k, shape.columns, tile, {}};
  Value x = k.buffer("x", {kDynamic, shape.columns}, shape.element);
  // Its tiles know the size of the run, which comes last.
  Exchanger exchanger(k, shape, tilesOf(rowsOf, shape.element));
  exchanger.declare();
  int64_t width = isGather ? shape.columns * shape.ranks : shape.columns;
  Value out = k.buffer("out", {kDynamic, width}, shape.element);
  exchanger.declareRank();
  rowsOf.m = k.size("m", rows.minimum, rows.maximum);
  Scalar rowTiles = k.name("row_tiles", ceilDiv(rowsOf.m, tile.rows));
  Scalar columnTiles =
      k.constant(llvm::divideCeil(shape.columns, tile.columns));
  k.grid({{"row_tile", rowTiles}, {"column_tile", columnTiles}},
         [&](ArrayRef<Scalar> index) {
           Scalar number = k.name("number", index[0] * columnTiles + index[1]);
           Scalar row =
               k.name("row", index[0] * static_cast<double>(tile.rows));
           Scalar column =
               k.name("column", index[1] * static_cast<double>(tile.columns));
           Scalar slice = column;
           if (shape.kind == Exchange::ReduceInTwo) {
             auto own = static_cast<double>(tile.columns / shape.ranks);
             slice = k.name("slice", index[1] * own);
           }
           exchanger.begin(number);
           if (isGather) {
             exchanger.gather(rowsOf, x, out, {row, column, slice});
           } else {
             k.store(exchanger.sum(x, {}, {row, column, slice})[0],
                     rowsOf.tileAt(out, row, column));
           }
           exchanger.end();
         });
  return k.finish(label.note);
}
