//===- Append.cpp - Keys and values of new tokens into the cache ----------===//
//
// Of layers whose keys are not rotated. A workgroup owns a few new tokens of
// one sequence and one KV head; in a decode step, with one token, the rows of a
// tile are the heads instead.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/NewRows.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct Append {
  NewRows rows;
  Value newKeys, newValues;

  using Loaded = SmallVector<std::pair<int64_t, Value>, 2>;

  void declare();
  Loaded load(StringRef name, Value buffer, ArrayRef<int64_t> parts,
              const Sequence &sequence, Scalar row, Scalar kvHead);
  void store(StringRef name, const Loaded &loaded, const Place &to,
             Value factor);
  void ownTokens(const Sequence &sequence, Scalar first, Scalar kvHead);
};
} // namespace

void Append::declare() {
  KernelBuilder &k = rows.k;
  const HeadShape &shape = rows.shape;
  SmallVector<int64_t> heads = {kDynamic, shape.kvHeads, shape.headDim};
  newKeys = k.buffer("k", heads, shape.element);
  if (!shape.isLatent()) {
    heads.back() = shape.valueDim;
    newValues = k.buffer("v", heads, shape.element);
  }
  rows.sequences = SequenceArguments::declare(k);
  rows.cache = CacheArguments::declare(k, shape, !shape.isLatent());
}

/// Rows of the new tokens of a head, or without one all heads of a token.
Append::Loaded Append::load(StringRef name, Value buffer,
                            ArrayRef<int64_t> parts, const Sequence &sequence,
                            Scalar row, Scalar kvHead) {
  KernelBuilder &k = rows.k;
  int64_t count =
      kvHead ? rows.tile.tokens : llvm::PowerOf2Ceil(rows.shape.kvHeads);
  Loaded loaded;
  int64_t column = 0;
  for (int64_t part : parts) {
    Scalar head = kvHead ? kvHead : k.constant(0);
    Place from = at(buffer, {row, head, k.constant(column)});
    from = kvHead ? from.walks(0, 2).valid({sequence.end})
                  : from.walks(1, 2).valid({k.constant(rows.shape.kvHeads)});
    loaded.push_back({column, k.load(name, {count, part}, from)});
    column += part;
  }
  return loaded;
}

void Append::store(StringRef name, const Loaded &loaded, const Place &to,
                   Value factor) {
  for (auto [column, tile] : loaded) {
    rows.k.store(rows.stored(name, tile, factor),
                 fromColumn(rows.k, rows.shape, to, {column}));
  }
}

void Append::ownTokens(const Sequence &sequence, Scalar first, Scalar kvHead) {
  KernelBuilder &k = rows.k;
  Scalar row = k.name("row", sequence.start + first);
  Scalar position = k.name("position", sequence.past + first);
  Scalar cacheRow = rows.cacheRowOf(sequence, position);
  const HeadShape &shape = rows.shape;
  Loaded keys = load("k", newKeys, shape.keyParts(), sequence, row, kvHead);
  Loaded values;
  if (newValues) {
    values =
        load("v", newValues, partsOf(shape.valueDim), sequence, row, kvHead);
  }
  NewRows::Factors factors = rows.loadFactors();
  store("k", keys,
        rows.at(rows.cache.keys, sequence, position, kvHead, cacheRow),
        factors.key);
  if (newValues) {
    store("v", values,
          rows.at(rows.cache.values, sequence, position, kvHead, cacheRow),
          factors.value);
  }
}

KernelOp kernels::buildAppend(OpBuilder &builder, const Label &label,
                              const HeadShape &shape, const RopeTile &tile,
                              StepRange sizes) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  Append kernel = {{k, shape, tile}, {}, {}};
  kernel.declare();
  kernel.rows.overTokens(
      sizes, tile.packsHeads,
      [&](const Sequence &sequence, Scalar first, Scalar kvHead) {
        kernel.ownTokens(sequence, first, kvHead);
      });
  return k.finish(label.note);
}
