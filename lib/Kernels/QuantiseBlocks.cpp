//===- QuantiseBlocks.cpp - Rows to few bits, with a scale for each block -===//
//
// A workgroup owns a piece of one row: a number of words of scales, each of
// four blocks of neighbours. The first blocks of all words make a tile, a block
// to each of its rows, then the second ones, and so on: so a row of the tile
// has one scale. By OCP MX the scale is the power of two below the largest
// magnitude, over that of the largest number; by NVFP4 the largest magnitude
// over the largest number and over a scale of the tensor, in E4M3. Numbers over
// it, and over that of the tensor, are rounded to nearest even and saturate.
// What is quantised is x, or silu(gate) * up.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/Formats.h"
#include "lib/Kernels/KernelBuilder.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Of an f32: bits of the fraction, and what its exponent is more than that of
/// the number. E8M0 has the same exponents.
static constexpr int64_t kFractionBits = 23, kBias = 127;

namespace {
/// Numbers lie in pairs on both sides.
struct BlockQuantiser {
  KernelBuilder &k;
  const QuantiseShape &shape;
  BlockScales scales;
  int64_t words; ///< of a tile
  SmallVector<Value> sources = {};
  Value out = {}, tensorScale = {};

  SmallVector<int64_t> pairsShape() const {
    return {kDynamic, scales.words(shape.columns), kScalesPerWord,
            scales.block / 2};
  }
  /// The blocks of that number of every word: a row for each.
  Place blocksAt(Value buffer, Scalar row, Scalar word, int64_t block) const;
  Value half(ValueRange pairs, int64_t index) const;
  Value powerOver(Value largest) const;
  Value fractionOver(Value largest) const;
  bool isPower() const { return isa<Float8E8M0FNUType>(scales.type); }
  Value quantise(Scalar row, Scalar word, int64_t block) const;
};
} // namespace

Place BlockQuantiser::blocksAt(Value buffer, Scalar row, Scalar word,
                               int64_t block) const {
  Place place =
      at(buffer, {row, word, k.constant(block), k.constant(0)}).walks(1, 3);
  int64_t all = scales.words(shape.columns);
  return all % words == 0 ? place : place.valid({k.constant(all)});
}

/// The first or second numbers of pairs, in f32.
Value BlockQuantiser::half(ValueRange pairs, int64_t index) const {
  return k.map(index == 0 ? "first" : "second", k.f32(), pairs, [&](Element e) {
    Scalar x = convert(numberOf(e[0], index), k.f32());
    return shape.isSwiglu ? swiglu(x, convert(numberOf(e[1], index), k.f32()))
                          : x;
  });
}

/// The exponent of a scale that is a power of two, as E8M0 has it.
Value BlockQuantiser::powerOver(Value largest) const {
  int64_t most = llvm::Log2_64(
      static_cast<uint64_t>(quantisedLimit(numberType(shape.result))));
  return k.map("block_scale", k.i32(), largest, [&](Element e) {
    Scalar exponent = shiftRight(bitcast(e[0], k.i32()), kFractionBits);
    return maximum(exponent - static_cast<double>(most), k.integer(k.i32(), 0));
  });
}

/// A scale with a fraction, as it is rounded.
Value BlockQuantiser::fractionOver(Value largest) const {
  double most = quantisedLimit(numberType(shape.result));
  SmallVector<Value> inputs = {largest};
  if (tensorScale) {
    inputs.push_back(tensorScale);
  }
  return k.map("block_scale", k.f32(), inputs, [&](Element e) {
    Scalar scale = e[0] * (1 / most);
    scale = tensorScale ? scale / e[1] : scale;
    return convert(convertSaturated(scale, scales.type), k.f32());
  });
}

