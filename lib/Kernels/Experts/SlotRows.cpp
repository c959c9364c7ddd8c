//===- SlotRows.cpp - Rows of tokens become rows of slots, and back -------===//
//
// A workgroup owns a tile of the result. Expanding reads the row of a slot's
// token; combining adds the rows of a token's slots, in the order of its pairs,
// so that two runs agree in all bits.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Experts/Slots.h"
#include "lib/Kernels/Rows/Rows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

/// Of a buffer with a number for each pair.
static Value pairBuffer(KernelBuilder &k, const SlotRowsShape &shape,
                        StringRef name, Type element) {
  return k.buffer(name, {kDynamic, shape.slots.topK}, element);
}

/// Workgroups of all tiles of `rows` rows.
static void forEachTile(KernelBuilder &k, const RowWriter &rows,
                        function_ref<void(Scalar row, Scalar column)> body) {
  const RowTile &tile = rows.tile;
  Scalar rowTiles = k.name("row_tiles", ceilDiv(rows.m, tile.rows));
  Scalar columnTiles = k.constant(llvm::divideCeil(rows.columns, tile.columns));
  k.grid({{"row_tile", rowTiles}, {"column_tile", columnTiles}},
         [&](ArrayRef<Scalar> index) {
           body(k.name("row", index[0] * static_cast<double>(tile.rows)),
                k.name("column", index[1] * static_cast<double>(tile.columns)));
         });
}

/// The rows `ids` of x, from a column on; zeros from row `end` on.
static Value rowsOf(KernelBuilder &k, const RowWriter &rows, Value x, Value ids,
                    Scalar end, Scalar column) {
  Place place = at(x, {k.constant(0), column}).walks(0, 1).rows(ids);
  return k.load("values", {rows.tile.rows, rows.tile.columns},
                place.valid({end, k.constant(rows.columns)}));
}

/// Of each slot that one of its token's pairs is in, that one's weight.
static Value weightsOf(KernelBuilder &k, const SlotRowsShape &shape,
                       const RowWriter &rows, Value tokens, Scalar end,
                       Scalar slot, ArrayRef<Value> buffers) {
  const int64_t width = llvm::PowerOf2Ceil(shape.slots.topK);
  SmallVector<Value, 2> ofPairs;
  for (Value buffer : buffers) {
    ofPairs.push_back(k.load("of_pairs", {rows.tile.rows, width},
                             at(buffer, {k.constant(0), k.constant(0)})
                                 .walks(0, 1)
                                 .rows(tokens)
                                 .valid({end, k.constant(shape.slots.topK)})));
  }
  Value own = k.map("own", k.f32(), ofPairs, [&](Element e) {
    Scalar isPair = e.column < k.constant(shape.slots.topK);
    Scalar isOwn = e[1] == convert(slot + e.row, k.i32());
    return select(isPair & isOwn, e[0], k.number(k.f32(), 0));
  });
  return k.reduce("weight", Combiner::Add, own, 1);
}

KernelOp kernels::buildExpand(OpBuilder &builder, const Label &label,
                              const SlotRowsShape &shape, const RowTile &tile,
                              Range tokens) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Value x = k.buffer("x", {kDynamic, shape.columns}, shape.element);
  Value slotTokens = k.buffer("slot_tokens", {kDynamic}, k.i32());
  SmallVector<Value, 2> ofPairs;
  if (shape.isWeighed) {
    ofPairs = {pairBuffer(k, shape, "weights", k.f32()),
               pairBuffer(k, shape, "pair_slots", k.i32())};
  }
  Value out = k.buffer("out", {kDynamic, shape.columns}, shape.element);
  Scalar count = k.size("tokens", tokens.minimum, tokens.maximum);
  StepSlots sizes = StepSlots::of(k, shape.slots, count);
  RowWriter rows = {k, shape.columns, tile, sizes.slots};
  forEachTile(k, rows, [&](Scalar row, Scalar column) {
    Value ids = k.load("token", {tile.rows, 1},
                       at(slotTokens, {row}).walks(0, 0).valid({sizes.slots}));
    Value values = rowsOf(k, rows, x, ids, count, column);
    if (shape.isWeighed) {
      Value weights = weightsOf(k, shape, rows, ids, count, row, ofPairs);
      values =
          k.map("weighed", shape.element, {values, weights}, [&](Element e) {
            return convert(convert(e[0], k.f32()) * e[1], shape.element);
          });
    }
    k.store(values, rows.tileAt(out, row, column));
  });
  return k.finish(label.note);
}

KernelOp kernels::buildCombine(OpBuilder &builder, const Label &label,
                               const SlotRowsShape &shape, const RowTile &tile,
                               Range tokens) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Value x = k.buffer("x", {kDynamic, shape.columns}, shape.element);
  Value pairSlots = pairBuffer(k, shape, "pair_slots", k.i32());
  Value weights;
  if (shape.isWeighed) {
    weights = pairBuffer(k, shape, "weights", k.f32());
  }
  Value out = k.buffer("out", {kDynamic, shape.columns}, shape.element);
  Scalar count = k.size("tokens", tokens.minimum, tokens.maximum);
  StepSlots sizes = StepSlots::of(k, shape.slots, count);
  RowWriter rows = {k, shape.columns, tile, count};
  forEachTile(k, rows, [&](Scalar row, Scalar column) {
    Value sum = k.fill("zero", {tile.rows, tile.columns}, k.f32(), 0);
    for (int64_t j = 0; j < shape.slots.topK; ++j) {
      auto ofPair = [&](StringRef name, Value buffer) {
        return k.load(
            name, {tile.rows, 1},
            at(buffer, {row, k.constant(j)}).walks(0, 1).valid({count}));
      };
      Value ids = ofPair("slot", pairSlots);
      SmallVector<Value, 3> inputs = {
          sum, rowsOf(k, rows, x, ids, sizes.slots, column)};
      if (weights) {
        inputs.push_back(ofPair("weight", weights));
      }
      sum = k.map("sum", k.f32(), inputs, [&](Element e) {
        Scalar value = convert(e[1], k.f32());
        return e[0] + (weights ? value * e[2] : value);
      });
    }
    Value result = k.map("result", shape.element, sum, [&](Element e) {
      return convert(e[0], shape.element);
    });
    k.store(result, rows.tileAt(out, row, column));
  });
  return k.finish(label.note);
}
