//===- RopeAppend.cpp - Rotate queries and keys, append to the cache ------===//
//
// A workgroup owns a few new tokens of one sequence and one KV head with its
// group of query heads; it walks the heads of the group. New tokens of a
// sequence have consecutive positions, so that rows of the table of cosines and
// sines, and rows of the cache behind its pages, are plain tiles. In a decode
// step, with one token, the rows of a tile are the heads of the group instead.
//
// Heads of queries and keys may be normed first (HeadNorm.h). Keys and values
// of a cache of 8 bits are divided by their scale, rounded once and saturated.
// What is rotated may come in parts of sums (RopeSource.h).
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
  RopeTable table = {};
  Value q = {};

  /// Columns of a head that are on their way.
  struct Loaded {
    HeadPiece piece;
    SmallVector<RopeSource::Asked, 2> sides;
  };
  using Head = SmallVector<Loaded, 2>;

  Scalar groupEnd(Scalar head) const {
    return head + static_cast<double>(shape.group());
  }
  void declare();
  Head load(StringRef plain, ArrayRef<HeadPiece> pieces, int64_t rows,
            const Place &from);
  SmallVector<Value, 2> finished(StringRef plain, const Loaded &loaded);
  HeadNorm::Tiles loadNorm(Value weights, ArrayRef<HeadPiece> pieces);
  Head normed(const Head &head, ArrayRef<Value> weights);
  void storeRotated(const Head &head, const Place &to, Type type,
                    Value factor = {});
  void storeValues(const Head &head, const Place &to, Value factor);
  Place rotatedAt(const Sequence &sequence, Scalar row, Scalar head) const;
  void ownTokens(const Sequence &sequence, Scalar first, Scalar kvHead);
};
} // namespace

void RopeAppend::declare() {
  source.declare();
  norm.declare();
  table = RopeTable::declare(k, shape);
  rows.sequences = SequenceArguments::declare(k);
  q = k.buffer("q", headExtents(shape, {kDynamic, shape.heads}, shape.headDim),
               shape.queryElement());
  rows.cache = CacheArguments::declare(k, shape);
}

/// What sides of a piece are called; `plain`: those that do not turn.
static StringRef nameOf(StringRef plain, const HeadPiece &piece, size_t side) {
  return !piece.part ? plain : side == 0 ? "left" : "right";
}

RopeAppend::Head RopeAppend::load(StringRef plain, ArrayRef<HeadPiece> pieces,
                                  int64_t rows, const Place &from) {
  Head head;
  for (const HeadPiece &piece : pieces) {
    Loaded &loaded = head.emplace_back(Loaded{piece, {}});
    for (auto [i, side] : llvm::enumerate(piece.sides)) {
      loaded.sides.push_back(source.load(nameOf(plain, piece, i),
                                         {rows, piece.columns}, from, side));
    }
  }
  return head;
}

SmallVector<Value, 2> RopeAppend::finished(StringRef plain,
                                           const Loaded &loaded) {
  SmallVector<Value, 2> sides;
  for (auto [i, asked] : llvm::enumerate(loaded.sides)) {
    sides.push_back(source.finished(nameOf(plain, loaded.piece, i), asked));
  }
  return sides;
}

/// Of null: none.
HeadNorm::Tiles RopeAppend::loadNorm(Value weights,
                                     ArrayRef<HeadPiece> pieces) {
  HeadNorm::Tiles tiles;
  for (const HeadPiece &piece : weights ? pieces : ArrayRef<HeadPiece>()) {
    for (HeadColumn side : piece.sides) {
      tiles.push_back(norm.load(weights, side, piece.columns));
    }
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
    llvm::append_range(columns, finished("kept", own));
  }
  HeadNorm::Tiles results = norm.normed(columns, weights);
  Head made;
  size_t next = 0;
  for (const Loaded &own : head) {
    Loaded &loaded = made.emplace_back(Loaded{own.piece, {}});
    for (size_t side = 0; side < own.sides.size(); ++side) {
      loaded.sides.push_back({results[next++]});
    }
  }
  return made;
}

/// Stores a head rotated, times `factor`, 1 x 1, where there is one.
void RopeAppend::storeRotated(const Head &head, const Place &to, Type type,
                              Value factor) {
  for (const Loaded &own : head) {
    SmallVector<Value, 2> sides = finished("kept", own);
    for (auto [i, column] : llvm::enumerate(own.piece.sides)) {
      k.store(turned(k, table, own.piece, sides, i, type, factor),
              fromColumn(k, shape, to, column));
    }
  }
}

void RopeAppend::storeValues(const Head &head, const Place &to, Value factor) {
  for (const Loaded &own : head) {
    for (auto [value, side] :
         llvm::zip_equal(finished("v", own), own.piece.sides)) {
      k.store(rows.stored("v", value, factor), fromColumn(k, shape, to, side));
    }
  }
}

/// Of one head, or of the heads of a group from `head` on.
Place RopeAppend::rotatedAt(const Sequence &sequence, Scalar row,
                            Scalar head) const {
  Place place = headsAt(k, shape, q, {row, head});
  return tile.packsHeads ? place.walks(1, 2).valid({groupEnd(head)})
                         : place.walks(0, 2).valid({sequence.end});
}

/// In a decode step all that is loaded is on its way before anything is stored:
/// one wait for memory in place of five.
void RopeAppend::ownTokens(const Sequence &sequence, Scalar first,
                           Scalar kvHead) {
  Scalar row = k.name("row", sequence.start + first);
  Scalar position = k.name("position", sequence.past + first);
  Scalar firstHead =
      k.name("first_head", kvHead * static_cast<double>(shape.group()));
  table.load(k, shape, tile.tokens, sequence, position);
  const SmallVector<HeadPiece> pieces = turnedPieces(shape);
  HeadNorm::Tiles queryNorm = loadNorm(norm.queries, pieces);
  HeadNorm::Tiles keyNorm = loadNorm(norm.keys, pieces);
  Scalar cacheRow = rows.cacheRowOf(sequence, position);
  auto sourceOf = [&](Scalar head) {
    return source.at(row, head, /*areHeads=*/false, sequence.end);
  };
  Head queries;
  NewRows::Factors factors;
  if (tile.packsHeads) {
    queries =
        load("kept", pieces, llvm::PowerOf2Ceil(shape.group()),
             source.at(row, firstHead, /*areHeads=*/true, groupEnd(firstHead)));
  } else {
    factors = rows.loadFactors();
    k.loop("member", k.constant(shape.group()), "", [&](Scalar member) {
      Scalar head = firstHead + member;
      Head own =
          normed(load("kept", pieces, tile.tokens, sourceOf(head)), queryNorm);
      storeRotated(own, rotatedAt(sequence, row, head), shape.queryElement(),
                   factors.query);
    });
  }
  Scalar key = kvHead + static_cast<double>(shape.heads);
  Head newKeys = load("kept", pieces, tile.tokens, sourceOf(key));
  Head newValues = load("v", plainPieces(shape, shape.headDim), tile.tokens,
                        sourceOf(key + static_cast<double>(shape.kvHeads)));
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
  RopeAppend kernel = {k,          shape,           tile, {k, shape, tile.sums},
                       {k, shape}, {k, shape, tile}};
  kernel.declare();
  kernel.rows.overTokens(
      sizes, /*ownsAllHeads=*/false,
      [&](const Sequence &sequence, Scalar first, Scalar kvHead) {
        kernel.ownTokens(sequence, first, kvHead);
      });
  return k.finish(label.note);
}