/// Stores the numbers of one block of every word and returns their scales: as
/// bits of powers of two, or as numbers.
Value BlockQuantiser::quantise(Scalar row, Scalar word, int64_t block) const {
  SmallVector<Value> pairs;
  for (Value source : sources) {
    pairs.push_back(k.load("x", {words, scales.block / 2},
                           blocksAt(source, row, word, block)));
  }
  Value first = half(pairs, 0), second = half(pairs, 1);
  Value magnitude = k.map("magnitude", k.f32(), {first, second}, [](Element e) {
    return maximum(absolute(e[0]), absolute(e[1]));
  });
  Value largest = k.reduce("largest", Combiner::Max, magnitude, 1);
  Value scale = isPower() ? powerOver(largest) : fractionOver(largest);
  Type pair = packedType(shape.result);
  auto inverseOf = [&](Element e) {
    Scalar scale = e[2];
    if (isPower()) {
      Scalar exponent = k.integer(k.i32(), 2 * kBias) - scale;
      return bitcast(shiftLeft(exponent, kFractionBits), k.f32());
    }
    // A block whose scale rounds to zero is zero.
    Scalar zero = k.number(k.f32(), 0), one = k.number(k.f32(), 1);
    return select(scale > zero, one / (tensorScale ? scale * e[3] : scale),
                  zero);
  };
  SmallVector<Value> inputs = {first, second, scale};
  if (tensorScale) {
    inputs.push_back(tensorScale);
  }
  Value numbers = k.map("quantised", pair, inputs, [&](Element e) {
    Scalar inverse = inverseOf(e);
    return packed({e[0] * inverse, e[1] * inverse}, pair);
  });
  k.store(numbers, blocksAt(out, row, word, block));
  return scale;
}

KernelOp kernels::buildQuantiseBlocks(OpBuilder &builder, const Label &label,
                                      const QuantiseShape &shape,
                                      const RowTile &tile, Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  const BlockScales &scales = shape.scales;
  BlockQuantiser quantiser{k, shape, scales,
                           tile.columns / scales.wordNumbers()};
  Type pair = VectorType::get({2}, shape.element);
  SmallVector<int64_t> pairs = quantiser.pairsShape();
  SmallVector<StringRef> names = {"x"};
  if (shape.isSwiglu) {
    names = {"gate", "up"};
  }
  for (StringRef name : names) {
    quantiser.sources.push_back(k.buffer(name, pairs, pair));
  }
  Value tensorScale;
  if (shape.isTensorScaled) {
    tensorScale = k.buffer("tensor_scale", {1}, k.f32());
  }
  quantiser.out = k.buffer("out", pairs, packedType(shape.result));
  Value scale = k.buffer("scale", scaleShape(scales, kDynamic, shape.columns),
                         scales.wordType());
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  int64_t all = scales.words(shape.columns);
  Scalar pieces = k.constant(llvm::divideCeil(all, quantiser.words));
  k.grid({{"row", m}, {"piece", pieces}}, [&](ArrayRef<Scalar> index) {
    Scalar row = index[0];
    Scalar word =
        k.name("word", index[1] * static_cast<double>(quantiser.words));
    if (tensorScale) {
      quantiser.tensorScale = k.load(
          "tensor_scale", {1, 1}, at(tensorScale, {k.constant(0)}).walks(0, 0));
    }
    SmallVector<Value> ofBlocks;
    for (int64_t block = 0; block < kScalesPerWord; ++block) {
      ofBlocks.push_back(quantiser.quantise(row, word, block));
    }
    Value words = k.map("scales", scales.wordType(), ofBlocks, [&](Element e) {
      if (!quantiser.isPower()) {
        return packed({e[0], e[1], e[2], e[3]}, scales.wordType());
      }
      Scalar bits = e[0];
      for (int64_t block = 1; block < kScalesPerWord; ++block) {
        bits = bits + shiftLeft(e[block], 8 * block);
      }
      return bitsAsPacked(bits, scales.wordType());
    });
    Place place = scalesOfRow(scale, scales, row, word);
    k.store(words, all % quantiser.words == 0 ? place
                                              : place.valid({k.constant(all)}));
  });
  return k.finish(label.note);
}
