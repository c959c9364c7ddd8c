#include "lib/Kernels/Attention/HeadColumns.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static bool isPaired(const HeadShape &shape) {
  return shape.rotation.isInterleaved;
}

static int64_t pairsOf(const HeadShape &shape) {
  int64_t columns = shape.rotation.columns;
  return (columns > 0 ? columns : shape.headDim) / 2;
}

SmallVector<int64_t> kernels::headExtents(const HeadShape &shape,
                                          ArrayRef<int64_t> lead,
                                          int64_t columns) {
  SmallVector<int64_t> extents(lead);
  extents.push_back(isPaired(shape) ? columns / 2 : columns);
  if (isPaired(shape)) {
    extents.push_back(2);
  }
  return extents;
}

Place kernels::headsAt(KernelBuilder &k, const HeadShape &shape, Value buffer,
                       ArrayRef<Scalar> lead) {
  SmallVector<Scalar> offsets(lead);
  offsets.append(isPaired(shape) ? 2 : 1, k.constant(0));
  return at(buffer, offsets);
}

Place kernels::fromColumn(KernelBuilder &k, const HeadShape &shape, Place place,
                          HeadColumn column) {
  if (isPaired(shape)) {
    place.offsets.back() = k.constant(column.side);
  }
  place.offsets[place.offsets.size() - (isPaired(shape) ? 2 : 1)] =
      k.constant(column.column);
  return place;
}

/// Pieces of the columns from `first` to `end`, which do not turn.
static void addPlain(const HeadShape &shape, int64_t first, int64_t end,
                     SmallVectorImpl<HeadPiece> &pieces) {
  int64_t step = isPaired(shape) ? 2 : 1, column = first / step;
  for (int64_t columns : partsOf((end - first) / step)) {
    HeadPiece &piece = pieces.emplace_back();
    piece.columns = columns;
    for (int64_t side = 0; side < step; ++side) {
      piece.sides.push_back({column, side});
    }
    column += columns;
  }
}

SmallVector<HeadPiece> kernels::plainPieces(const HeadShape &shape,
                                            int64_t columns) {
  SmallVector<HeadPiece> pieces;
  addPlain(shape, 0, columns, pieces);
  return pieces;
}

SmallVector<HeadPiece> kernels::turnedPieces(const HeadShape &shape) {
  const Rotation &rotation = shape.rotation;
  SmallVector<HeadPiece> pieces;
  int64_t pairs = pairsOf(shape), pair = 0;
  for (int64_t columns : partsOf(pairs)) {
    HeadPiece piece;
    piece.part = pieces.size();
    piece.columns = columns;
    for (int64_t side : {0, 1}) {
      HeadColumn halves = {rotation.first + side * pairs + pair};
      HeadColumn neighbours = {rotation.first / 2 + pair, side};
      piece.sides.push_back(isPaired(shape) ? neighbours : halves);
    }
    pieces.push_back(piece);
    pair += columns;
  }
  addPlain(shape, 0, rotation.first, pieces);
  addPlain(shape, rotation.first + 2 * pairs, shape.headDim, pieces);
  return pieces;
}

RopeTable RopeTable::declare(KernelBuilder &k, const HeadShape &shape) {
  return {k.buffer("rope", {kDynamic, 2, pairsOf(shape)}, k.f32())};
}

void RopeTable::load(KernelBuilder &k, const HeadShape &shape, int64_t tokens,
                     const Sequence &sequence, Scalar position) {
  auto from = [&](int64_t which, int64_t column) {
    return at(buffer, {position, k.constant(which), k.constant(column)})
        .walks(0, 2)
        .valid({sequence.context});
  };
  int64_t column = 0;
  for (int64_t columns : partsOf(pairsOf(shape))) {
    Shape part = {tokens, columns};
    cosines.push_back(k.load("cosines", part, from(0, column)));
    sines.push_back(k.load("sines", part, from(1, column)));
    column += columns;
  }
}

/// One that does not turn.
static Value handedOn(KernelBuilder &k, Value side, Type type, Value factor) {
  if (!factor && cast<TileType>(side.getType()).getElementType() == type) {
    return side;
  }
  SmallVector<Value> inputs = {side};
  if (factor) {
    inputs.push_back(factor);
  }
  return k.map("kept", type, inputs, [&](Element e) {
    Scalar x = convert(e[0], k.f32());
    return convertSaturated(factor ? x * e[1] : x, type);
  });
}

Value kernels::turned(KernelBuilder &k, const RopeTable &table,
                      const HeadPiece &piece, ValueRange sides, size_t side,
                      Type type, Value factor) {
  if (!piece.part) {
    return handedOn(k, sides[side], type, factor);
  }
  SmallVector<Value> inputs = {sides[0], sides[1], table.cosines[*piece.part],
                               table.sines[*piece.part]};
  if (factor) {
    inputs.push_back(factor);
  }
  bool isSecond = side == 1;
  StringRef name = isSecond ? "turned_right" : "turned_left";
  return k.map(name, type, inputs, [&](Element e) {
    Scalar x = convert(e[isSecond ? 1 : 0], k.f32());
    Scalar y = convert(e[isSecond ? 0 : 1], k.f32());
    Scalar result = isSecond ? x * e[2] + y * e[3] : x * e[2] - y * e[3];
    return convertSaturated(factor ? result * e[4] : result, type);
  });
}
