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
// once and saturated. What is rotated may come in parts of sums (RopeSource.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/RopeSource.h"
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
    shifted.offsets.back() = k.constant(column);
    return shifted;
  }
};

struct RopeAppend {
  KernelBuilder &k;
  const HeadShape &shape;
  const RopeTile &tile;
  RopeSource source;
  Value rope, q, keys, values, keyScale, valueScale;
  SequenceArguments sequences;
  /// In the parts of half a head.
  SmallVector<Value, 2> cosines, sines;

  /// Columns of a head that are on their way, or a half of them with its other.
  struct Loaded {
    int64_t column;
    RopeSource::Asked left, right;
  };
  using Head = SmallVector<Loaded, 2>;

  int64_t half() const { return shape.headDim / 2; }
  Scalar groupEnd(Scalar head) const {
    return head + static_cast<double>(shape.group());
  }
  void declare();
  Value inverseOf(StringRef name, Value scale);
  Head loadHalves(int64_t rows, const Place &from);
  Head loadValues(const Place &from);
  void storeRotated(const Head &head, const HeadPlace &to, Type type,
                    Value factor = {});
  void storeValues(const Head &head, const HeadPlace &to, Value factor);
  void loadTable(const Sequence &sequence, Scalar position);
  HeadPlace rotatedAt(const Sequence &sequence, Scalar row, Scalar head) const;
  HeadPlace cacheRows(Value cache, const Sequence &sequence, Scalar position,
                      Scalar kvHead, Scalar cacheRow);
  Scalar cacheRowOf(const Sequence &sequence, Scalar position);
  void ownTokens(const Sequence &sequence, Scalar first, Scalar kvHead);
};
} // namespace

