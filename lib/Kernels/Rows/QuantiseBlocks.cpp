//===- QuantiseBlocks.cpp - Rows to few bits, with a scale for each block -===//
//
// A workgroup owns a piece of one row, as Blocks.h says, and asks for all of it
// at once. What is quantised is x, or silu(gate) * up.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/Rows/Blocks.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

/// The first or second numbers of elements, in f32.
static Value numbersOf(const BlockWriter &blocks, const QuantiseShape &shape,
                       ValueRange elements, int64_t index) {
  KernelBuilder &k = blocks.k;
  return k.map(
      index == 0 ? "first" : "second", k.f32(), elements, [&](Element e) {
        Scalar x = blocks.numberIn(e[0], index);
        return shape.isSwiglu
                   ? gated({shape.gating}, x, blocks.numberIn(e[1], index))
                   : x;
      });
}

KernelOp kernels::buildQuantiseBlocks(OpBuilder &builder, const Label &label,
                                      const QuantiseShape &shape,
                                      const RowTile &tile, Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  const BlockScales &scales = shape.scales;
  BlockWriter blocks{k, shape.columns, scales, shape.result,
                     tile.columns / scales.wordNumbers()};
  SmallVector<StringRef> names = {"x"};
  if (shape.isSwiglu) {
    names = {"gate", "up"};
  }
  SmallVector<Value> sources = llvm::map_to_vector(names, [&](StringRef name) {
    return k.buffer(name, blocks.matrixShape(), blocks.stored(shape.element));
  });
  Value tensorScale;
  if (shape.isTensorScaled) {
    tensorScale = k.buffer("tensor_scale", {1}, k.f32());
  }
  blocks.declareResults();
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  int64_t all = scales.words(shape.columns);
  Scalar pieces = k.constant(llvm::divideCeil(all, blocks.words));
  k.grid({{"row", m}, {"piece", pieces}}, [&](ArrayRef<Scalar> index) {
    Scalar row = index[0];
    Scalar word = k.name("word", index[1] * static_cast<double>(blocks.words));
    if (tensorScale) {
      blocks.loadTensorScale(tensorScale);
    }
    SmallVector<SmallVector<Value>, kScalesPerWord> loaded;
    for (int64_t block = 0; block < scales.scalesPerWord(); ++block) {
      loaded.push_back(llvm::map_to_vector(sources, [&](Value from) {
        return blocks.load("x", from, row, word, block);
      }));
    }
    SmallVector<Value> ofBlocks;
    for (auto [block, elements] : llvm::enumerate(loaded)) {
      SmallVector<Value> numbers;
      for (int64_t index = 0; index < blocks.together(); ++index) {
        numbers.push_back(numbersOf(blocks, shape, elements, index));
      }
      ofBlocks.push_back(blocks.quantise(numbers, row, word, block));
    }
    blocks.storeScales(ofBlocks, row, word);
  });
  return k.finish(label.note);
}
