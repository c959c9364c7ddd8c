//===- RopeAppend.cpp - Rotate queries and keys, append to the cache ------===//
//
// A workgroup owns a few new tokens of one sequence and one KV head with its
// group of query heads; it walks the heads of the group. New tokens of a
// sequence have consecutive positions, so that rows of the table of cosines and
// sines, and rows of the cache behind its pages, are plain tiles. In a decode
// step, with one token, the rows of a tile are the heads of the group instead.
//
// Pairs are columns (i, i + headDim / 2): a' = a cos - b sin, b' = b cos + a
// sin. Heads of queries and keys may be normed first (HeadNorm.h). Keys and
// values of a cache of 8 bits are divided by their scale, rounded once and
// saturated. What is rotated may come in parts of sums (RopeSource.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/HeadNorm.h"
#include "lib/Kernels/Attention/NewRows.h"
#include "lib/Kernels/Attention/RopeSource.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct RopeAppend {
  KernelBuilder &k;
  const HeadShape &shape;
  const RopeTile &tile;
  RopeSource source;
  HeadNorm norm;
  NewRows rows;
  Value rope, q;
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
  Head loadHalves(int64_t rows, const Place &from);
  Head loadValues(const Place &from);
  HeadNorm::Tiles loadNorm(Value weights);
  Head normed(const Head &head, ArrayRef<Value> weights);
  void storeRotated(const Head &head, const HeadPlace &to, Type type,
                    Value factor = {});
  void storeValues(const Head &head, const HeadPlace &to, Value factor);
  void loadTable(const Sequence &sequence, Scalar position);
  HeadPlace rotatedAt(const Sequence &sequence, Scalar row, Scalar head) const;
  void ownTokens(const Sequence &sequence, Scalar first, Scalar kvHead);
};
} // namespace

void RopeAppend::declare() {
  source.declare(shape);
  norm.declare();
  rope = k.buffer("rope", {kDynamic, 2, half()}, k.f32());
  rows.sequences = SequenceArguments::declare(k);
  q = k.buffer("q", {kDynamic, shape.heads, shape.headDim},
               shape.queryElement());
  rows.cache = CacheArguments::declare(k, shape);
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

/// Of the columns of `loadHalves`; of null: none.
HeadNorm::Tiles RopeAppend::loadNorm(Value weights) {
  HeadNorm::Tiles tiles;
  int64_t column = 0;
  for (Value cosine : weights ? ArrayRef<Value>(cosines) : ArrayRef<Value>()) {
    int64_t columns = cast<TileType>(cosine.getType()).getColumns();
    tiles.push_back(norm.load(weights, column, columns));
    tiles.push_back(norm.load(weights, half() + column, columns));
    column += columns;
  }
  return tiles;
}

/// A head as it is where there are no weights.
RopeAppend::Head RopeAppend::normed(const Head &head, ArrayRef<Value> weights) {
  if (weights.empty()) {
    return head;
  }
  HeadNorm::Tiles columns;
  for (const Loaded &own : head) {
    columns.push_back(source.finished("left", own.left));
    columns.push_back(source.finished("right", own.right));
  }
  HeadNorm::Tiles results = norm.normed(columns, weights);
  Head made;
  for (auto [i, own] : llvm::enumerate(head)) {
    made.push_back({own.column, {results[2 * i]}, {results[2 * i + 1]}});
  }
  return made;
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
    k.store(rows.stored("v", source.finished("v", own.left), factor),
            to.from(k, own.column));
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

/// In a decode step all that is loaded is on its way before anything is stored:
/// one wait for memory in place of five.
void RopeAppend::ownTokens(const Sequence &sequence, Scalar first,
                           Scalar kvHead) {
  Scalar row = k.name("row", sequence.start + first);
  Scalar position = k.name("position", sequence.past + first);
  Scalar firstHead =
      k.name("first_head", kvHead * static_cast<double>(shape.group()));
  loadTable(sequence, position);
  HeadNorm::Tiles queryNorm = loadNorm(norm.queries);
  HeadNorm::Tiles keyNorm = loadNorm(norm.keys);
  Scalar cacheRow = rows.cacheRowOf(sequence, position);
  auto sourceOf = [&](Scalar head) {
    return source.at(row, head, /*areHeads=*/false, sequence.end);
  };
  Head queries;
  NewRows::Factors factors;
  if (tile.packsHeads) {
    queries = loadHalves(
        llvm::PowerOf2Ceil(shape.group()),
        source.at(row, firstHead, /*areHeads=*/true, groupEnd(firstHead)));
  } else {
    factors = rows.loadFactors();
    k.loop("member", k.constant(shape.group()), "", [&](Scalar member) {
      Scalar head = firstHead + member;
      Head own = normed(loadHalves(tile.tokens, sourceOf(head)), queryNorm);
      storeRotated(own, rotatedAt(sequence, row, head), shape.queryElement(),
                   factors.query);
    });
  }
  Scalar key = kvHead + static_cast<double>(shape.heads);
  Head newKeys = loadHalves(tile.tokens, sourceOf(key));
  Head newValues =
      loadValues(sourceOf(key + static_cast<double>(shape.kvHeads)));
  if (tile.packsHeads) {
    factors = rows.loadFactors();
    storeRotated(normed(queries, queryNorm),
                 rotatedAt(sequence, row, firstHead), shape.queryElement(),
                 factors.query);
  }
  storeRotated(normed(newKeys, keyNorm),
               rows.at(rows.cache.keys, sequence, position, kvHead, cacheRow),
               shape.cacheElement, factors.key);
  storeValues(newValues,
              rows.at(rows.cache.values, sequence, position, kvHead, cacheRow),
              factors.value);
}

KernelOp kernels::buildRopeAppend(OpBuilder &builder, const Label &label,
                                  const HeadShape &shape, const RopeTile &tile,
                                  StepRange sizes) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  RopeAppend kernel = {
      k,  shape, tile, {k, tile.sums}, {k, shape}, {k, shape, tile}, {},
      {}, {},    {}};
  kernel.declare();
  kernel.rows.overTokens(
      sizes, /*ownsAllHeads=*/false,
      [&](const Sequence &sequence, Scalar first, Scalar kvHead) {
        kernel.ownTokens(sequence, first, kvHead);
      });
  return k.finish(label.note);
}
