//===- LinearReduceBlocks.cpp - Parts of sums, the epilogue, few bits -----===//
//
// A workgroup owns a piece of one row, as Blocks.h says. It reads all parts of
// a block, and of as many blocks as registers hold, before it adds the first;
// what the epilogue makes of the sums stays in f32 until it is quantised.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearWriter.h"
#include "lib/Kernels/Rows/Blocks.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Sums that a lane asks for before it waits for the first, at most, where it
/// has more than a block to ask for.
static constexpr int64_t kNumbersHeld = 96;

using Blocks = SmallVector<Value>;

namespace {
struct ReduceWriter {
  KernelBuilder &k;
  const LinearShape &shape;
  int64_t splits;
  BlockWriter blocks;
  LinearWriter linear;
  Value partial = {}, tensorScale = {};

  /// Gate and up, or the only sum.
  int64_t sums() const { return shape.isSwiglu ? 2 : 1; }
  void declare();
  /// A block of gate or of up, in all parts.
  Blocks loadParts(int64_t sum, Scalar row, Scalar word, int64_t block) const;
  /// What the epilogue reads beside the sums: scales of rows, or pairs.
  Blocks loadEpilogue(Scalar row, Scalar word, int64_t block);
  /// A block of every word: parts of each sum, and for the epilogue.
  struct Loaded {
    SmallVector<Blocks, 2> parts;
    Blocks epilogue;
  };
  Loaded load(Scalar row, Scalar word, int64_t block);
  /// The first or second numbers of a block of d.
  Value numbersOf(const Loaded &loaded, int64_t index) const;
  /// Stores the block and returns its scales.
  Value quantise(const Loaded &loaded, Scalar row, Scalar word,
                 int64_t block) const;
  void write(Scalar row, Scalar word);
};
} // namespace

void ReduceWriter::declare() {
  auto of = [&](StringRef name, ArrayRef<int64_t> lead, Type number) {
    SmallVector<int64_t> extents(lead);
    llvm::append_range(extents, blocks.vectorShape());
    return k.buffer(name, extents, blocks.stored(number));
  };
  partial = of("partial", {kDynamic, splits, sums()}, k.f32());
  if (shape.isScaled) {
    linear.aScale = k.buffer("a_scale", {kDynamic}, k.f32());
  }
  if (shape.scalesWeightRows()) {
    linear.wScale = of("w_scale", {sums()}, k.f32());
  }
  if (shape.isTensorScaled) {
    linear.aScale = k.buffer("a_tensor_scale", {1}, k.f32());
    linear.wScale = of("w_tensor_scale", {sums()}, k.f32());
  }
  if (shape.biasType) {
    linear.bias = of("bias", {sums()}, shape.biasType);
  }
  if (shape.hasResidual) {
    linear.residual = of("residual", {kDynamic}, shape.result);
  }
  if (shape.quantise->isTensorScaled) {
    tensorScale = k.buffer("tensor_scale", {1}, k.f32());
  }
  blocks.declareResults();
}

Blocks ReduceWriter::loadParts(int64_t sum, Scalar row, Scalar word,
                               int64_t block) const {
  Blocks parts;
  for (int64_t part = 0; part < splits; ++part) {
    Place place = blocks.blocksAt(partial, k.constant(sum), word, block,
                                  {row, k.constant(part)});
    parts.push_back(k.load("part_sum", blocks.tile(), place));
  }
  return parts;
}

Blocks ReduceWriter::loadEpilogue(Scalar row, Scalar word, int64_t block) {
  Blocks inputs;
  if (linear.aScale) {
    inputs.push_back(linear.loadInputScale(row));
  }
  for (int64_t sum = 0; sum < sums(); ++sum) {
    if (linear.wScale) {
      inputs.push_back(
          blocks.load("w_scales", linear.wScale, k.constant(sum), word, block));
    }
    if (linear.bias) {
      inputs.push_back(
          blocks.load("biases", linear.bias, k.constant(sum), word, block));
    }
  }
  if (linear.residual) {
    inputs.push_back(
        blocks.load("residuals", linear.residual, row, word, block));
  }
  return inputs;
}

ReduceWriter::Loaded ReduceWriter::load(Scalar row, Scalar word,
                                        int64_t block) {
  Loaded loaded;
  for (int64_t sum = 0; sum < sums(); ++sum) {
    loaded.parts.push_back(loadParts(sum, row, word, block));
  }
  loaded.epilogue = loadEpilogue(row, word, block);
  return loaded;
}

Value ReduceWriter::numbersOf(const Loaded &loaded, int64_t index) const {
  auto numberIn = [&](Scalar element) {
    return isa<VectorType>(element.type()) ? blocks.numberIn(element, index)
                                           : element;
  };
  Blocks inputs;
  for (const Blocks &own : loaded.parts) {
    inputs.push_back(k.map("sum", k.f32(), own, [&](Element e) {
      Scalar value = numberIn(e[0]);
      for (int64_t part = 1; part < splits; ++part) {
        value = value + numberIn(e[part]);
      }
      return value;
    }));
  }
  llvm::append_range(inputs, loaded.epilogue);
  return k.map(index == 0 ? "first" : "second", k.f32(), inputs,
               [&](Element e) {
                 for (Scalar &input : e.inputs) {
                   input = numberIn(input);
                 }
                 return linear.finishElement(e);
               });
}

Value ReduceWriter::quantise(const Loaded &loaded, Scalar row, Scalar word,
                             int64_t block) const {
  Blocks numbers;
  for (int64_t index = 0; index < blocks.together(); ++index) {
    numbers.push_back(numbersOf(loaded, index));
  }
  return blocks.quantise(numbers, row, word, block);
}

void ReduceWriter::write(Scalar row, Scalar word) {
  if (tensorScale) {
    blocks.loadTensorScale(tensorScale);
  }
  // Of each tile a lane holds vectors of four.
  int64_t atOnce = std::max<int64_t>(1, kNumbersHeld / (4 * splits * sums()));
  int64_t count = blocks.scales.scalesPerWord();
  Blocks ofBlocks;
  for (int64_t first = 0; first < count; first += atOnce) {
    SmallVector<Loaded, kScalesPerWord> loaded;
    int64_t end = std::min(first + atOnce, count);
    for (int64_t block = first; block < end; ++block) {
      loaded.push_back(load(row, word, block));
    }
    for (int64_t block = first; block < end; ++block) {
      ofBlocks.push_back(quantise(loaded[block - first], row, word, block));
    }
  }
  blocks.storeScales(ofBlocks, row, word);
}

KernelOp kernels::buildLinearReduceBlocks(OpBuilder &builder,
                                          const Label &label,
                                          const LinearShape &shape,
                                          const LinearTile &tile, Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.reduceWaves);
  const QuantiseShape &quantise = *shape.quantise;
  LinearTile own;
  own.m = tile.reduceM;
  own.n = tile.reduceN;
  int64_t words = tile.reduceN / quantise.scales.wordNumbers();
  ReduceWriter reduce = {
      k,
      shape,
      tile.splits,
      {k, shape.columns, quantise.scales, quantise.result, words},
      {k, shape, own}};
  reduce.declare();
  Scalar m = reduce.linear.m = k.size("m", rows.minimum, rows.maximum);
  Scalar pieces =
      k.constant(llvm::divideCeil(quantise.scales.words(shape.columns), words));
  k.grid({{"row", m}, {"piece", pieces}}, [&](ArrayRef<Scalar> index) {
    reduce.write(index[0],
                 k.name("word", index[1] * static_cast<double>(words)));
  });
  return k.finish(label.note);
}
