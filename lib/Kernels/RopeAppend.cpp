//===- RopeAppend.cpp - Rotate queries and keys, append to the cache ------===//
//
// A workgroup owns a few new tokens of one sequence and one KV head with its
// group of query heads; it walks the heads of the group. New tokens of a
// sequence have consecutive positions, so that rows of the table of cosines and
// sines, and rows of the cache behind its pages, are plain tiles. In a decode
// step, with one token, the rows of a tile are the heads of the group instead.
//
// Pairs are columns (i, i + headDim / 2): a' = a cos - b sin, b' = b cos + a
// sin. Keys and values of a cache of 8 bits are divided by their scale, rounded
// once and saturated.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Sequences.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
/// A head's rows in a buffer: where columns begin is added.
struct HeadPlace {
  Place place;
  Place from(KernelBuilder &k, int64_t column) const {
    Place shifted = place;
    shifted.offsets[2] = k.constant(column);
    return shifted;
  }
};

struct RopeAppend {
  KernelBuilder &k;
  const HeadShape &shape;
  const RopeTile &tile;
  Value qkv, rope, q, keys, values, keyScale, valueScale;
  SequenceArguments sequences;
  /// In the parts of half a head.
  SmallVector<Value, 2> cosines, sines;

  int64_t half() const { return shape.headDim / 2; }
  void declare();
  Value inverseOf(StringRef name, Value scale);
  void rotate(int64_t rows, const HeadPlace &from, const HeadPlace &to,
              Type type, Value factor = {});
  struct Turn {
    Value cosine, sine, factor;
  };
  void rotatePart(int64_t rows, const HeadPlace &from, const HeadPlace &to,
                  int64_t column, Type type, const Turn &by);
  void appendValues(const HeadPlace &from, const HeadPlace &to);
  void ownTokens(const Sequence &sequence, Scalar first, Scalar kvHead);
  void rotateQueries(const Sequence &sequence, Scalar row, Scalar kvHead);
};
} // namespace

void RopeAppend::declare() {
  qkv = k.buffer("qkv",
                 {kDynamic, shape.heads + 2 * shape.kvHeads, shape.headDim},
                 shape.element);
  rope = k.buffer("rope", {kDynamic, 2, half()}, k.f32());
  sequences = SequenceArguments::declare(k);
  q = k.buffer("q", {kDynamic, shape.heads, shape.headDim}, shape.element);
  SmallVector<int64_t> cache = {kDynamic, shape.kvHeads, shape.headDim};
  keys = k.buffer("k_cache", cache, shape.cacheElement);
  values = k.buffer("v_cache", cache, shape.cacheElement);
  if (shape.isScaled()) {
    keyScale = k.buffer("k_scale", {1}, k.f32());
    valueScale = k.buffer("v_scale", {1}, k.f32());
  }
}

/// 1 / scale as a 1 x 1 tile; null for a cache without scales.
Value RopeAppend::inverseOf(StringRef name, Value scale) {
  if (!scale) {
    return {};
  }
  Value loaded = k.load(name, {1, 1}, at(scale, {k.constant(0)}).walks(0, 0));
  return k.map(("inverse_" + name).str(), k.f32(), loaded,
               [&](Element e) { return k.number(k.f32(), 1) / e[0]; });
}

/// Moves one head from place to place and rotates it on the way, times
/// `factor`, 1 x 1, where there is one.
void RopeAppend::rotate(int64_t rows, const HeadPlace &from,
                        const HeadPlace &to, Type type, Value factor) {
  int64_t column = 0;
  for (auto [cosine, sine] : llvm::zip_equal(cosines, sines)) {
    rotatePart(rows, from, to, column, type, {cosine, sine, factor});
    column += cast<TileType>(cosine.getType()).getColumns();
  }
}

/// The same for columns from `column` on of each half, as many as `cosine` has.
void RopeAppend::rotatePart(int64_t rows, const HeadPlace &from,
                            const HeadPlace &to, int64_t column, Type type,
                            const Turn &by) {
  Shape part = {rows, cast<TileType>(by.cosine.getType()).getColumns()};
  Value a = k.load("left", part, from.from(k, column));
  Value b = k.load("right", part, from.from(k, half() + column));
  SmallVector<Value> inputs = {a, b, by.cosine, by.sine};
  if (by.factor) {
    inputs.push_back(by.factor);
  }
  auto turn = [&](StringRef name, bool isSecond) {
    return k.map(name, type, inputs, [&](Element e) {
      Scalar x = convert(e[isSecond ? 1 : 0], k.f32());
      Scalar y = convert(e[isSecond ? 0 : 1], k.f32());
      Scalar result = isSecond ? x * e[2] + y * e[3] : x * e[2] - y * e[3];
      return convertSaturated(by.factor ? result * e[4] : result, type);
    });
  };
  k.store(turn("turned_left", false), to.from(k, column));
  k.store(turn("turned_right", true), to.from(k, half() + column));
}

