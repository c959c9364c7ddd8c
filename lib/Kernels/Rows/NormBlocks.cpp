//===- NormBlocks.cpp - RMS norm to few bits, a scale for each block ------===//
//
// A workgroup owns a whole row, held in registers as tiles of blocks
// (Blocks.h), and walks nothing. Words beyond the width of the model are
// masked; they are zero and so do not change the sum of squares.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Exchange/Peers.h"
#include "lib/Kernels/Families.h"
#include "lib/Kernels/Rows/Blocks.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

using Blocks = SmallVector<Value, kScalesPerWord>;

namespace {
struct NormWriter {
  KernelBuilder &k;
  const NormShape &shape;
  const RowTile &tile;
  BlockWriter blocks;
  Exchanger exchanger = {k, shape.exchange,
                         tilesOf(blocks, tile, shape.element)};
  Value x = {}, weight = {}, residual = {}, tensorScale = {}, sum = {};

  void declare();
  /// The blocks of each number, of a row or of the weight.
  Blocks load(StringRef name, Value buffer, Scalar row) const;
  Blocks sums(const Blocks &values, Scalar row) const;
  /// What is normed.
  Blocks rowOf(Scalar row);
  Value factor(const Blocks &values) const;
  Value normed(Value values, Value factor, Value weight, int64_t index) const;
  void write(Scalar row);
};
} // namespace

void NormWriter::declare() {
  Type element = blocks.stored(shape.element);
  x = k.buffer("x", blocks.matrixShape(), element);
  if (shape.weightType) {
    weight = k.buffer("weight", blocks.vectorShape(),
                      blocks.stored(shape.weightType));
  }
  if (shape.hasResidual) {
    residual = k.buffer("residual", blocks.matrixShape(), element);
  }
  if (shape.isTensorScaled) {
    tensorScale = k.buffer("tensor_scale", {1}, k.f32());
  }
  if (shape.isExchanged()) {
    exchanger.declare();
  }
  blocks.declareResults();
  if (shape.hasSum) {
    sum = k.buffer("sum", blocks.matrixShape(), element);
  }
  if (shape.isExchanged()) {
    exchanger.declareRank();
  }
}

Blocks NormWriter::load(StringRef name, Value buffer, Scalar row) const {
  Blocks values;
  for (int64_t block = 0; block < shape.scales.scalesPerWord(); ++block) {
    values.push_back(blocks.load(name, buffer, row, k.constant(0), block));
  }
  return values;
}

/// Values plus residuals, rounded; they are what is normed.
Blocks NormWriter::sums(const Blocks &values, Scalar row) const {
  Type element = blocks.stored(shape.element);
  Blocks results;
  for (auto [value, other] :
       llvm::zip_equal(values, load("residuals", residual, row))) {
    results.push_back(k.map("sums", element, {value, other}, [&](Element e) {
      auto sum = [&](int64_t index) {
        return blocks.numberIn(e[0], index) + blocks.numberIn(e[1], index);
      };
      SmallVector<Scalar> all;
      for (int64_t index = 0; index < blocks.together(); ++index) {
        all.push_back(sum(index));
      }
      return all.size() == 1 ? convert(all[0], element) : packed(all, element);
    }));
  }
  return results;
}

/// 1 / sqrt(mean(s * s) + epsilon).
Value NormWriter::factor(const Blocks &values) const {
  Value squares = k.map("squares", k.f32(), values, [&](Element e) {
    Scalar total = k.number(k.f32(), 0);
    for (Scalar element : e.inputs) {
      for (int64_t index = 0; index < blocks.together(); ++index) {
        Scalar value = blocks.numberIn(element, index);
        total = total + value * value;
      }
    }
    return total;
  });
  Value ofWords = k.reduce("total", Combiner::Add, squares, 1);
  Value total = k.reduce("total", Combiner::Add, ofWords, 0);
  return k.map("factor", k.f32(), total, [&](Element e) {
    return rsqrt(e[0] * (1.0 / shape.columns) + shape.epsilon);
  });
}

/// The first or second numbers of elements.
Value NormWriter::normed(Value values, Value factor, Value weight,
                         int64_t index) const {
  SmallVector<Value> inputs = {values, factor};
  if (weight) {
    inputs.push_back(weight);
  }
  return k.map(index == 0 ? "first" : "second", k.f32(), inputs,
               [&](Element e) {
                 Scalar result = blocks.numberIn(e[0], index) * e[1];
                 if (!weight) {
                   return result;
                 }
                 Scalar times = blocks.numberIn(e[2], index);
                 return result * (shape.isOnePlus ? times + 1.0 : times);
               });
}

Blocks NormWriter::rowOf(Scalar row) {
  if (shape.isExchanged()) {
    Scalar first = k.constant(0);
    return Blocks(exchanger.sum(x, residual, {row, first, first}));
  }
  Blocks values = load("values", x, row);
  return shape.hasResidual ? sums(values, row) : values;
}

void NormWriter::write(Scalar row) {
  Scalar word = k.constant(0);
  if (shape.isExchanged()) {
    exchanger.begin(row);
  }
  Blocks values = rowOf(row);
  if (sum) {
    for (auto [block, value] : llvm::enumerate(values)) {
      k.store(value, blocks.blocksAt(sum, row, word, block));
    }
  }
  Blocks weights(values.size());
  if (weight) {
    weights = load("weights", weight, {});
  }
  if (tensorScale) {
    blocks.loadTensorScale(tensorScale);
  }
  Value root = factor(values);
  SmallVector<Value> ofBlocks;
  for (auto [block, value] : llvm::enumerate(values)) {
    SmallVector<Value> numbers;
    for (int64_t index = 0; index < blocks.together(); ++index) {
      numbers.push_back(normed(value, root, weights[block], index));
    }
    ofBlocks.push_back(blocks.quantise(numbers, row, word, block));
  }
  blocks.storeScales(ofBlocks, row, word);
  if (shape.isExchanged()) {
    exchanger.end();
  }
}

KernelOp kernels::buildNormBlocks(OpBuilder &builder, const Label &label,
                                  const NormShape &shape, const RowTile &tile,
                                  Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  int64_t words = tile.columns / shape.scales.wordNumbers();
  NormWriter norm{
      k, shape, tile, {k, shape.columns, shape.scales, shape.result, words}};
  norm.declare();
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  k.grid({{"row", m}}, [&](ArrayRef<Scalar> index) { norm.write(index[0]); });
  return k.finish(label.note);
}
