#include "lib/Kernels/Attention/HeadNorm.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

void HeadNorm::declare() {
  if (shape.normWeight) {
    SmallVector<int64_t> columns = headExtents(shape, {}, shape.headDim);
    queries = k.buffer("q_norm", columns, shape.normWeight);
    keys = k.buffer("k_norm", columns, shape.normWeight);
  }
}

Value HeadNorm::load(Value weights, HeadColumn column, int64_t columns) const {
  Place heads = headsAt(k, shape, weights, {});
  Place place = fromColumn(k, shape, heads, column);
  return k.load("norm_weights", {1, columns},
                shape.rotation.isInterleaved ? place.walks(0, 0) : place);
}

/// 1 / sqrt(mean(x * x) + epsilon) of each row. Neighbours of one width are
/// added before lanes exchange their sums.
Value HeadNorm::factorOf(ArrayRef<Value> columns) const {
  Tiles totals;
  while (!columns.empty()) {
    ArrayRef<Value> alike = columns.take_while([&](Value tile) {
      return tile.getType() == columns.front().getType();
    });
    Value squares = k.map("squares", k.f32(), alike, [&](Element e) {
      Scalar sum;
      for (Scalar input : e.inputs) {
        Scalar value = convert(input, k.f32());
        sum = sum ? multiplyAdd(value, value, sum) : value * value;
      }
      return sum;
    });
    totals.push_back(k.reduce("total", Combiner::Add, squares, 1));
    columns = columns.drop_front(alike.size());
  }
  return k.map("factor", k.f32(), totals, [&](Element e) {
    Scalar total = e[0];
    for (Scalar next : ArrayRef(e.inputs).drop_front()) {
      total = total + next;
    }
    return rsqrt(total * (1.0 / shape.headDim) + shape.normEpsilon);
  });
}

HeadNorm::Tiles HeadNorm::normed(ArrayRef<Value> columns,
                                 ArrayRef<Value> weights) const {
  Value factor = factorOf(columns);
  Tiles results;
  for (auto [tile, weight] : llvm::zip_equal(columns, weights)) {
    results.push_back(
        k.map("normed", k.f32(), {tile, factor, weight}, [&](Element e) {
          Scalar times = convert(e[2], k.f32());
          return convert(e[0], k.f32()) * e[1] *
                 (shape.isNormOnePlus ? times + 1.0 : times);
        }));
  }
  return results;
}