void RopeAppend::rotateQueries(const Sequence &sequence, Scalar row,
                               Scalar kvHead) {
  Scalar zero = k.constant(0);
  Scalar firstHead =
      k.name("first_head", kvHead * static_cast<double>(shape.group()));
  if (tile.packsHeads) {
    Scalar limit = firstHead + static_cast<double>(shape.group());
    auto place = [&](Value buffer) {
      return HeadPlace{
          at(buffer, {row, firstHead, zero}).walks(1, 2).valid({limit})};
    };
    rotate(llvm::PowerOf2Ceil(shape.group()), place(qkv), place(q),
           shape.element);
    return;
  }
  k.loop("member", k.constant(shape.group()), "", [&](Scalar member) {
    auto place = [&](Value buffer) {
      return HeadPlace{at(buffer, {row, firstHead + member, zero})
                           .walks(0, 2)
                           .valid({sequence.end})};
    };
    rotate(tile.tokens, place(qkv), place(q), shape.element);
  });
}

void RopeAppend::ownTokens(const Sequence &sequence, Scalar first,
                           Scalar kvHead) {
  Scalar zero = k.constant(0), one = k.constant(1);
  Scalar row = k.name("row", sequence.start + first);
  Scalar position = k.name("position", sequence.past + first);
  auto table = [&](Scalar which, int64_t column) {
    return at(rope, {position, which, k.constant(column)})
        .walks(0, 2)
        .valid({sequence.context});
  };
  int64_t column = 0;
  for (int64_t columns : partsOf(half())) {
    Shape part = {tile.tokens, columns};
    cosines.push_back(k.load("cosines", part, table(zero, column)));
    sines.push_back(k.load("sines", part, table(one, column)));
    column += columns;
  }
  rotateQueries(sequence, row, kvHead);

  auto newRows = [&](int64_t head) {
    Scalar column = kvHead + static_cast<double>(head);
    return at(qkv, {row, column, zero}).walks(0, 2).valid({sequence.end});
  };
  auto cacheRows = [&](Value cache) {
    return at(cache, {position, kvHead, zero})
        .walks(0, 2)
        .pages(sequences.pages, sequence.index, shape.pageSize)
        .valid({sequence.context});
  };
  rotate(tile.tokens, {newRows(shape.heads)}, {cacheRows(keys)},
         shape.cacheElement, inverseOf("k_scale", keyScale));
  appendValues({newRows(shape.heads + shape.kvHeads)}, {cacheRows(values)});
}

void RopeAppend::appendValues(const HeadPlace &from, const HeadPlace &to) {
  Value factor = inverseOf("v_scale", valueScale);
  int64_t column = 0;
  for (int64_t columns : partsOf(shape.headDim)) {
    Value v = k.load("v", {tile.tokens, columns}, from.from(k, column));
    if (factor) {
      v = k.map("v", shape.cacheElement, {v, factor}, [&](Element e) {
        return convertSaturated(convert(e[0], k.f32()) * e[1],
                                shape.cacheElement);
      });
    }
    k.store(v, to.from(k, column));
    column += columns;
  }
}

KernelOp kernels::buildRopeAppend(OpBuilder &builder, const Label &label,
                                  const HeadShape &shape, const RopeTile &tile,
                                  StepRange sizes) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  RopeAppend kernel = {k, shape, tile, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  kernel.declare();
  k.size("tokens", 1, sizes.sequences.maximum * sizes.longest.maximum);
  Scalar count =
      k.size("sequences", sizes.sequences.minimum, sizes.sequences.maximum);
  Scalar longest =
      k.size("longest", sizes.longest.minimum, sizes.longest.maximum);
  Scalar pages = k.size("pages_per_sequence", 1, INT32_MAX);
  k.bindExtent(kernel.sequences.pages, 1, pages);
  Scalar tiles = k.name("tiles", ceilDiv(longest, tile.tokens));
  k.grid({{"sequence", count},
          {"tile", tiles},
          {"kv_head", k.constant(shape.kvHeads)}},
         [&](ArrayRef<Scalar> index) {
           Sequence sequence = kernel.sequences.load(k, index[0]);
           Scalar first =
               k.name("first", index[1] * static_cast<double>(tile.tokens));
           k.when(first < sequence.count, kLiveTiles,
                  [&] { kernel.ownTokens(sequence, first, index[2]); });
         });
  return k.finish(label.note);
}
