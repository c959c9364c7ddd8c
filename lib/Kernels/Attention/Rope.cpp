//===- Rope.cpp - Rotate heads of rows ------------------------------------===//
//
// Where nothing else is done with them by one kernel (RopeAppend.cpp). A
// workgroup owns a few new tokens of one sequence and one head; in a decode
// step, with one token, the rows of a tile are its heads instead.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/HeadColumns.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct Rope {
  KernelBuilder &k;
  const HeadShape &shape;
  const RopeTile &tile;
  SequenceArguments sequences = {};
  RopeTable table = {};
  Value x = {}, out = {};

  int64_t rows() const {
    return tile.packsHeads ? tile.headsTogether : tile.tokens;
  }
  void declare();
  void own(const Sequence &sequence, Scalar first, Scalar head);
};
} // namespace

void Rope::declare() {
  SmallVector<int64_t> extents =
      headExtents(shape, {kDynamic, shape.heads}, shape.headDim);
  x = k.buffer("x", extents, shape.element);
  table = RopeTable::declare(k, shape);
  sequences = SequenceArguments::declareTokens(k);
  out = k.buffer("out", extents, shape.element);
}

void Rope::own(const Sequence &sequence, Scalar first, Scalar head) {
  Scalar row = k.name("row", sequence.start + first);
  table.load(k, shape, tile.tokens, sequence,
             k.name("position", sequence.past + first));
  auto place = [&](Value buffer, HeadColumn column) {
    Place from =
        fromColumn(k, shape, headsAt(k, shape, buffer, {row, head}), column);
    return tile.packsHeads ? from.walks(1, 2).valid({k.constant(shape.heads)})
                           : from.walks(0, 2).valid({sequence.end});
  };
  for (const HeadPiece &piece : turnedPieces(shape)) {
    SmallVector<Value, 2> sides;
    for (HeadColumn side : piece.sides) {
      sides.push_back(
          k.load(piece.part ? (sides.empty() ? "left" : "right") : "kept",
                 {rows(), piece.columns}, place(x, side)));
    }
    for (auto [i, column] : llvm::enumerate(piece.sides)) {
      k.store(turned(k, table, piece, sides, i, shape.element, {}),
              place(out, column));
    }
  }
}

KernelOp kernels::buildRope(OpBuilder &builder, const Label &label,
                            const HeadShape &shape, const RopeTile &tile,
                            StepRange sizes) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Rope kernel = {k, shape, tile};
  kernel.declare();
  auto [count, longest] = kernel.sequences.declareSizes(k, sizes);
  Scalar tiles = k.name("tiles", ceilDiv(longest, tile.tokens));
  int64_t together = tile.packsHeads ? tile.headsTogether : 1;
  Scalar groups = k.constant(llvm::divideCeil(shape.heads, together));
  k.grid({{"sequence", count}, {"tile", tiles}, {"group", groups}},
         [&](ArrayRef<Scalar> index) {
           Sequence sequence = kernel.sequences.load(k, index[0]);
           Scalar first = k.name("first", index[1] * double(tile.tokens));
           Scalar head = k.name("head", index[2] * double(together));
           k.when(first < sequence.count, kLiveTiles,
                  [&] { kernel.own(sequence, first, head); });
         });
  return k.finish(label.note);
}