void RopeAppend::declare() {
  source.declare(shape);
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

/// Both halves of the rows of a head, in the parts of the table.
RopeAppend::Head RopeAppend::loadHalves(int64_t rows, const Place &from) {
  Head head;
  int64_t column = 0;
  for (Value cosine : cosines) {
    Shape part = {rows, cast<TileType>(cosine.getType()).getColumns()};
    head.push_back({column, source.load("left", part, from, column),
                    source.load("right", part, from, half() + column)});
    column += part.columns;
  }
  return head;
}

RopeAppend::Head RopeAppend::loadValues(const Place &from) {
  Head head;
  int64_t column = 0;
  for (int64_t columns : partsOf(shape.headDim)) {
    Shape part = {tile.tokens, columns};
    head.push_back({column, source.load("v", part, from, column), {}});
    column += columns;
  }
  return head;
}

/// Stores a head rotated, times `factor`, 1 x 1, where there is one.
void RopeAppend::storeRotated(const Head &head, const HeadPlace &to, Type type,
                              Value factor) {
  for (auto [own, cosine, sine] : llvm::zip_equal(head, cosines, sines)) {
    SmallVector<Value> inputs = {source.finished("left", own.left),
                                 source.finished("right", own.right), cosine,
                                 sine};
    if (factor) {
      inputs.push_back(factor);
    }
    auto turn = [&](StringRef name, bool isSecond) {
      return k.map(name, type, inputs, [&](Element e) {
        Scalar x = convert(e[isSecond ? 1 : 0], k.f32());
        Scalar y = convert(e[isSecond ? 0 : 1], k.f32());
        Scalar result = isSecond ? x * e[2] + y * e[3] : x * e[2] - y * e[3];
        return convertSaturated(factor ? result * e[4] : result, type);
      });
    };
    k.store(turn("turned_left", false), to.from(k, own.column));
    k.store(turn("turned_right", true), to.from(k, half() + own.column));
  }
}

void RopeAppend::storeValues(const Head &head, const HeadPlace &to,
                             Value factor) {
  for (const Loaded &own : head) {
    Value v = source.finished("v", own.left);
    if (!factor && source.sums) {
      v = k.map("v", shape.cacheElement, v,
                [&](Element e) { return convert(e[0], shape.cacheElement); });
    }
    if (factor) {
      v = k.map("v", shape.cacheElement, {v, factor}, [&](Element e) {
        return convertSaturated(convert(e[0], k.f32()) * e[1],
                                shape.cacheElement);
      });
    }
    k.store(v, to.from(k, own.column));
  }
}

void RopeAppend::loadTable(const Sequence &sequence, Scalar position) {
  auto table = [&](Scalar which, int64_t column) {
    return at(rope, {position, which, k.constant(column)})
        .walks(0, 2)
        .valid({sequence.context});
  };
  int64_t column = 0;
  for (int64_t columns : partsOf(half())) {
    Shape part = {tile.tokens, columns};
    cosines.push_back(k.load("cosines", part, table(k.constant(0), column)));
    sines.push_back(k.load("sines", part, table(k.constant(1), column)));
    column += columns;
  }
}

/// Of one head, or of the heads of a group from `head` on.
HeadPlace RopeAppend::rotatedAt(const Sequence &sequence, Scalar row,
                                Scalar head) const {
  Place place = at(q, {row, head, k.constant(0)});
  return {tile.packsHeads ? place.walks(1, 2).valid({groupEnd(head)})
                          : place.walks(0, 2).valid({sequence.end})};
}

/// One token has one row of the cache, whose page is known before it is
/// written.
Scalar RopeAppend::cacheRowOf(const Sequence &sequence, Scalar position) {
  if (tile.tokens > 1) {
    return {};
  }
  auto size = static_cast<double>(shape.pageSize);
  Scalar page = k.loadIndex(
      "page", at(sequences.pages, {sequence.index, position / size}), "0");
  return k.name("cache_row", page * size + position % shape.pageSize);
}

HeadPlace RopeAppend::cacheRows(Value cache, const Sequence &sequence,
                                Scalar position, Scalar kvHead,
                                Scalar cacheRow) {
  Scalar zero = k.constant(0);
  if (cacheRow) {
    return {at(cache, {cacheRow, kvHead, zero}).walks(0, 2)};
  }
  return {at(cache, {position, kvHead, zero})
              .walks(0, 2)
              .pages(sequences.pages, sequence.index, shape.pageSize)
              .valid({sequence.context})};
}

/// In a decode step all that is loaded is on its way before anything is stored:
/// one wait for memory in place of five.
void RopeAppend::ownTokens(const Sequence &sequence, Scalar first,
                           Scalar kvHead) {
  Scalar row = k.name("row", sequence.start + first);
  Scalar position = k.name("position", sequence.past + first);
  Scalar firstHead =
      k.name("first_head", kvHead * static_cast<double>(shape.group()));
  loadTable(sequence, position);
  Scalar cacheRow = cacheRowOf(sequence, position);
  auto rowsOf = [&](Scalar head) {
    return source.at(row, head, /*areHeads=*/false, sequence.end);
  };
  Head queries;
  if (tile.packsHeads) {
    queries = loadHalves(
        llvm::PowerOf2Ceil(shape.group()),
        source.at(row, firstHead, /*areHeads=*/true, groupEnd(firstHead)));
  } else {
    k.loop("member", k.constant(shape.group()), "", [&](Scalar member) {
      Scalar head = firstHead + member;
      Head own = loadHalves(tile.tokens, rowsOf(head));
      storeRotated(own, rotatedAt(sequence, row, head), shape.element);
    });
  }
  Scalar key = kvHead + static_cast<double>(shape.heads);
  Head newKeys = loadHalves(tile.tokens, rowsOf(key));
  Head newValues = loadValues(rowsOf(key + static_cast<double>(shape.kvHeads)));
  Value keyFactor = inverseOf("k_scale", keyScale);
  Value valueFactor = inverseOf("v_scale", valueScale);
  if (tile.packsHeads) {
    storeRotated(queries, rotatedAt(sequence, row, firstHead), shape.element);
  }
  storeRotated(newKeys, cacheRows(keys, sequence, position, kvHead, cacheRow),
               shape.cacheElement, keyFactor);
  storeValues(newValues,
              cacheRows(values, sequence, position, kvHead, cacheRow),
              valueFactor);
}

KernelOp kernels::buildRopeAppend(OpBuilder &builder, const Label &label,
                                  const HeadShape &shape, const RopeTile &tile,
                                  StepRange sizes) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  RopeAppend kernel = {k,  shape, tile, {k, tile.sums}, {}, {}, {}, {}, {}, {},
                       {}, {},    {}};
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
